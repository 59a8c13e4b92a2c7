"""Schemas for the decoders are the same for a seed; of those that are not changed most are read."""

from __future__ import annotations

import random

from asc.errors import SchemaError
from broker.formats.avro_schema import AvroSchema
from tools.fuzz.schema_texts import written_of


def test_schemas_are_repeatable_and_many_are_read() -> None:
    read = 0
    for seed in range(40):
        made = written_of(random.Random(seed), "AVRO", 3)
        assert made == written_of(random.Random(seed), "AVRO", 3)
        assert len(made.records) == 3
        try:
            AvroSchema.of_text(made.text)
            read += 1
        except SchemaError:
            pass
    assert 10 < read < 40


def test_each_kind_has_records() -> None:
    for kind in ("AVRO", "PROTOBUF", "JSON"):
        assert [written_of(random.Random(seed), kind, 2).kind for seed in range(5)] == [kind] * 5
