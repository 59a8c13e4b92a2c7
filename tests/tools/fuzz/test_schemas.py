"""Any schema is read or refused, and its records decoded or given a reason: one batch of what ``make fuzz`` makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from broker.formats.avro_schema import AvroSchema
from tools.fuzz.schemas import SchemasTarget
from tools.fuzz.target import Violation
from tools.fuzz.trials import generate_round

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
SCHEMA = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'


def given(*texts: str) -> bytes:
    schemas = [{"text": text, "kind": "AVRO", "references": [], "records": ["\2", ""]} for text in texts]
    return json.dumps({"format": "avro", "schemas": schemas}).encode()


def test_made_batches_are_decoded(spark: SparkSession) -> None:
    with SchemasTarget(spark) as target:
        generate_round(target, target.check, inputs=6, seed=1)


def test_the_schema_that_fails_a_batch_is_found(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    target = SchemasTarget(spark).__enter__()
    target.check(given(SCHEMA, "{"))
    own = AvroSchema.of_text

    def of_text(text: str, references: object = ()) -> AvroSchema:
        return own({"bad": []}["none"] if text == "bad" else text)

    monkeypatch.setattr(AvroSchema, "of_text", staticmethod(of_text))
    with pytest.raises(Violation, match="avro: KeyError: 'none'") as caught:
        target.check(given(SCHEMA, "bad", "{"))
    assert [each["text"] for each in json.loads(caught.value.given or b"")["schemas"]] == ["bad"]


def test_another_number_than_fastavro_s_is_seen(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    target = SchemasTarget(spark).__enter__()
    monkeypatch.setattr("fastavro.schemaless_reader", lambda *_: {"a": 7})
    with pytest.raises(Violation, match="the column a is 1, and 7 to fastavro"):
        target.check(given(SCHEMA))
