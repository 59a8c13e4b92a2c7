"""Columns of type MAP that nobody reads: no doubt where Spark certainly decodes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asc.schema import Schema
from broker.files.decoding import Decoding
from broker.files.file_rows import REASON, read_rows
from broker.files.plain_rows import DoubtError, plain_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl(
    "n INT, m MAP<STRING, SMALLINT>, s MAP<STRING, STRING>, b MAP<STRING, BOOLEAN>, x MAP<STRING, DOUBLE>"
)
MAPS = [
    *('{"n": 1}', '{"n": 2, "m": null}', '{"n": 3, "m": {}}', '{"n": 4, "m": {"a": 1, "": null, "b": -32768}}'),
    *(
        '{"n": 5, "s": {"a": "", "é": "{\\"m\\": 5}"}}',
        '{"n": 6, "b": {"a": true}}',
        '{"n": 7, "x": {"a": 1, "b": -0.5e-3}}',
    ),
    *('{"n": 8, "extra": {"m": 5}}', '{"n": 9, "m": {"a.b": 0}, "s": {"n": "x"}}'),
    # From here on Spark has the word.
    *('{"m": 5}', '{"m": []}', '{"m": "x"}', '{"m": {"a": 32768}}', '{"m": {"a": 1.0}}', '{"m": {"a": "1"}}'),
    *('{"m": {"a": true}}', '{"m": {"a": 1, "a": 2}}', '{"s": {"a": 1}}', '{"s": {"a": {}}}', '{"b": {"a": "true"}}'),
    *('{"b": {"a": 1}}', '{"x": {"a": "NaN"}}', '{"x": {"a": 1e400}}', '{"x": {"a": []}}', '{"m": {"a": 1}, "m": 5}'),
]
PLAIN_MAPS = 9


def numbers(path: Path, content: str, schema: Schema = SCHEMA, needed: str = "n") -> list[int | None] | None:
    """The numbers of a file with that content; None where there is a doubt."""
    path.write_text(content, encoding="utf-8")
    try:
        tables = list(plain_tables(path, "ndjson", Decoding(schema), {needed}, lambda _: None))
    except DoubtError:
        return None
    return [number for table in tables for number in table.column("n").to_pylist()]


def test_what_is_read_is_what_spark_decodes(spark: SparkSession, tmp_path: Path) -> None:
    path, decoding = tmp_path / "rows.ndjson", Decoding(SCHEMA)
    assert [line for line in MAPS if numbers(path, f"{line}\n")] == MAPS[:PLAIN_MAPS]
    found = numbers(path, "\n".join(MAPS[:PLAIN_MAPS]))
    rows = read_rows(spark, [path], "ndjson", decoding)
    assert rows.where(f"{REASON} IS NOT NULL").count() == 0
    assert [row["n"] for row in rows.select("n").collect()] == found


def test_a_record_that_spark_cannot_decode_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    assert numbers(path, '{"m": 5}\n{"m": {"a": "x"}}\n{"m": [1]}\n') is None
    assert read_rows(spark, [path], "ndjson", Decoding(SCHEMA)).where(f"{REASON} IS NULL").count() == 0


@pytest.mark.parametrize(
    ("ddl", "needed"),
    [("n INT, m MAP<STRING, INT>", "m"), ("n INT, m MAP<INT, INT>", "n"), ("n INT, m MAP<STRING, DATE>", "n")],
)
def test_maps_that_are_needed_or_of_other_types_are_left_to_spark(tmp_path: Path, ddl: str, needed: str) -> None:
    assert numbers(tmp_path / "rows.ndjson", '{"n": 1}', Schema.from_ddl(ddl), needed) is None
