"""Tables of pyarrow, Polars, pandas and DuckDB: the same rows give the same matches, whoever hands them over."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from asc import Matcher, PlanError, SchemaError
from asc.interchange import Incoming, is_table, predicates_schema

ROWS = 5_000
GENERATOR = np.random.default_rng(7)
TABLE = pa.table(
    {
        "n": pa.array(GENERATOR.integers(-50, 50, ROWS), pa.int32(), mask=GENERATOR.random(ROWS) < 0.1),
        "small": pa.array(GENERATOR.integers(0, 255, ROWS), pa.uint8()),
        "x": pa.array(GENERATOR.random(ROWS), pa.float64(), mask=GENERATOR.random(ROWS) < 0.1),
        "city": pa.array(GENERATOR.choice(["Oslo", "Bergen", "Bod\u00f8"], ROWS), mask=GENERATOR.random(ROWS) < 0.1),
        "departed": pa.array(GENERATOR.integers(0, 10**9, ROWS), pa.timestamp("us")),
    }
)
QUERIES = {
    "all": "n IS NULL OR n IS NOT NULL",
    "city": "city IN ('Oslo', 'Bod\u00f8') AND small >= 200",
    "none": "n > 1000",
    "null": "n IS NULL OR x IS NULL OR city IS NULL",
    "range": "n BETWEEN -10 AND 10 AND x < 0.5 AND NOT city = 'Bergen'",
    "time": "departed >= TIMESTAMP_NTZ '1970-01-01 00:10:00'",
}


def as_duckdb(table: pa.Table) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(table)


class ArrayOnly:
    """A library's table that is one array."""

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return TABLE.combine_chunks().to_batches()[0].__arrow_c_array__(requested_schema)


def with_own_types() -> pd.DataFrame:
    frame: pd.DataFrame = TABLE.to_pandas(types_mapper=pd.ArrowDtype)
    return frame.assign(city=frame["city"].astype("category"))


