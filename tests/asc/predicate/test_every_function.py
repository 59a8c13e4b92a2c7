"""What holds of every allowed function, asked of Spark: no time word is read, and what a call becomes is counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from asc.errors import PredicateError
from asc.predicate.functions import FUNCTIONS
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.time_words import check_time_words
from asc.predicate.type_checking.typer import Typer
from tests.asc.predicate.test_spark_agreement import BY_SORT, DDL, PLACES, SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_TRIED = 200
_MOST_PLACES = 4
_COPIES = 9
_NODES_A_WEIGHT = 5
COLUMNS = ("n", "s", "day", "flag", "raw", "list", "dict", "place", "price")
_WORD = re.compile(r"cast\(now as (?:date|timestamp)", re.IGNORECASE)


class Accepted(NamedTuple):
    """A call that passes: its text for Spark and its weight."""

    sql: str
    weight: int


def accepted(text: str) -> Accepted | None:
    """None for a call that is refused."""
    tree, source = parse(text, Limits(), "UTC")
    typer = Typer(source, SCHEMA)
    try:
        sql = typer.of(tree).sql
        check_time_words(typer, tree)
    except PredicateError:
        return None
    return Accepted(sql, tree.weight)


def calls() -> Iterator[tuple[str, list[str]]]:
    """The name and the arguments of calls that pass: of every function and each number of arguments, up to four."""
    for name, function in FUNCTIONS.items():
        for count in range(max(1, function.least), min(function.most, max(function.least, _MOST_PLACES)) + 1):
            pools = [PLACES.get(name, {}).get(i, BY_SORT[function.sort(i)]) for i in range(count)]
            passing = (list(args) for args in islice(product(*pools), _TRIED) if accepted(call(name, args)))
            args = next(passing, None)
            if args is not None:
                yield name, args


def call(name: str, args: Iterable[str]) -> str:
    return f"{name}({', '.join(args)})"


def trees(df: DataFrame, sqls: list[str]) -> list[str]:
    """What Spark makes of each before it optimises, a line a node; empty for one that it refuses."""
    from pyspark.errors import PySparkException

    jvm: Any = df.sparkSession._jvm
    try:
        analysed = df.selectExpr(*(f"{sql} AS c{i}" for i, sql in enumerate(sqls)))._jdf.queryExecution().analyzed()
    except PySparkException:
        half = len(sqls) // 2
        return [""] if half == 0 else trees(df, sqls[:half]) + trees(df, sqls[half:])
    # What many functions are written as.
    expressions = jvm.org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions.apply(analysed).expressions()
    return [expressions.apply(i).child().treeString() for i in range(len(sqls))]


@pytest.fixture(scope="module")
def nothing(spark: SparkSession) -> DataFrame:
    """No rows of every type of column."""
    return spark.createDataFrame([], DDL)


def test_no_function_reads_a_time_word(nothing: DataFrame) -> None:
    """Where Spark's analysis casts a constant 'now' to a date or timestamp, the call is refused."""
    found = {}
    for name, args in calls():
        for place in range(len(args)):
            text = call(name, [*args[:place], "'now'", *args[place + 1 :]])
            passed = accepted(text)
            if passed is not None:
                found[text] = passed.sql
    assert len(found) > 100
    texts = list(found)
    read = [
        text
        for start in range(0, len(texts), 64)
        for text, tree in zip(
            texts[start : start + 64], trees(nothing, [found[t] for t in texts[start : start + 64]]), strict=True
        )
        if _WORD.search(tree)
    ]
    assert read == [], read
    assert _WORD.search(trees(nothing, ["to_date('now')"])[0])


def test_what_spark_makes_of_a_call_is_counted(nothing: DataFrame) -> None:
    """An argument as a small operation, and as one of more nodes: Spark names it no more often than the weight does."""
    pairs: dict[str, tuple[Accepted, Accepted]] = {}
    for name, args in calls():
        for place in range(len(args)):
            for column in COLUMNS:
                small, large = (f"coalesce({', '.join([column] * copies)})" for copies in (2, 2 + _COPIES))
                light, heavy = (
                    accepted(call(name, [*args[:place], arg, *args[place + 1 :]])) for arg in (small, large)
                )
                if light is not None and heavy is not None:
                    pairs[heavy.sql] = (light, heavy)
                    break
    assert len(pairs) > 300
    sqls = [expression.sql for pair in pairs.values() for expression in pair]
    nodes = [tree.count("\n") for start in range(0, len(sqls), 64) for tree in trees(nothing, sqls[start : start + 64])]
    found = [
        (heavy, before, after, heavy.weight - light.weight)
        for (light, heavy), before, after in zip(pairs.values(), nodes[::2], nodes[1::2], strict=True)
        if before and after
    ]
    assert len(found) > 0.9 * len(pairs)
    repeating = [each for each in found if each[2] - each[1] > each[3] + 2]
    assert repeating == [], repeating
    large = [each for each in found if each[2] > _NODES_A_WEIGHT * each[0].weight]
    assert large == [], large
