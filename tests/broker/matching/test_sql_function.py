"""A set of predicates as a function of Spark SQL, against ``DataFrame.filter``."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import broker
from asc.errors import AscError
from asc.schema import Schema
from broker.errors import MatchError
from broker.matching.sql_function import SetFunction

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

_ROWS = """
VALUES
 (1, 1Y, 1L, 1.5D, 'oslo', DATE'2020-01-01', TIMESTAMP'2020-01-01 10:00:00', TIMESTAMP_NTZ'2020-01-01 10:00:00',
  1.25BD, true, named_struct('x', 5, 'odd name', 1), map('a', 1), array(1, 2), X'00ff', INTERVAL 1 DAY),
 (2, 127Y, 9223372036854775807L, DOUBLE('NaN'), '', DATE'0001-01-01', TIMESTAMP'0001-01-01 00:00:00',
  TIMESTAMP_NTZ'0001-01-01 00:00:00.000001', -0.01BD, false, named_struct('x', NULL, 'odd name', 2), map('b', 2),
  array(), X'', INTERVAL 2 DAY),
 (3, -128Y, 9007199254740993L, -0.0D, 'a\\u0000b', DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999999',
  TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', 9.99BD, NULL, NULL, NULL, array(NULL), X'ff', INTERVAL 4 DAY),
 (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
AS t(id, i8, i64, d, s, dt, ts, ntz, dec, b, n, m, arr, bin, span)
"""

_PREDICATES = [
    "i8 = -128 OR i8 = 127",
    "i64 = 9007199254740993L",
    "i64 IS NULL",
    "d > 1e308",
    "d = 0.0 OR isnan(d)",
    "s = ''",
    "s = 'a\\u0000b'",
    "s LIKE 'os%'",
    "dt <= DATE'0001-01-01'",
    "ts >= TIMESTAMP'2020-01-01 10:00:00'",
    "hour(ts) = 10",
    "ntz > TIMESTAMP_NTZ'9999-12-31 23:59:59'",
    "dec < 0 OR dec > 9.98",
    "NOT b",
    "b IS NULL",
    "n.x = 5",
    "n.`odd name` = 2",
    "m['a'] = 1",
    "arr[0] IS NULL",
    "size(arr) = 2",
    "exists(arr, a -> a > 1)",
    "array_distinct(arr)[1] = 2",
    "bin = X'00ff'",
    "1 / i8 > 0.5",
    "i64 + 1 < 0",
    "length(s) > 3 AND upper(s) = 'OSLO'",
    "i8 < d",
    "s = '\\'; ${env:HOME} --'",
    "true",
    "i8 > 1 AND i8 < 0",
]
QUERIES = {f"q{number:02d}": text for number, text in enumerate(_PREDICATES)}


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> SparkSession:
    """A session of the module's own: its settings are nobody else's."""
    return spark.newSession()


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[DataFrame]:
    frame = spark.sql(f"SELECT * FROM {_ROWS}").repartition(2)
    frame.createOrReplaceTempView("asc_rows")
    yield frame
    spark.catalog.dropTempView("asc_rows")


@pytest.fixture(scope="module")
def everything(spark: SparkSession, rows: DataFrame) -> SetFunction:
    return broker.register_function(spark, "everything", QUERIES, rows)


def accepted(spark: SparkSession, sql: str) -> dict[int, list[str]]:
    return {row[0]: row[1] for row in spark.sql(sql).collect()}


def test_it_accepts_what_filter_accepts(spark: SparkSession, rows: DataFrame, everything: SetFunction) -> None:
    found = accepted(spark, f"SELECT id, {everything.call} FROM asc_rows")
    assert len(found) == 4
    for query_id, text in QUERIES.items():
        wanted = {row.id for row in rows.filter(text).select("id").collect()}
        assert {row for row, ids in found.items() if query_id in ids} == wanted, text
    assert all(ids == sorted(ids) for ids in found.values())


def test_what_no_query_accepts_has_an_empty_array(spark: SparkSession, rows: DataFrame) -> None:
    late = broker.register_function(spark, "late", {"one": "i8 = 1", "all": "i8 > 0"}, rows)
    assert late == SetFunction("late", ("i8",))
    expected: dict[int, list[str]] = {1: ["all", "one"], 2: ["all"], 3: [], 5: []}
    assert accepted(spark, "SELECT id, late(i8) FROM asc_rows") == expected
    assert accepted(spark, "SELECT id, late(i8 => i8) FROM asc_rows WHERE size(late(i8)) > 1") == {1: ["all", "one"]}
    exploded = (
        "SELECT q, count(*) FROM (SELECT explode(ids) AS q FROM (SELECT late(i8) AS ids FROM asc_rows)) GROUP BY q"
    )
    assert {row[0]: row[1] for row in spark.sql(exploded).collect()} == {"all": 2, "one": 1}


def test_a_set_is_replaced(spark: SparkSession, rows: DataFrame) -> None:
    for least in (0, 100):
        broker.register_function(spark, "late", {"all": f"i8 > {least}"}, rows)
        found = accepted(spark, "SELECT id, late(i8) FROM asc_rows")
        assert sum(map(len, found.values())) == (2 if least == 0 else 1)


def test_a_set_without_columns(spark: SparkSession, rows: DataFrame) -> None:
    always = broker.register_function(spark, "always", {"all": "true"}, rows)
    assert always.call == "always()"
    assert accepted(spark, "SELECT id, always() FROM asc_rows") == {id_: ["all"] for id_ in (1, 2, 3, 5)}
    never = broker.register_function(spark, "never", {}, rows)
    assert accepted(spark, f"SELECT id, {never.call} FROM asc_rows")[1] == []


@pytest.mark.parametrize("schema", ["ddl", "struct", "schema"])
def test_a_schema_will_do_and_null_may_come_where_it_has_none(spark: SparkSession, schema: str) -> None:
    text = "x INT NOT NULL, place STRUCT<y: INT NOT NULL> NOT NULL, list ARRAY<STRUCT<z: INT NOT NULL>>"
    given: Any = {"ddl": text, "schema": Schema.from_ddl(text)}.get(schema)
    if schema == "struct":
        from pyspark.sql.types import StructType

        given = StructType.fromDDL(text)
    queries = {"null": "x IS NULL AND place.y IS NULL", "z": "list[0].z = 1"}
    function = broker.register_function(spark, "nullable", queries, given)
    assert function.columns == ("x", "place", "list")
    call = "nullable(CAST(NULL AS INT), NULL, array(named_struct('z', 1)))"
    assert spark.sql(f"SELECT {call}").first()[0] == ["null", "z"]  # type: ignore[index]


def test_a_session_in_ansi_mode_is_judged_without_it_and_in_the_zone_it_had(
    spark: SparkSession, rows: DataFrame
) -> None:
    settings = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "Asia/Tokyo"}
    before = {name: spark.conf.get(name) for name in settings}
    queries = {"zero": "1 / (i8 - 1) IS NULL", "ten": "hour(ts) = 10", "at": "ts = TIMESTAMP'2020-01-01 10:00:00'"}
    function = broker.register_function(spark, "judged", queries, rows)
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        found = accepted(spark, f"SELECT id, {function.call} FROM asc_rows")
    finally:
        for name, value in before.items():
            spark.conf.set(name, str(value))
    assert found[1] == ["at", "ten", "zero"]


def test_lambdas_within_lambdas(spark: SparkSession) -> None:
    # Of a session that has seen many columns: by their numbers Spark tells columns from the variables of lambdas.
    spark.range(1).selectExpr(*(f"id AS c{i}" for i in range(300)))
    items = "ARRAY<STRUCT<least: INT, sizes: ARRAY<INT>>>"
    nested = {"q": "exists(items, i -> exists(i.sizes, n -> n > i.least))", "one": "size(items) = 1"}
    function = broker.register_function(spark, "nested", nested, f"items {items}")
    spark.sql(
        f"SELECT id, CAST(items AS {items}) FROM VALUES (1, array(named_struct('l', 2, 's', array(1, 3)))), (2, NULL), "
        "(3, array(named_struct('l', 5, 's', array(1))))  AS t(id, items)"
    ).createOrReplaceTempView("asc_items")
    assert accepted(spark, f"SELECT id, {function.call} FROM asc_items") == {1: ["one", "q"], 2: [], 3: ["one"]}


def test_a_stream_is_judged_as_a_table_is(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    late = broker.register_function(spark, "late", {"all": "i8 > 0"}, rows)
    plain = rows.select("id", "i8")
    plain.write.parquet(str(tmp_path / "rows"))
    stream = (
        spark.readStream.schema(plain.schema).parquet(str(tmp_path / "rows")).selectExpr("id", f"{late.call} AS ids")
    )
    started = stream.writeStream.format("memory").queryName("asc_seen").trigger(availableNow=True).start()
    assert started.awaitTermination(60)
    assert accepted(spark, "SELECT id, ids FROM asc_seen") == {1: ["all"], 2: ["all"], 3: [], 5: []}


@pytest.mark.parametrize(
    ("name", "queries", "said"),
    [
        ("length", {"q": "i8 > 1"}, "function 'length': is there already"),
        ("a b", {"q": "i8 > 1"}, "function 'a b': is a letter, and letters"),
        ("I8", {"q": "i8 > 1"}, "function 'I8': is the name of a column"),
        ("fine", {"q": "i9 > 1"}, "query 'q': unknown column 'i9'"),
        ("fine", {"a\nb": "i8 > 1"}, "query id"),
        ("fine", ["i8 > 1"], "queries of type 'list': give a mapping of ids to predicates"),
        ("fine", {"q": "span > INTERVAL 1 DAY"}, "query 'q': "),
        ("fine", {"q": "arr = m"}, "'q'"),
    ],
    ids=["taken", "name", "column", "unknown", "id", "list", "type", "spark"],
)
def test_what_is_refused_is_one_line_and_registers_nothing(
    spark: SparkSession, rows: DataFrame, name: str, queries: Any, said: str
) -> None:
    with pytest.raises(AscError, match=said) as raised:
        broker.register_function(spark, name, queries, rows)
    assert "\n" not in str(raised.value)
    assert not spark.catalog.functionExists("fine")


def test_spark_connect_is_refused() -> None:
    with pytest.raises(MatchError, match="Spark Connect"):
        broker.register_function(SimpleNamespace(sql=None), "late", {"q": "n > 1"}, "n INT")  # type: ignore[arg-type]


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(MatchError, match="session of type 'str': give a SparkSession"):
        broker.register_function("late", "late", {"q": "n > 1"}, "n INT")  # type: ignore[arg-type]
