"""The engine as a library: asc.Matcher."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc import AscError, Matcher, PlanError, PredicateError, Schema, SchemaError

SCHEMA = Schema.from_ddl("delay INT, city STRING, place STRUCT<x: DOUBLE, name: STRING>")
PLACES = [{"x": 1.5, "name": "a"}, {"x": None, "name": "b"}, None, {"x": float("nan"), "name": None}]
BATCH = pa.record_batch(
    {
        "delay": pa.array([45, 10, None, 31], pa.int32()),
        "city": ["Oslo", "Bergen", None, "Oslo"],
        "place": pa.array(PLACES, SCHEMA.arrow.field("place").type),
    }
)


def found(matcher: Matcher, batch: pa.RecordBatch | pa.Table = BATCH) -> list[tuple[int, str]]:
    return [(pair["row"], pair["query"]) for pair in matcher.match(batch).to_pylist()]


def test_add_match_replace_remove() -> None:
    matcher = Matcher(SCHEMA)
    assert found(matcher) == []
    matcher.add("late", "delay > 30")
    matcher.add_many([("oslo", "city = 'Oslo'"), ("any", "TRUE")])
    assert found(matcher) == [
        (0, "any"),
        (0, "late"),
        (0, "oslo"),
        (1, "any"),
        (2, "any"),
        (3, "any"),
        (3, "late"),
        (3, "oslo"),
    ]
    matcher.add("any", "delay IS NULL")
    matcher.remove("oslo")
    assert found(matcher) == [(0, "late"), (2, "any"), (3, "late")]
    assert "late" in matcher
    assert "oslo" not in matcher
    assert len(matcher) == 2


def test_what_is_no_batch_is_refused() -> None:
    with pytest.raises(PlanError, match=r"table of type 'list': give a pyarrow, Polars, pandas or DuckDB table"):
        Matcher("n INT").match([1])


def test_nested_fields_are_null_where_the_struct_is() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add_many([("big", "place.x > 1"), ("none", "place.x IS NULL"), ("b", "place.name = 'b'")])
    assert found(matcher) == [(0, "big"), (1, "b"), (1, "none"), (2, "none"), (3, "big")]


def test_tables_of_several_chunks_and_other_columns() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add("late", "delay > 30")
    table = pa.Table.from_batches([BATCH, BATCH.slice(3)]).append_column("more", pa.array(range(5)))
    assert found(matcher, table) == [(0, "late"), (3, "late"), (4, "late")]


def test_result_is_two_arrow_columns() -> None:
    result = Matcher(SCHEMA).match(BATCH)
    assert result.schema == pa.schema([("row", pa.int32()), ("query", pa.string())])


NOT_PLAIN = ("length(city) > 3", "city LIKE '_slo'", "upper(city) LIKE '%SLO'", "delay > place.x")


@pytest.mark.parametrize("where", NOT_PLAIN)
def test_what_only_spark_can_evaluate_is_refused_by_name(where: str) -> None:
    matcher = Matcher(SCHEMA)
    with pytest.raises(PredicateError, match="query 'q' needs Spark to compute"):
        matcher.add_many([("fine", "delay > 1"), ("q", where)])
    assert len(matcher) == 0


def test_refusals_change_nothing() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add("late", "delay > 30")
    with pytest.raises(PredicateError, match="dely"):
        matcher.add("x", "dely > 30")
    with pytest.raises(PlanError, match="given twice"):
        matcher.add_many([("x", "delay > 1"), ("x", "delay > 2")])
    with pytest.raises(PlanError, match="unknown query"):
        matcher.remove("x")
    assert found(matcher) == [(0, "late"), (3, "late")]


@pytest.mark.parametrize(
    ("query_id", "where", "message"),
    [
        ("", "delay > 1", "query id '': use 1 to 200 of A-Z"),
        ("a b", "delay > 1", "query id 'a b': use 1 to 200 of A-Z"),
        (5, "delay > 1", "query id of type 'int': use 1 to 200 of A-Z"),
        (None, "delay > 1", "query id of type 'NoneType': use 1 to 200 of A-Z"),
        ("a\ud800", "delay > 1", "query id 'a.*': use 1 to 200 of A-Z"),
        ("q", None, "query 'q': predicate of type 'NoneType': give Spark SQL as text"),
        ("q", ["delay > 1"], "query 'q': predicate of type 'list': give Spark SQL as text"),
    ],
)
def test_ids_and_predicates_that_are_none(query_id: object, where: object, message: str) -> None:
    matcher = Matcher(SCHEMA)
    with pytest.raises(AscError, match=message):
        matcher.add(query_id, where)  # type: ignore[arg-type]
    assert len(matcher) == 0


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (["delay > 1"], r"queries of type 'list': give a mapping of ids to predicates, as \{"),
        ("delay > 1", "queries of type 'str': give a mapping"),
        ([("late", "delay > 1")], "queries of type 'list': give a mapping"),
    ],
)
def test_what_is_no_mapping_of_queries_is_refused(queries: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        Matcher(SCHEMA, queries)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({"late": "delay > 1"}, r"queries of type 'dict': give \(id, predicate\) pairs, as queries.items\(\)"),
        ("delay > 1", "queries of type 'str': give"),
        (5, "queries of type 'int': give"),
        (["delay > 1"], "pair of type 'str': give"),
        ([("late", "delay > 1", 5)], "pair of type 'tuple': give"),
    ],
)
def test_what_is_no_pairs_of_queries_is_refused(pairs: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        Matcher(SCHEMA).add_many(pairs)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (["zones.geojson"], "layers of type 'list': give a mapping of names to layers or files"),
        ("zones.geojson", "layers of type 'str': give a mapping"),
        ({"zones": 5}, "layer 'zones' of type 'int': give what asc.read_layer returns"),
    ],
)
def test_layers_that_are_none_are_refused(layers: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Matcher(SCHEMA, layers=layers)


def test_columns_are_found_in_any_case() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add_many([("late", "delay > 30"), ("big", "place.x > 1")])
    place = pa.array([{"X": 1.5}, {"X": 0.5}])
    assert found(matcher, pa.record_batch({"DELAY": pa.array([45, 1], pa.int32()), "Place": place})) == [
        (0, "big"),
        (0, "late"),
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"delay": [1], "DELAY": [1], "place": [{"y": 1.0}]}, "missing column 'place.x': the batch has y"),
        ({"place": [{"x": 1.0, "X": 2.0}]}, None),
        ({"place": [{"X": 1.0, "x ": 2.0, "\uff58": 1.0}]}, None),
        ({"place": [5]}, "column 'place.x': the batch has int64 where a struct"),
        ({"Place": [{"x": 1.0}], "PLACE": [{"x": 1.0}]}, "column 'place.x': the batch has several"),
    ],
)
def test_nested_columns_that_are_not_there(columns: dict[str, object], message: str | None) -> None:
    matcher = Matcher(SCHEMA)
    matcher.add("any", "place.x IS NOT NULL")
    batch = pa.record_batch(columns)
    if message is None:
        assert found(matcher, batch) == [(0, "any")]
    else:
        with pytest.raises(PlanError, match=message):
            matcher.match(batch)


def test_a_column_twice() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add("late", "delay > 30")
    twice = pa.record_batch([pa.array([1], pa.int32())] * 2, names=["delay", "delay"])
    with pytest.raises(PlanError, match="several of that name"):
        matcher.match(twice)


def test_a_batch_without_the_column() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add("late", "delay > 30")
    with pytest.raises(PlanError, match="missing column 'delay'"):
        matcher.match(BATCH.select(["city"]))
    with pytest.raises(PlanError, match="expected int32"):
        matcher.match(pa.record_batch({"delay": ["x"]}))


def test_any_schema_is_taken_and_anything_else_refused_at_once() -> None:
    types = pytest.importorskip("pyspark.sql.types")
    struct = types.StructType([types.StructField("delay", types.IntegerType())])
    for schema in (Schema.from_ddl("delay INT"), pa.schema({"delay": pa.int32()}), struct, "delay INT", struct.json()):
        matcher = Matcher(schema)
        matcher.add("late", "delay > 30")
        assert found(matcher, pa.table({"delay": pa.array([45], pa.int32())})) == [(0, "late")]
    for schema in (None, {"delay": "int"}, pa.int32(), b"delay INT"):
        with pytest.raises(SchemaError, match=r"give an asc.Schema, a pyarrow.Schema, a PySpark StructType"):
            Matcher(schema)


def test_a_column_is_cast_where_every_value_fits() -> None:
    matcher = Matcher("delay INT, place STRUCT<x: DOUBLE>")
    matcher.add_many([("late", "delay > 30"), ("unknown", "delay IS NULL"), ("far", "place.x > 1")])
    assert found(matcher, pa.table({"delay": [45, None], "place": [{"x": 2}, None]})) == [
        (0, "far"),
        (0, "late"),
        (1, "unknown"),
    ]
    assert found(matcher, pa.table({"delay": [None], "place": [None]})) == [(0, "unknown")]
    with pytest.raises(PlanError, match=r"column delay, row 1, holds 3000000000: does not fit INT"):
        matcher.match(pa.table({"delay": [1, 3_000_000_000], "place": [{"x": 2.0}] * 2}))
    with pytest.raises(PlanError, match="'string': expected int32"):
        matcher.match(pa.table({"delay": ["45"], "place": [{"x": 2.0}]}))


def test_queries_to_begin_with() -> None:
    assert found(Matcher(BATCH, {"late": "delay > 30", "oslo": "city = 'Oslo'"})) == [
        (0, "late"),
        (0, "oslo"),
        (3, "late"),
        (3, "oslo"),
    ]
    with pytest.raises(PredicateError, match="unknown column 'dely': did you mean 'delay'"):
        Matcher(BATCH, {"late": "dely > 30"})


def test_a_row_a_row() -> None:
    matcher = Matcher(BATCH, {"late": "delay > 30", "oslo": "city = 'Oslo'"})
    queries = matcher.match(BATCH, by="row")
    assert queries.to_pydict() == {"queries": [["late", "oslo"], [], [], ["late", "oslo"]]}
    assert queries.schema == pa.schema([("queries", pa.list_(pa.string()))])


def test_a_row_a_query() -> None:
    matcher = Matcher(BATCH, {"oslo": "city = 'Oslo'", "none": "delay > 1000", "any": "TRUE"})
    by_query = {"query": ["any", "none", "oslo"], "count": [4, 0, 2], "rows": [[0, 1, 2, 3], [], [0, 3]]}
    assert matcher.match(BATCH, by="query").to_pydict() == by_query
    assert matcher.count(BATCH).to_pydict() == {name: by_query[name] for name in ("query", "count")}


def test_rows_that_are_accepted() -> None:
    matcher = Matcher(BATCH, {"late": "delay > 40", "bergen": "city = 'Bergen'", "ten": "delay = 10"})
    kept = matcher.filter(BATCH)
    assert kept.drop_columns("queries").to_pylist() == BATCH.slice(0, 2).to_pylist()
    assert kept["queries"].to_pylist() == [["late"], ["bergen", "ten"]]
    with pytest.raises(PlanError, match="column 'queries': is a name that the result needs"):
        matcher.filter(kept)


def test_what_a_table_has_no_type_for_is_told_where_it_is_named() -> None:
    table = pa.table({"n": [1], "at": pa.array([0], pa.time64("us")), "void": [None]})
    matcher = Matcher(table, {"one": "n = 1"})
    assert found(matcher, table) == [(0, "one")]
    with pytest.raises(
        PredicateError, match=r"column 'at': the table has it as time64\[us\], which no predicate knows"
    ):
        matcher.add("q", "at IS NULL")
    with pytest.raises(PredicateError, match="column 'void': the table has nothing but NULLs there") as caught:
        matcher.add("q", "n = 1 AND void IS NULL")
    assert caught.value.caret().endswith("          ^^^^")


def test_rows_of_an_error_are_those_of_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asc.interchange.PART_ROWS", 3)
    matcher = Matcher("n INT", {"any": "n > 4"})
    assert found(matcher, pa.table({"n": range(8)})) == [(5, "any"), (6, "any"), (7, "any")]
    with pytest.raises(PlanError, match="column n, row 7, holds 4294967296: does not fit INT"):
        matcher.match(pa.table({"n": [0] * 7 + [2**32]}))


def test_positions_of_a_plane_and_of_the_earth() -> None:
    where = "ST_Contains(ST_PolygonFromEnvelope(0, 0, 50, 50), ST_Point(x, y))"
    table = pa.table({"x": [10, 200, None], "y": pa.array([20.0, 20.0, 20.0], pa.float32())})
    outside = f"NOT {where}"
    earth = Matcher("x BIGINT, y FLOAT", {"in": where, "out": outside})
    assert earth.match(table)["query"].to_pylist() == ["in"]
    plane = Matcher("x BIGINT, y FLOAT", {"in": where, "out": outside}, crs="planar")
    assert plane.match(table).to_pylist() == [{"row": 0, "query": "in"}, {"row": 1, "query": "out"}]
    decimals = Matcher("x DECIMAL(20, 10), y FLOAT", {"in": "ST_Intersects(ST_Point(0.1, 0), ST_Point(x, y))"})
    exact = pa.table({"x": pa.array([Decimal("0.1"), Decimal("0.1000000001")], pa.decimal128(20, 10)), "y": [0.0, 0.0]})
    assert decimals.match(exact)["row"].to_pylist() == [0]
