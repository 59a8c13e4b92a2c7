"""Rows of Parquet by Spark, through ``asc match``: values of other types than the schema's."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.cli.conftest import Files


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


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (pa.timestamp("ns"), r"Spark reads no TIMESTAMP\(NANOS\): .* microseconds"),
        (pa.time32("ms"), "Spark reads no TIME: .* texts or numbers"),
        (pa.time64("us"), "Spark reads no TIME: .* texts or numbers"),
        (pa.float16(), "Spark reads no FLOAT16: .* FLOAT"),
        (pa.list_(pa.timestamp("ns")), r"Spark reads no TIMESTAMP\(NANOS\): .* microseconds"),
    ],
    ids=str,
)
def test_a_column_that_spark_does_not_read_is_left_out_or_named(files: Files, kind: pa.DataType, said: str) -> None:
    columns = {
        "id": pa.array([1, 2], pa.int32()),
        "s": ["a", "bb"],
        "day": pa.array([1, 2], pa.date32()),
        "odd": pa.nulls(2, kind),
    }
    pq.write_table(pa.table(columns), files / "odd.parquet", version="2.6")
    (files / "queries.json").write_text('{"long": "length(s) > 1 AND day > DATE \'1970-01-02\'"}', encoding="utf-8")
    (files / "flights.ddl").write_text("id INT, S STRING, day DATE, more INT", encoding="utf-8")
    found = files.match_json(files / "odd.parquet")
    assert (found["rows"], found["queries"]) == (2, {"long": 1})
    (files / "flights.ddl").write_text("id INT, s STRING, ODD STRING, day DATE", encoding="utf-8")
    result = files.match(files / "odd.parquet")
    assert (result.exit_code, result.stderr.count("error: "), "Exception" in result.stderr) == (1, 1, False)
    if pa.types.is_list(kind):
        assert "column 'ODD'" in result.stderr
    else:
        assert re.search(f"odd.parquet, column 'odd': {said}", result.stderr), result.stderr
