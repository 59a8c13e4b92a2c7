"""Rows of Parquet by Spark, through ``asc match``: values of other types than the schema's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Files
    from pyspark.sql import SparkSession


def test_parquet_values_of_other_types(files: Files, spark: SparkSession) -> None:
    """Texts are read as fields of CSV are, numbers are cast where they fit; what does not is no row."""
    (files / "flights.ddl").write_text("n INT, at TIMESTAMP, day DATE, price DECIMAL(5,2)", encoding="utf-8")
    queries = {"big": "n > 1", "late": "at >= TIMESTAMP '2013-01-31 10:00:00'", "day": "day = DATE '2013-01-31'"}
    (files / "queries.json").write_text(json.dumps({**queries, "dear": "price > 1.25"}), encoding="utf-8")
    rows = [
        (2, "31/01/2013 10:00", "2013-01-31", 1.5),
        (3_000_000_000, "31/01/2013 10:00", "2013-01-31", 1.5),
        (2, "x", "2013-01-31", 1.5),
        (2, "", 'a"b', 1.5),
        (1, None, None, 1e9),
        (None, "31/01/2013 09:00", "2013-02-01", None),
    ]
    frame = spark.createDataFrame(rows, "n BIGINT, At STRING, day STRING, price DOUBLE")
    frame.coalesce(1).write.parquet(str(files / "rows.parquet"))
    option = ("--option", "timestampFormat=dd/MM/yyyy HH:mm")
    found = files.match_json(files / "rows.parquet", *option)
    assert (found["rows"], found["undecodable"], found["accepted"]) == (6, 4, 1)
    assert found["queries"] == {"big": 1, "late": 1, "day": 1, "dear": 1}
    assert found["first_undecodable"].endswith(".parquet: column n holds no INT: 3000000000")
    result = files.match(files / "rows.parquet")
    assert result.exit_code == 1
    assert "error: none could be decoded, rows 6" in result.stderr
    frame = spark.createDataFrame([(True, 1)], "at BOOLEAN, n INT")
    frame.write.parquet(str(files / "odd.parquet"))
    result = files.match(files / "odd.parquet")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "column 'at': bool does not become TIMESTAMP" in result.stderr


@pytest.mark.parametrize(
    ("kind", "value", "wanted", "fits"),
    [
        ("DOUBLE", 1.0, "INT", True),
        ("DOUBLE", 1.5, "INT", False),
        ("DOUBLE", 0.1, "FLOAT", True),
        ("INT", 5, "DECIMAL(3,2)", True),
        ("INT", 50, "DECIMAL(3,2)", False),
        ("STRING", " 5", "INT", False),
        ("STRING", "NaN", "DOUBLE", True),
        ("INT", 5, "STRING", True),
    ],
)
def test_what_fits(files: Files, spark: SparkSession, kind: str, value: object, wanted: str, *, fits: bool) -> None:
    (files / "flights.ddl").write_text(f"v {wanted}", encoding="utf-8")
    (files / "queries.json").write_text('{"any": "v IS NOT NULL"}', encoding="utf-8")
    frame = spark.createDataFrame([(value,), (None,)], f"v {kind}")
    frame.coalesce(1).write.parquet(str(files / "rows.parquet"))
    found = files.match_json(files / "rows.parquet")
    assert (found["rows"], found["accepted"], found["undecodable"]) == (2, int(fits), int(not fits))
