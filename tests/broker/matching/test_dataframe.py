"""``broker.match`` against ``DataFrame.filter``: every type, every way an attribute crosses, batch and stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import broker
from asc import Matcher
from asc.errors import AscError, PlanError, PredicateError, SchemaError
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import Limits, normalise
from asc.schema import Schema
from broker.errors import MatchError
from broker.matching.dataframe import DELIVERIES_COLUMN, delivering, match_plan, schema_of
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.shipped_plan import ShippedPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

_ROWS = """
VALUES
 (1, 1Y, 10S, 1, 1L, 1.5F, 1.5D, 'oslo', DATE'2020-01-01', TIMESTAMP'2020-01-01 10:00:00',
  TIMESTAMP_NTZ'2020-01-01 10:00:00.123456', 1.25BD, 12345678901234567890.12BD, true, X'00ff',
  named_struct('x', 5, 'y', 'é', 'odd name', 1), map('a', 1), array(1, 2), INTERVAL 1 DAY),
 (2, 127Y, -32768S, 2147483647, 9223372036854775807L, FLOAT('NaN'), DOUBLE('NaN'), '', DATE'0001-01-01',
  TIMESTAMP'0001-01-01 00:00:00', TIMESTAMP_NTZ'0001-01-01 00:00:00.000001', -0.01BD, -1.00BD, false, X'',
  named_struct('x', NULL, 'y', '', 'odd name', 2), map('b', 2), array(), INTERVAL 2 DAY),
 (3, -128Y, 32767S, -2147483648, -9223372036854775808L, -0.0F, -0.0D, 'Ωmega', DATE'9999-12-31',
  TIMESTAMP'9999-12-31 23:59:59.999999', TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', 9.99BD,
  99999999999999999999.99BD, NULL, X'ff', named_struct('x', -1, 'y', 'z', 'odd name', 3), map(), NULL, NULL),
 (4, 0Y, 0S, 0, 0L, FLOAT('Infinity'), DOUBLE('-Infinity'), 'a\\u0000b', DATE'1970-01-01',
  TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999', 0.00BD, 0.00BD, true, X'00',
  NULL, NULL, array(NULL), INTERVAL 4 DAY),
 (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
AS t(id, i8, i16, i32, i64, f, d, s, dt, ts, ntz, dec, wide, b, bin, n, m, arr, span)
"""

_PREDICATES = [
    "i8 = -128 OR i8 = 127",
    "i16 >= 32767",
    "i32 < -2147483647",
    "i64 = 9223372036854775807",
    "i64 > -9223372036854775808",
    "i32 IS NULL",
    "i32 IS NOT NULL AND i8 <> 0",
    "f = 0",
    "isnan(f)",
    "f > 3e38",
    "d = 0.0",
    "d > 1e308",
    "d < -1e308",
    "d <=> NULL",
    "s = 'Ωmega'",
    "s < 'a'",
    "s = ''",
    "s LIKE 'Ω%'",
    "s = 'a\\u0000b'",
    "dt <= DATE'0001-01-01'",
    "dt BETWEEN DATE'1970-01-01' AND DATE'2020-01-01'",
    "ts > TIMESTAMP'2020-01-01 09:59:59.999999'",
    "ts < TIMESTAMP'1970-01-01 00:00:00'",
    "ntz = TIMESTAMP_NTZ'2020-01-01 10:00:00.123456'",
    "ntz < TIMESTAMP_NTZ'0001-01-01 00:00:00.000002'",
    "ntz > TIMESTAMP_NTZ'9999-12-31 23:59:59.999998'",
    "ntz = TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'",
    "dec = 1.25",
    "dec < 0 OR dec > 9.98",
    "wide > 12345678901234567890.11",
    "wide = -1",
    "b",
    "NOT b",
    "b IS NULL",
    "bin = X'00'",
    "bin > X'00' OR bin = X''",
    "n.x = 5",
    "n.x IS NULL",
    "n.y = ''",
    "n.`odd name` = 3",
    "m['a'] = 1",
    "arr[0] IS NULL",
    "size(arr) = 2",
    "1 / i32 > 0.5",
    "CAST(s AS INT) IS NULL",
    "i32 + 1 < 0",
    "length(s) > 3 AND upper(s) = 'OSLO'",
    "i8 < i16",
    "s RLIKE '^[a-z]+$'",
    "true",
    "i32 > 1 AND i32 < 0",
]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    # Not cached: on cached rows Spark's filter leaves NaN out of ``d > 1e308`` (it prunes by bounds that know no NaN).
    return spark.sql(f"SELECT * FROM {_ROWS}").repartition(2)


def _queries(predicates: list[str]) -> dict[str, str]:
    return {f"q{number:03d}": text for number, text in enumerate(predicates)}


def _ids(df: DataFrame) -> set[int]:
    return {row.id for row in df.select("id").collect()}


def _accepted_by(matched: DataFrame) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for row in matched.select("id", "queries").collect():
        assert row.queries
        assert row.queries == sorted(set(row.queries))
        for query_id in row.queries:
            found.setdefault(query_id, set()).add(row.id)
    return found


def test_the_result_is_that_of_filter(rows: DataFrame) -> None:
    found = _accepted_by(broker.match(rows, _queries(_PREDICATES)))
    for query_id, text in _queries(_PREDICATES).items():
        assert found.get(query_id, set()) == _ids(rows.filter(text)), text


@pytest.mark.nightly
def test_lists_by_values_arrive_in_workers(rows: DataFrame) -> None:
    constants = ["'oslo'", "'Ωmega'", "''", *(f"'none{number}'" for number in range(30))]
    texts = [f"s = {text} AND (i32 > 0 OR id > 2)" for text in constants]
    options = CompileOptions(listed_conjuncts=10)
    assert compile_plan([Query(text, normalise(text, schema_of(rows))) for text in texts], options).listed
    found = _accepted_by(broker.match(rows, _queries([*texts, *_PREDICATES]), options=options))
    for query_id, text in _queries([*texts, *_PREDICATES]).items():
        assert found.get(query_id, set()) == _ids(rows.filter(text)), text


@pytest.mark.parametrize("predicate", _PREDICATES[::4])
def test_each_predicate_alone(rows: DataFrame, predicate: str) -> None:
    """Alone it goes by its own p-attributes, flags and blocks only."""
    assert _ids(broker.match(rows, {"q": predicate})) == _ids(rows.filter(predicate))


def test_other_columns_come_back_unchanged(rows: DataFrame) -> None:
    matched = broker.match(rows, {"some": "i32 > 0 OR id >= 3"})
    assert matched.schema.fields[:-1] == rows.schema.fields
    assert matched.schema["queries"].dataType.simpleString() == "array<string>"
    as_text = "to_json(struct(*))"
    wanted = {row[0] for row in rows.filter("i32 > 0 OR id >= 3").selectExpr(as_text).collect()}
    assert {row[0] for row in matched.drop("queries").selectExpr(as_text).collect()} == wanted


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Europe/Oslo"])
def test_timestamps_go_by_the_zone_of_the_session(spark: SparkSession, zone: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.session.timeZone", zone)
    # The hour before and after clocks change, in local time and as instants.
    df = session.sql(
        """SELECT id, timestamp_seconds(1583650800 + id * 1800) AS ts,
                  TIMESTAMP_NTZ'2020-03-08 00:00:00' + id * INTERVAL 30 MINUTE AS ntz FROM range(0, 12)"""
    )
    predicates = [
        "ts >= TIMESTAMP'2020-03-08 03:00:00'",
        "ntz BETWEEN TIMESTAMP_NTZ'2020-03-08 02:00:00' AND TIMESTAMP_NTZ'2020-03-08 02:30:00'",
        "hour(ts) = 3",
        "ts = TIMESTAMP'2020-03-08 03:30:00'",
    ]
    found = _accepted_by(broker.match(df, _queries(predicates)))
    for query_id, text in _queries(predicates).items():
        assert found.get(query_id, set()) == _ids(df.filter(text)), text


def test_batches_smaller_than_the_partition(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    df = session.range(0, 100, 1, 3).selectExpr("id", "IF(id % 2 = 0, id, NULL) AS v")
    assert _ids(broker.match(df, {"q": "v > 50 OR v IS NULL"})) == _ids(df.filter("v > 50 OR v IS NULL"))


@pytest.mark.nightly
@pytest.mark.slow
def test_many_long_ids_for_every_row_leave_python_in_pieces(spark: SparkSession) -> None:
    """200 MB of ids from one batch: more than one piece, and each row still beside its own."""
    df = spark.range(0, 2_500, 1, 1).selectExpr("id", "id % 2 AS odd")
    queries = {f"{number:03d}".ljust(200, "x"): f"odd = {number % 2}" for number in range(800)}
    matched = broker.match(df, queries).selectExpr("id", "size(queries) AS n", "queries[0] AS least")
    wanted = {(odd, 400, f"{odd:03d}".ljust(200, "x")) for odd in (0, 1)}
    assert {(row.id % 2, row.n, row.least) for row in matched.collect()} == wanted
    assert matched.count() == 2_500


def test_no_query_no_rows_and_only_match_all(rows: DataFrame, spark: SparkSession) -> None:
    assert broker.match(rows, {}).collect() == []
    found = _accepted_by(broker.match(rows, {"all": "true", "every": "1 = 1"}))
    assert found == {"all": {1, 2, 3, 4, 5}, "every": {1, 2, 3, 4, 5}}
    assert broker.match(rows.limit(0), {"q": "i32 = 1"}).collect() == []


def test_a_session_in_ansi_mode_is_judged_without_it_and_keeps_it(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    df = session.sql("SELECT * FROM VALUES (1, 0, 'x'), (2, 2, '7'), (3, 2147483647, NULL) AS t(id, v, s)")
    queries = {"divide": "1 / v > 0", "cast": "CAST(s AS INT) = 7", "overflow": "v + 1 < 0", "plain": "v > 0"}
    matched = broker.match(df, queries)
    assert session.conf.get("spark.sql.ansi.enabled") == "true"
    assert _accepted_by(matched) == {"divide": {2, 3}, "cast": {2}, "overflow": {3}, "plain": {2, 3}}


def _evaluations(df: DataFrame) -> int:
    return str(df._jdf.queryExecution().executedPlan()).count("ArrowEvalPython")


def test_each_row_is_judged_once_and_only_p_attributes_cross(rows: DataFrame) -> None:
    matched = broker.match(rows, {"a": "i32 > 0 AND length(s) > 2", "b": "i32 < 0"})
    plan = str(matched._jdf.queryExecution().executedPlan())
    crossing = next(line for line in plan.splitlines() if "ArrowEvalPython" in line)
    assert "i32#" in crossing
    assert "length(s#" in crossing
    assert not any(f"{name}#" in crossing for name in ("i64", "dt", "wide", "bin", "n", "m", "arr", "span"))
    assert _evaluations(matched) == 1
    assert _evaluations(matched.filter("i32 > 1").select("queries", "s").filter("size(queries) > 1")) == 1
    assert _evaluations(matched.selectExpr("explode(queries) AS q").groupBy("q").count()) == 1


def test_a_stream_is_matched_as_a_batch_is(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    written = rows.select("id", "i32", "s", "d", "n")
    written.write.parquet(str(tmp_path / "in"))
    queries = {"a": "i32 >= 0", "b": "length(s) = 4 OR isnan(d)", "c": "1 / i32 > 0", "d": "n.x = 5"}
    stream = spark.readStream.schema(written.schema).parquet(str(tmp_path / "in"))
    query = (
        broker.match(stream, queries)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("path", str(tmp_path / "out"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = _accepted_by(spark.read.parquet(str(tmp_path / "out")))
    assert found == _accepted_by(broker.match(written, queries))
    assert set(found) == set(queries)


def test_a_stream_of_an_ansi_session_does_not_stop_at_an_evaluation_error(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.sql("SELECT * FROM VALUES (1, 0), (2, 2) AS t(id, v)").write.parquet(str(tmp_path / "in"))
    stream = session.readStream.schema("id INT, v INT").parquet(str(tmp_path / "in"))
    query = (
        broker.match(stream, {"q": "1 / v > 0"})
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("path", str(tmp_path / "out"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert _ids(session.read.parquet(str(tmp_path / "out"))) == {2}


# -- plans that are shipped


def _shipped(df: DataFrame, queries: list[tuple[str, str, str]]) -> ShippedPlan:
    return ShippedPlan.of(df, _plan(df, queries))


def _delivered(df: DataFrame, plan: ShippedPlan, *kept: str) -> DataFrame:
    for columns in delivering(df.sparkSession, plan, kept):
        df = df.select(*columns)
    return df


def _plan(df: DataFrame, queries: list[tuple[str, str, str]]) -> Plan:
    schema = schema_of(df)
    return compile_plan([Query(name, normalise(text, schema), topic) for name, text, topic in queries])


def test_deliveries_are_by_topic_with_sorted_ids_and_keep_every_row(rows: DataFrame) -> None:
    plan = _shipped(
        rows,
        [
            ("z", "id <= 2", "first"),
            ("a", "id <= 3", "first"),
            ("m", "id = 2", "second.topic"),
            ("all-but-5", "id < 5 AND id > 1", "third"),
        ],
    )
    matched = _delivered(rows, plan, "id")
    found = {
        row.id: None if row.found is None else _by_topic(row.found)
        for row in matched.selectExpr("id", f"{DELIVERIES_COLUMN} AS found").collect()
    }
    assert found == {
        1: {"first": ["a", "z"]},
        2: {"first": ["a", "z"], "second.topic": ["m"], "third": ["all-but-5"]},
        3: {"first": ["a"], "third": ["all-but-5"]},
        4: {"third": ["all-but-5"]},
        5: None,
    }


def _by_topic(text: str) -> dict[str, list[str]]:
    topics = (each.split(AFTER_TOPIC) for each in text.split(BETWEEN_TOPICS))
    return {topic: ids.split(BETWEEN_IDS) for topic, ids in topics}


def test_exploded_deliveries_are_matched_once(rows: DataFrame) -> None:
    plan = _shipped(rows, [("a", "i32 >= 0", "t"), ("b", "length(s) > 1", "u")])
    matched = _delivered(rows, plan, "id")
    exploded = matched.selectExpr("id", f"explode(split({DELIVERIES_COLUMN}, '{BETWEEN_TOPICS}')) AS d")
    assert _evaluations(exploded.selectExpr("id", "length(d)")) == 1


def test_an_observation_counts_tuples_and_accepted(rows: DataFrame) -> None:
    from pyspark.sql import Observation

    observation = Observation()
    matched = match_plan(rows, _shipped(rows, [("a", "i32 > 0", "t")]), observation=observation)
    assert _ids(matched) == {1, 2}
    assert observation.get == {"tuples": 5, "accepted": 2}


# -- what is refused


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ({"mine": "i33 > 1"}, r"query 'mine': unknown column 'i33': did you mean"),
        ({"mine": "i32 >"}, r"query 'mine': "),
        ({"mine": "span > INTERVAL 1 DAY"}, r"query 'mine': "),
        ({"": "i32 > 1"}, r"query id '': "),
        ({"a b": "i32 > 1"}, r"query id 'a b': use 1 to 200 of A-Z"),
        (["i32 > 1"], r"queries of type 'list': give a mapping of ids to predicates"),
        ("i32 > 1", r"queries of type 'str': give a mapping of ids to predicates"),
        ({"mine": ["i32 > 1"]}, r"query 'mine': predicate of type 'list': give Spark SQL as text, or an asc.Join"),
        ({"a\x1fb": "i32 > 1"}, r"query id 'a\\x1fb': "),
        ({"a\nb": "i32 > 1"}, r"query id "),
        ({"mine": "arr = m", "other": "i32 = 1"}, r"mine"),
    ],
)
def test_what_is_refused_is_one_line_that_names_the_query(rows: DataFrame, queries: Any, said: str) -> None:
    with pytest.raises(AscError, match=said) as raised:
        broker.match(rows, queries)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("frame", [[1], "rows", None])
def test_what_is_no_frame_is_refused(frame: Any) -> None:
    with pytest.raises(MatchError, match=f"DataFrame of type '{type(frame).__name__}': give a DataFrame of PySpark"):
        broker.match(frame, {"mine": "i32 > 1"})


def test_a_refused_predicate_keeps_its_caret(rows: DataFrame) -> None:
    with pytest.raises(PredicateError) as raised:
        broker.match(rows, {"mine": "i32 > 1 AND i33 > 1"})
    assert raised.value.caret().splitlines()[1].index("^") == len("i32 > 1 AND ")


def test_limits_and_options_are_heeded(rows: DataFrame) -> None:
    with pytest.raises(PredicateError):
        broker.match(rows, {"mine": "i32 > 1 AND i32 < 5"}, limits=Limits(length_chars=10))
    expressions = {f"q{number}": f"i32 * {number} > 1" for number in range(2, 6)}
    with pytest.raises((PlanError, MatchError)):
        broker.match(rows, expressions, options=CompileOptions(spark_attributes=3))


@pytest.mark.parametrize("name", ["queries", "Queries"])
def test_a_column_queries_is_not_overwritten(rows: DataFrame, name: str) -> None:
    with pytest.raises(MatchError, match=rf"column '{name}': .*rename it"):
        broker.match(rows.withColumn(name, rows.id), {"q": "i32 > 1"})


def test_a_column_of_the_temporary_name_is_left_alone(rows: DataFrame) -> None:
    df = rows.select("id", "i32").withColumn("__asc_matches", rows.id * 10)
    assert [row["__asc_matches"] for row in broker.match(df, {"q": "i32 = 1"}).collect()] == [10]


NESTED = {
    "exists(items, i -> exists(i.sizes, n -> n > i.least))": {1, 4},
    "size(filter(items, i -> forall(i.sizes, n -> n < 3 AND n <= i.least + 1))) = 1": {1, 2},
    "array_distinct(words)[1] = 'bb'": {1, 3},
    "map_from_arrays(array(id, 2L), array('a', 'b'))[3L] = 'a'": {3},
    "map_from_arrays(array(id, 2L), array('a', 'b'))[2L] = 'b'": {1, 3, 4},
}


@pytest.mark.parametrize("deliver", [False, True])
def test_lambdas_within_lambdas(spark: SparkSession, deliver: bool) -> None:
    # Of a session that has seen many columns: by their numbers Spark tells columns from the variables of lambdas.
    spark.range(1).selectExpr(*(f"id AS c{i}" for i in range(300)))
    rows = [
        (1, ["a", "bb"], [(2, [1, 2]), (2, [3])]),
        (2, ["b"], [(5, [])]),
        (3, ["a", "bb", "a"], [(1, None), None]),
        (4, None, [(8, [9])]),
    ]
    frame = spark.createDataFrame(
        rows, "id BIGINT, words ARRAY<STRING>, items ARRAY<STRUCT<least: INT, sizes: ARRAY<INT>>>"
    )
    queries = dict(enumerate(NESTED))
    if deliver:
        plan = _shipped(frame, [(f"q{i}", where, "t") for i, where in queries.items()])
        found = {
            row.id: [] if row[1] is None else _by_topic(row[1])["t"] for row in _delivered(frame, plan, "id").collect()
        }
    else:
        matched = broker.match(frame, {f"q{i}": where for i, where in queries.items()})
        assert matched.columns == [*frame.columns, "queries"]
        found = {row.id: row.queries for row in matched.collect()}
    for i, where in queries.items():
        assert {row for row, accepting in found.items() if f"q{i}" in accepting} == NESTED[where], where
        if "map_" not in where:
            assert {row.id for row in frame.filter(where).collect()} == NESTED[where], where


COLLATED = """SELECT n, text COLLATE UTF8_LCASE AS s, array(text COLLATE UNICODE) AS items,
named_struct('x', text COLLATE UTF8_LCASE, 'y', n) AS place, map(text COLLATE UTF8_LCASE, n) AS counts, text AS plain
FROM VALUES (1, 'ABC'), (2, 'abc') AS t(n, text)"""
ON_COLLATED = (
    *("s = 'abc'", "s IN ('abc')", "s LIKE 'a%'", "contains(s, 'b')", "startswith(s, 'a')", "upper(s) = 'ABC'"),
    *("array_contains(items, 'abc')", "exists(items, e -> e = 'abc')", "place.x = 'abc'", "s <> 'abc'", "s > 'B'"),
    *("counts['abc'] = 1", "s IS NULL", "`S` = 'abc'"),
)


@pytest.mark.parametrize("where", ON_COLLATED)
def test_a_column_with_a_collation_is_refused_by_name(spark: SparkSession, where: str) -> None:
    frame = spark.sql(COLLATED)
    with pytest.raises(AscError, match=r"has the collation .(UTF8_LCASE|UNICODE).*byte by byte"):
        broker.match(frame, {"q": where})
    with pytest.raises(AscError, match="has the collation"):
        broker.register_function(spark, "on_collated", {"q": where}, frame)
    with pytest.raises(SchemaError, match="column s has the collation 'UTF8_LCASE'"):
        Schema.of(frame.schema)


def test_other_columns_of_a_frame_with_collations_are_matched(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(COLLATED)
    found = broker.match(frame, {"q": "plain = 'abc' AND n > 0"}).select("n").collect()
    assert [row.n for row in found] == [2]
    # Spark's Parquet files have collations in the metadata of their schema alone.
    frame.drop("counts").coalesce(1).write.parquet(str(tmp_path / "collated"))
    (file,) = (tmp_path / "collated").glob("*.parquet")
    table = pq.read_table(file)
    matcher = Matcher(table, {"q": "plain = 'abc'"})
    assert matcher.match(table, by="query").to_pylist() == [{"query": "q", "count": 1, "rows": [1]}]
    with pytest.raises(AscError, match="has the collation 'UTF8_LCASE'"):
        Matcher(table, {"q": "s = 'abc'"})
    with pytest.raises(AscError, match="has the collation 'UTF8_LCASE'"):
        Matcher(Schema.from_arrow(table.schema), {"q": "s = 'abc'"})


def test_a_char_column_is_refused_and_a_varchar_one_is_text(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE padded (c CHAR(5), v VARCHAR(5)) USING parquet LOCATION '{tmp_path}/padded'")
    try:
        spark.sql("INSERT INTO padded VALUES ('ab', 'ab'), ('x', 'x')")
        frame = spark.table("padded")
        assert len(broker.match(frame, {"q": "v = 'ab'"}).collect()) == frame.filter("v = 'ab'").count() == 1
        with pytest.raises(AscError, match=r"column c has the type 'CHAR\(5\)'"):
            broker.match(frame, {"q": "c = 'ab'"})
    finally:
        spark.sql("DROP TABLE padded")