SOURCES: dict[str, Callable[[], object]] = {
    "arrow": lambda: TABLE,
    "chunks": lambda: pa.concat_tables([TABLE.slice(0, 7), TABLE.slice(7, 0), TABLE.slice(7)]),
    "batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "reader": lambda: TABLE.to_reader(max_chunksize=97),
    "dictionary": lambda: TABLE.set_column(3, "city", TABLE["city"].dictionary_encode()),
    "large": lambda: TABLE.set_column(3, "city", TABLE["city"].cast(pa.large_string())),
    "runs": lambda: TABLE.set_column(0, "n", pc.run_end_encode(TABLE["n"])),
    "array": ArrayOnly,
    "polars": lambda: pl.DataFrame(TABLE),
    "categories": lambda: pl.DataFrame(TABLE).with_columns(pl.col("city").cast(pl.Categorical)),
    "pandas": TABLE.to_pandas,
    "pandas-arrow": with_own_types,
    "duckdb": lambda: as_duckdb(TABLE),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_rows_match_whoever_hands_them_over(source: str) -> None:
    numbered = duckdb.connect().from_arrow(TABLE.append_column("row", pa.array(range(ROWS))))
    table = SOURCES[source]()
    matcher = Matcher(table, QUERIES)
    # A reader's schema was looked at, none of its rows read.
    by_query = matcher.match(table, by="query").to_pydict()
    for query_id, rows in zip(by_query["query"], by_query["rows"], strict=True):
        where = QUERIES[query_id].replace("TIMESTAMP_NTZ", "TIMESTAMP")
        assert rows == [row for (row,) in numbered.filter(where).project("row").order("row").fetchall()], query_id
    assert by_query["query"] == sorted(QUERIES)
    assert sum(map(len, by_query["rows"])) > ROWS


@pytest.mark.parametrize("source", SOURCES)
def test_rows_that_are_accepted_come_back_whole(source: str) -> None:
    table = SOURCES[source]()
    wanted = TABLE.filter(pc.fill_null(pc.less(TABLE["n"], -45), False))
    kept = Matcher(table, {"low": "n < -45"}).filter(table)
    assert 0 < kept.num_rows == wanted.num_rows
    for name in ("small", "x", "city", "departed"):
        assert kept[name].to_pylist() == wanted[name].to_pylist()
    assert set(map(tuple, kept["queries"].to_pylist())) == {("low",)}


def test_no_rows_and_no_columns() -> None:
    empty = TABLE.slice(0, 0)
    for table in (empty, pl.DataFrame(empty), empty.to_pandas(), as_duckdb(empty), empty.to_reader()):
        matcher = Matcher(TABLE, QUERIES)
        assert matcher.match(table, by="query")["count"].to_pylist() == [0] * len(QUERIES)
    assert Matcher("n INT", {"any": "TRUE"}).match(pa.table({})).num_rows == 0
    with pytest.raises(SchemaError, match="predicates can name none of them"):
        Matcher(pa.table({}))


def test_small_batches_are_matched_together_and_large_ones_in_parts() -> None:
    batches = pa.table({"n": range(200_000)}).to_reader(max_chunksize=1_000)
    assert [part.num_rows for part in Incoming.of(batches).parts] == [66_000, 66_000, 66_000, 2_000]
    whole = pa.table({"n": pa.nulls(1 << 21, pa.int8())})
    assert [part.num_rows for part in Incoming.of(whole).parts] == [1 << 20, 1 << 20]


def test_not_a_number_of_pandas_is_null_and_one_of_others_is_a_number() -> None:
    queries = {"null": "x IS NULL", "large": "x > 1e308D"}
    nan = [1.0, float("nan")]
    for table, expected in (
        (pd.DataFrame({"x": nan}), [[], ["null"]]),
        (pd.DataFrame({"x": pd.array(nan, dtype="Float64")}), [[], ["null"]]),
        (pl.DataFrame({"x": nan}), [[], ["large"]]),
        (pa.table({"x": nan}), [[], ["large"]]),
    ):
        assert Matcher("x DOUBLE", queries).match(table, by="row")["queries"].to_pylist() == expected


TYPES = [
    (pa.uint8(), "SMALLINT"),
    (pa.uint16(), "INT"),
    (pa.uint32(), "BIGINT"),
    (pa.uint64(), "DECIMAL(20,0)"),
    (pa.float16(), "FLOAT"),
    (pa.timestamp("ns"), "TIMESTAMP_NTZ"),
    (pa.timestamp("s", tz="Europe/Oslo"), "TIMESTAMP"),
    (pa.date64(), "DATE"),
    (pa.large_string(), "STRING"),
    (pa.string_view(), "STRING"),
    (pa.binary_view(), "BINARY"),
    (pa.dictionary(pa.int8(), pa.uint16()), "INT"),
    (pa.run_end_encoded(pa.int32(), pa.float16()), "FLOAT"),
    (pa.decimal256(38, 2), "DECIMAL(38,2)"),
]


@pytest.mark.parametrize(("given", "spark"), TYPES, ids=lambda value: str(value)[:24])
def test_types_without_a_counterpart_become_wider(given: pa.DataType, spark: str) -> None:
    schema = predicates_schema(pa.schema({"a": given}))
    assert schema.ddl() == f"a {spark}"
    assert schema.excluded == {}


WIDE = [
    (pa.uint64(), 2**64 - 1, "a = 18446744073709551615"),
    (pa.uint32(), 2**32 - 1, "a = 4294967295L"),
    (pa.float16(), np.float16(1.5), "a = 1.5F"),
    (pa.timestamp("ns"), 1_000, "a = TIMESTAMP_NTZ '1970-01-01 00:00:00.000001'"),
    (pa.timestamp("ms", tz="Asia/Tokyo"), 1, "a = TIMESTAMP '1970-01-01 00:00:00.001'"),
    (pa.date64(), 86_400_000, "a = DATE '1970-01-02'"),
    (pa.decimal256(38, 2), Decimal("1.25"), "a = 1.25BD"),
]


@pytest.mark.parametrize(("given", "value", "where"), WIDE, ids=lambda value: str(value)[:16])
def test_values_of_other_types_are_exact(given: pa.DataType, value: Any, where: str) -> None:
    table = pa.table({"a": pa.array([value, None], given)})
    assert Matcher(table, {"q": where}).match(table)["row"].to_pylist() == [0]


OTHERS = [
    pa.time64("ns"),
    pa.time32("s"),
    pa.duration("us"),
    pa.month_day_nano_interval(),
    pa.decimal256(60, 2),
    pa.uuid(),
    pa.opaque(pa.binary(), "thing", "somebody"),
]


@pytest.mark.parametrize("given", OTHERS, ids=lambda value: str(value)[:24])
def test_what_no_predicate_knows_is_left_out_and_told(given: pa.DataType) -> None:
    fields = {"n": pa.int32(), "A": given, "place": pa.struct([("x", pa.int8()), ("y", given)])}
    schema = predicates_schema(pa.schema(fields))
    assert schema.ddl() == "n INT, place STRUCT<x: TINYINT>"
    for path in ("a", "place.Y", "place.y.z"):
        with pytest.raises(SchemaError, match=re.escape(f"column '{path}': the table has it as {given}")):
            schema.resolve(path.split("."))
    assert schema.resolve(["n"]).name == "n"
    with pytest.raises(SchemaError, match="unknown column 'places'"):
        schema.resolve(["places"])


def test_names_that_differ_in_case_only_are_refused() -> None:
    with pytest.raises(SchemaError, match="duplicate field"):
        predicates_schema(pa.schema({"n": pa.int32(), "N": pa.int32()}))


class SparkFrame:
    """What a DataFrame of PySpark looks like from outside."""

    sparkSession = None  # noqa: N815


NO_TABLES: dict[str, tuple[Callable[[], object], str]] = {
    "lazy": (lambda: pl.DataFrame({"n": [1]}).lazy(), r"type 'LazyFrame': it has no rows yet: collect\(\) it first"),
    "spark": (SparkFrame, "type 'SparkFrame': use broker.match"),
    "list": (lambda: [1], "type 'list': give a pyarrow, Polars, pandas or DuckDB table"),
    "series": (lambda: pl.Series([1]), "type 'Series': its library does not give it as Arrow"),
    "int128": (lambda: pl.DataFrame({"n": pl.Series([1], dtype=pl.Int128)}), "does not give it as Arrow: Invalid or"),
    "mixed": (lambda: pd.DataFrame({"n": [1, "a"]}), "Conversion failed for column n with type object"),
}


@pytest.mark.parametrize("kind", NO_TABLES)
def test_what_is_no_table_is_told_in_one_line(kind: str) -> None:
    make, said = NO_TABLES[kind]
    with pytest.raises(PlanError, match=said) as caught:
        Matcher("n INT", {"q": "n > 1"}).match(make())
    assert "\n" not in str(caught.value)


def test_a_stream_that_breaks_off_is_told_in_one_line() -> None:
    def batches() -> Any:
        yield pa.record_batch({"n": pa.array([1], pa.int32())})
        raise ValueError("the file is cut\nand more")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"n": pa.int32()}), batches())
    with pytest.raises(PlanError, match=r"'RecordBatchReader': cannot be read to its end: the file is cut$"):
        Matcher("n INT", {"q": "n > 1"}).count(reader)


def test_what_is_a_table() -> None:
    assert all(is_table(make()) for make in SOURCES.values())
    assert not any(map(is_table, ("n INT", pa.schema({"n": pa.int32()}), None, [datetime.date.today()])))
