"""NULL without a type as an argument: refused where Spark refuses it, of every function and each of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from tests.asc.predicate.test_every_function import accepted, call, calls
from tests.asc.predicate.test_spark_agreement import DDL, SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("array_remove(NULL, 2)", "argument 1 of array_remove"),
        ("array_sort(NULL)", "argument 1 of array_sort"),
        ("array_insert(list, NULL, 1)", "argument 2 of array_insert"),
        ("array_union(list, NULL)", "argument 2 of array_union"),
        ("arrays_overlap(NULL, list)", "argument 1 of arrays_overlap"),
        ("element_at(NULL, 1)", "argument 1 of element_at"),
    ],
)
def test_it_is_refused_with_the_remedy(text: str, argument: str) -> None:
    with pytest.raises(PredicateError, match=f"{argument} is NULL without a type, which Spark refuses: CAST it to one"):
        normalise(f"{text} IS NOT NULL", SCHEMA)


@pytest.mark.parametrize("text", ["slice(NULL, 1, 2)", "array_remove(list, n)"])
def test_it_is_taken_where_spark_takes_it(text: str) -> None:
    normalise(f"{text} IS NOT NULL", SCHEMA)


@pytest.mark.parametrize(
    "text", ["CASE WHEN NULL THEN n END IS NULL", "CASE WHEN flag THEN 1 WHEN null THEN 2 ELSE 3 END > 2"]
)
def test_a_condition_of_case_has_a_type(text: str) -> None:
    with pytest.raises(PredicateError, match="NULL without a type as a condition of CASE"):
        normalise(text, SCHEMA)
    typed = text.replace("NULL THEN", "CAST(NULL AS BOOLEAN) THEN").replace("null THEN", "CAST(NULL AS BOOLEAN) THEN")
    normalise(typed, SCHEMA)


def refused_by_spark(nothing: DataFrame, texts: list[str]) -> list[str]:
    """Return the texts that Spark refuses."""
    from pyspark.errors import PySparkException

    try:
        nothing.selectExpr(*(f"({text}) IS NULL AS c{place}" for place, text in enumerate(texts)))
    except PySparkException:
        half = len(texts) // 2
        return texts if not half else refused_by_spark(nothing, texts[:half]) + refused_by_spark(nothing, texts[half:])
    return []


@pytest.mark.nightly
@pytest.mark.spark
def test_no_call_is_taken_that_spark_refuses(spark: SparkSession) -> None:
    texts = []
    for name, args in calls():
        texts += [call(name, [*args[:place], "NULL", *args[place + 1 :]]) for place in range(len(args))]
        texts.append(call(name, ["NULL"] * len(args)))
    taken = [text for text in dict.fromkeys(texts) if accepted(text)]
    assert len(taken) > 500
    assert refused_by_spark(spark.createDataFrame([], DDL), taken) == []
