"""The first row that cannot be decoded, in words."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asc.schema import Schema
from cli.decoding import Decoding
from cli.undecodable import in_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DECODING = Decoding(Schema.from_ddl("n INT, at TIMESTAMP"), {"timestampFormat": "dd/MM/yyyy"})
REASON = "value is not a {} record of the stream's schema"


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (b'{"n": 1, "at": "x"}', "at"),
        (b'{"n": "1", "at": "x"}', "n"),
        (b"[1]", None),
        (b'{"n": 1', None),
    ],
)
def test_the_column_of_a_json_record(spark: SparkSession, row: bytes, column: str | None) -> None:
    place = {"__asc_file": "file:///tmp/a%20b.ndjson", "__asc_reason": REASON.format("JSON")}
    text = json.dumps({**place, "__asc_row": base64.b64encode(row).decode()})
    said = "" if column is None else f" (column {column})"
    expected = f"/tmp/a b.ndjson: {REASON.format('JSON')}{said}: {row.decode()}"
    assert in_words(spark, text, "ndjson", DECODING) == expected


@pytest.mark.parametrize(("row", "column"), [(b"1,2013-01-01,z", "at"), (b"1", None), (b"x,31/01/2013,z", "n")])
def test_the_column_of_a_csv_record(spark: SparkSession, tmp_path: Path, row: bytes, column: str | None) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("n,at,extra\n", encoding="utf-8")
    place = {"__asc_file": path.as_uri(), "__asc_reason": REASON.format("CSV")}
    text = json.dumps({**place, "__asc_row": base64.b64encode(row).decode()})
    said = "" if column is None else f" (column {column})"
    assert in_words(spark, text, "csv", DECODING) == f"{path}: {REASON.format('CSV')}{said}: {row.decode()}"
