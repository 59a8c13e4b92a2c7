"""Null tests, held against Spark: what cannot be NULL it does not evaluate, and what throws there throws nowhere."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate import Predicate, normalise
from asc.predicate.limits import Limits
from asc.predicate.type_checking import null_tests
from asc.schema import Schema
from tests.asc.predicate.test_every_function import call, calls
from tests.asc.predicate.test_spark_agreement import DDL, extremes
from tests.asc.predicate.test_spark_traps import keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

__all__ = ["extremes"]

_SCHEMA = Schema.from_ddl(DDL)
_LIMITS = Limits(spark_nodes=5_000)
_FORMS = (
    "{0} IS NULL",
    "{0} IS NOT NULL",
    "{0} <=> NULL",
    "nvl2({0}, TRUE, FALSE)",
    "CASE WHEN isnull({0}) THEN TRUE ELSE FALSE END",
)
_MORE = """
make_ym_interval(178956970, 8)
timestamp_seconds(-1230219000123123)
to_number('123456', '999G999')
timestamp_seconds(big + 1)
date_add(add_months(day, n), 1)
(timestamp_seconds(big) > ts)
(timestamp_seconds(big) > ts OR flag)
(day = ts)
day - ts
ts + make_dt_interval(n)
- make_ym_interval(n)
abs(make_ym_interval(n))
timestampadd(YEAR, n, day)
timestampdiff(MICROSECOND, day, ts)
extract(HOUR FROM day)
CAST(day AS TIMESTAMP)
CAST(parse_json(s) AS INT)
if(flag, timestamp_seconds(big), ts)
coalesce(timestamp_seconds(big), ts)
array_sort(list, (a, b) -> CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END)
add_months(day, n) + INTERVAL 1 DAY
regexp_extract(s, 'a', 2)
sequence(n, n, 0)
space(length(space(n)))
contains(s, space(n))
"""
_WHOLE = """
exists(list, x -> timestamp_seconds(x * big) IS NULL)
exists(array(big, 1L), x -> timestamp_seconds(x) IS NULL)
decode(timestamp_seconds(big), NULL, 1, ts, 2, 3) <> 1
decode(add_months(day, n), day, 1, NULL, 2) IS NULL
equal_null(timestamp_seconds(big), NULL)
equal_null(CAST(NULL AS TIMESTAMP), timestamp_seconds(big))
timestamp_seconds(big) <=> CAST(NULL AS TIMESTAMP)
timestamp_seconds(big) IS DISTINCT FROM NULL
(timestamp_seconds(big) > ts) IS UNKNOWN
(add_months(day, n) IS NULL) IS NULL
CASE WHEN add_months(day, n) IS NULL THEN 1 WHEN timestamp_seconds(big) IS NULL THEN 2 ELSE 3 END = 3
nvl2(nvl2(timestamp_seconds(big), add_months(day, n), day), 1, 2) = 1
coalesce(add_months(day, n) IS NULL, FALSE)
nvl2(timestamp_seconds(big), day, ntz) IS NULL
"""


def of_functions() -> list[str]:
    """A null test of a call of every function, each in one of the forms."""
    forms = cycle(_FORMS)
    return [next(forms).format(call(name, args)) for name, args in calls()]


def of_others() -> list[str]:
    """Null tests of other expressions that are spelled otherwise for Spark, and of such among others."""
    forms = cycle(_FORMS)
    return [*(next(forms).format(text) for text in _MORE.strip().splitlines()), *_WHOLE.strip().splitlines()]


def computed(df: DataFrame, sqls: list[str]) -> list[pa.ChunkedArray | None]:
    """The values of each expression; None for one that Spark refuses or throws for."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812

    try:
        return list(df.select(*(F.expr(sql).alias(f"c{i}") for i, sql in enumerate(sqls))).toArrow().columns)
    except (PySparkException, Py4JJavaError):
        half = len(sqls) // 2
        return [None] if half == 0 else computed(df, sqls[:half]) + computed(df, sqls[half:])


def in_chunks(df: DataFrame, sqls: list[str]) -> list[pa.ChunkedArray | None]:
    return [found for start in range(0, len(sqls), 16) for found in computed(df, sqls[start : start + 16])]


