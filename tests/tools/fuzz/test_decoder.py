"""Any record is decoded or has a reason: some seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import find
from pyspark.sql import functions as sf

from broker.formats.dead_letter_reason import DeadLetterReason
from broker.formats.text_format import TextFormat
from tools.fuzz.decoder import STREAMS, DecoderTarget, fault_of
from tools.fuzz.journal import Journal
from tools.fuzz.target import Violation
from tools.fuzz.trials import generate_round

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
REASONS = (DeadLetterReason("value is null"), DeadLetterReason("value is empty"))


@pytest.fixture(scope="module")
def target(spark: SparkSession) -> DecoderTarget:
    # What it begins with is a batch of each stream.
    return DecoderTarget(spark).__enter__()


@pytest.mark.nightly
def test_made_batches_are_decoded(target: DecoderTarget) -> None:
    generate_round(target, target.check, inputs=6, seed=1)


@pytest.mark.parametrize(
    ("value", "error", "number", "fault"),
    [
        (None, "value is null", 1, None),
        (b" ", "value is empty", 2, None),
        (b"{}", None, 0, None),
        (b" ", "value is empty", 1, "under the number 1"),
        (b"{}", None, 2, "under the number 2"),
        (b"{}", "no idea", 1, "none of the decoder's"),
        (None, None, 0, "is no text"),
        (b"\xff", None, 0, "is no text"),
    ],
    ids=[
        "null",
        "empty",
        "decoded",
        "other number",
        "number of nothing",
        "unknown reason",
        "null decoded",
        "bytes decoded",
    ],
)
def test_what_is_wrong_with_a_record(value: bytes | None, error: str | None, number: int, fault: str | None) -> None:
    found = fault_of(value, error, number, REASONS)
    assert found is None if fault is None else fault in (found or "")


@pytest.mark.nightly
def test_the_record_that_fails_a_batch_is_found(target: DecoderTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    def throwing(self: TextFormat, text: object, ddl: str, options: object) -> object:
        return sf.when(text == "bad", sf.raise_error(sf.lit("no way"))).otherwise(sf.from_json(text, ddl, options))  # type: ignore

    monkeypatch.setattr("broker.formats.json.Json.parsed_text", throwing)
    batch = json.dumps({"stream": "json", "values": ["{}", "[]", "bad", None, "1", "x"]}).encode()
    with pytest.raises(Violation, match="no way") as caught:
        target.check(batch)
    assert json.loads(caught.value.given or b"") == {"stream": "json", "values": ["bad"]}
    assert set(STREAMS) > {"json"}


@pytest.mark.nightly
def test_a_batch_of_the_largest_values_has_room_in_a_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    largest = [b"\0" * 1_200_000] * 400
    monkeypatch.setattr("tools.fuzz.decoder.batch_of", lambda *_: largest)
    Journal(tmp_path / "journal").begin(given := find(DecoderTarget().inputs(), bool))
    assert json.loads(given)["values"]
