"""The columns of a file that queries read, without Spark."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.dbscan.expressions import DbscanExpressions
from asc.predicate import normalise
from asc.schema import Schema
from broker.files.decoding import Decoding
from broker.files.plain_rows import DoubtError
from cli.operators.dbscan.file_columns import NO_TIME_US, Asked, plain_columns
from cli.operators.dbscan.file_queries import FileQuery

SCHEMA = Schema.from_ddl("x DOUBLE, d DECIMAL(20, 3), n BIGINT, s STRING, ts TIMESTAMP, tags ARRAY<STRING>")
OPERATOR: dict[str, Any] = {"eps": 0.5, "min_samples": 5, "window_points": 100, "slide_points": 50}


def asked(where: str = "true", attributes: tuple[str, ...] = ("x",), **fields: Any) -> FileQuery:
    definition = DbscanDefinition.parse({**OPERATOR, "attributes": attributes, **fields}, needs_time=False)
    return FileQuery("q", normalise(where, SCHEMA), definition, DbscanExpressions.of(definition, SCHEMA, "UTC"))


def test_columns_of_csv_are_values_times_keys_and_accepted_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,d,n,s,ts\n1.5,0.125,7,a,2018-08-01T00:00:01Z\n,,,,\n-2,12345678901234567.891,-1,b,\n", "utf-8")
    queries = [asked("n > 0 OR s = 'b'", ("x", "d", "n"), time="ts", key="s"), asked(key="n")]
    found = plain_columns(path, "csv", Decoding(SCHEMA), Asked.of(queries))
    assert found.count == 3
    assert np.array_equal(found.values["x"], [1.5, np.nan, -2.0], equal_nan=True)
    # Rounded once, as Java rounds a decimal.
    assert np.array_equal(found.values["d"], [0.125, np.nan, float(Decimal("12345678901234567.891"))], equal_nan=True)
    assert np.array_equal(found.values["n"], [7, np.nan, -1], equal_nan=True)
    assert found.times["ts"].tolist() == [1_533_081_601_000_000, NO_TIME_US, NO_TIME_US]
    assert found.keys == {"s": ["a", None, "b"], "n": ["7", None, "-1"]}
    assert [found.accepted[query.where.text].tolist() for query in queries] == [[True, False, True], [True] * 3]
    assert found.is_decoded.all()


def test_a_file_of_parquet_is_read_by_the_batch(tmp_path: Path) -> None:
    count = 200_000
    table = pa.table({"x": np.arange(count) * 0.5, "n": np.arange(count)})
    pq.write_table(table, tmp_path / "rows.parquet")
    query = asked("n >= 150000")
    found = plain_columns(tmp_path / "rows.parquet", "parquet", Decoding(SCHEMA), Asked.of([query]))
    assert np.array_equal(found.values["x"], np.arange(count) * 0.5)
    assert np.array_equal(found.accepted[query.where.text], np.arange(count) >= 150_000)


def test_a_file_without_a_row_has_empty_columns(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,n\n", "utf-8")
    found = plain_columns(
        tmp_path / "rows.csv", "csv", Decoding(SCHEMA), Asked.of([asked("n > 0", time="ts", key="s")])
    )
    assert found.count == len(found.values["x"]) == len(found.times["ts"]) == len(found.keys["s"]) == 0
    assert len(found.accepted["n > 0"]) == 0


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (asked("n > 0", ("x", "n"), time="ts", key="s"), None),
        (asked(key="n"), None),
        (asked("upper(s) = 'A'"), "WHERE has Spark compute upper(s)"),
        (asked("true", ("x * 2",)), "a query has Spark compute x * 2"),
        (asked(time="ts + INTERVAL 1 HOUR"), "a query has Spark compute ts + INTERVAL 1 HOUR"),
        (asked(key="x"), "the key has Spark write x as a text"),
    ],
)
def test_spark_is_needed_for_what_is_no_plain_column(query: FileQuery, why: str | None) -> None:
    assert Asked.of([query]).why_spark() == why


def test_what_spark_alone_reads_for_certain_is_a_doubt(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,n\n1e999999,1\n", "utf-8")
    with pytest.raises(DoubtError):
        plain_columns(tmp_path / "rows.csv", "csv", Decoding(SCHEMA), Asked.of([asked()]))


def test_a_key_that_is_not_utf_8_is_a_doubt(tmp_path: Path) -> None:
    texts = pa.array([b"k\xff"]).view(pa.string())
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [1.0], "s": texts}), path)
    assert plain_columns(path, "parquet", Decoding(SCHEMA), Asked.of([asked()])).count == 1
    with pytest.raises(DoubtError, match="the key s has a text that is not UTF-8"):
        plain_columns(path, "parquet", Decoding(SCHEMA), Asked.of([asked(key="s")]))