def accepted(df: DataFrame, predicates: list[Predicate]) -> list[list[bool]]:
    """Return the rows that each predicate accepts."""
    attributes = list(dict.fromkeys(a for predicate in predicates for a in predicate.p_attributes))
    columns = in_chunks(df, [a.sql for a in attributes])
    assert None not in columns, [a.sql for a, column in zip(attributes, columns, strict=True) if column is None]
    values = {a: keys(column, a.type) for a, column in zip(attributes, columns, strict=True) if column is not None}
    rows = range(df.count())
    return [
        [
            predicate.match_all
            or any(all(c.admits(values[a][row]) for a, c in conjunct) for conjunct in predicate.conjuncts)
            for row in rows
        ]
        for predicate in predicates
    ]


def differing(df: DataFrame, asked: list[str]) -> tuple[int, list[str]]:
    """Return the number of predicates that Spark judges without throwing, and those that differ."""
    allowed: dict[str, Predicate] = {}
    for text in asked:
        try:
            allowed[text] = normalise(text, _SCHEMA, limits=_LIMITS)
        except PredicateError:
            continue
    assert len(allowed) > 0.9 * len(asked)
    oracle = in_chunks(df, list(allowed))
    found = accepted(df, list(allowed.values()))
    judged = [
        (text, [value is True for value in column.to_pylist()], own)
        for text, column, own in zip(allowed, oracle, found, strict=True)
        if column is not None
    ]
    return len(judged), [f"{text}: {expected} {own}" for text, expected, own in judged if own != expected]


@pytest.fixture(scope="module", autouse=True)
def interpreted(spark: SparkSession) -> None:
    """No expression is compiled: each is evaluated once."""
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.fixture(scope="module")
def present(spark: SparkSession, extremes: DataFrame) -> DataFrame:
    """The extremes of every type, in columns that cannot be NULL."""
    rows = extremes.filter("n IS NOT NULL").coalesce(1)
    session: Any = spark._jsparkSession
    from pyspark.sql import DataFrame as Frame
    from pyspark.sql.types import StructField, StructType

    never_null = StructType([StructField(f.name, f.dataType, nullable=False) for f in rows.schema])
    made = session.internalCreateDataFrame(
        rows._jdf.queryExecution().toRdd(), session.parseDataType(never_null.json()), False
    )
    return Frame(made, spark)


def test_null_tests_inside_each_other_are_bounded() -> None:
    text = "to_number(s, '999')"
    for _ in range(5):
        text = f"nvl2({text}, {text}, {text})"
    with pytest.raises(PredicateError, match="null tests of long expressions"):
        normalise(f"{text} = 5", _SCHEMA, limits=Limits(spark_nodes=10**6))


def test_null_tests_are_as_long_together_as_the_limit_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fits(text: str, nodes: int) -> bool:
        monkeypatch.setattr(null_tests, "_MAX_NODES", nodes)
        try:
            normalise(text, _SCHEMA)
        except PredicateError:
            return False
        return True

    one = "nvl2(to_number(s, '999'), 1, 2) = 1"
    alone = next(nodes for nodes in range(1_000) if fits(one, nodes))
    assert alone > 1
    both = f"{one} AND {one.replace('999', '099')}"
    assert fits(both, 2 * alone)
    assert not fits(both, 2 * alone - 1)


@pytest.mark.spark
@pytest.mark.slow
def test_columns_that_cannot_be_null(present: DataFrame, part_of: PartOf[str]) -> None:
    assert not any(field.nullable for field in present.schema)
    asked = [*part_of(of_functions(), 12), *part_of(of_others(), 2)]
    judged, wrong = differing(present, asked)
    assert wrong == []
    assert judged > 0.7 * len(asked)


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.slow
def test_columns_that_may_be_null(extremes: DataFrame, part_of: PartOf[str]) -> None:
    """A row of NULLs, and one for which little throws."""
    asked = [*part_of(of_functions(), 6), *of_others()]
    judged, wrong = differing(extremes.filter("n IS NULL OR big = 0").coalesce(1), asked)
    assert wrong == []
    assert judged > 0.6 * len(asked)


@pytest.mark.spark
@pytest.mark.slow
def test_a_matched_frame_has_the_columns_that_filter_sees(present: DataFrame) -> None:
    from broker.matching.dataframe import match

    queries = {"never": "timestamp_seconds(big) IS NULL", "always": "nvl2(add_months(day, n), flag, NULL) OR NOT flag"}
    df = present.select("big", "day", "n", "flag")
    found = match(df, queries).select("queries").collect()
    for name, text in queries.items():
        assert sum(name in row.queries for row in found) == df.filter(text).count(), name
    assert df.filter(queries["always"]).count() == df.count() > 0
