"""One physical plan over the records of one batch after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf

from broker.errors import BrokerError
from broker.stream.prepared_frame import PreparedFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

EVALUATORS = "spark.sql.execution.usePartitionEvaluator"


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> SparkSession:
    """A session of the module's own: its settings are nobody else's."""
    return spark.newSession()


def records(spark: SparkSession, *rows: tuple[int | None, str]) -> DataFrame:
    return spark.createDataFrame(list(rows), "n INT, s STRING")


def made_of(frame: DataFrame) -> DataFrame:
    def doubled(numbers: pd.Series) -> pd.Series:
        return numbers * 2

    in_python = pandas_udf(doubled, "double").asNondeterministic()  # type: ignore[call-overload]
    computed = frame.select(sf.explode(sf.split("s", ",")).alias("piece"), in_python("n").alias("twice"))
    return computed.select("piece", sf.coalesce("twice", sf.lit(-1.0)).alias("twice"))


def rows_of(frame: DataFrame) -> list[tuple[str, float]]:
    return sorted((row.piece, row.twice) for row in frame.collect())


@pytest.fixture(params=["true", "false"])
def evaluators(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """The two ways in which Spark's operators make an RDD; a daemon has the first one."""
    spark.conf.set(EVALUATORS, request.param)
    yield request.param
    spark.conf.unset(EVALUATORS)


@pytest.mark.usefixtures("evaluators")
def test_it_is_run_over_the_records_it_is_given(spark: SparkSession) -> None:
    prepared = PreparedFrame.of(records(spark, (1, "made,with")), made_of)
    for rows in ([(1, "a,b"), (None, "c")], [(21, "d")], [(7, "d"), (8, "")], [(1, "made,with")]):
        given = records(spark, *rows)
        assert rows_of(prepared.over(given)) == rows_of(made_of(given))
    spread = spark.createDataFrame([(n, str(n)) for n in range(100)], "n INT, s STRING").repartition(3)
    assert rows_of(prepared.over(spread)) == sorted((str(n), 2.0 * n) for n in range(100))
    assert prepared.over(spread).columns == ["piece", "twice"]


def test_another_function_takes_the_place_of_its_own(spark: SparkSession, evaluators: str) -> None:
    def trebled(numbers: pd.Series) -> pd.Series:
        return numbers * 3

    prepared = PreparedFrame.of(records(spark, (1, "made")), made_of)
    in_python = pandas_udf(trebled, "double").asNondeterministic()  # type: ignore[call-overload]
    another = prepared.with_function(records(spark), in_python._unwrapped._judf.func())
    given = records(spark, (7, "a,b"), (None, "c"))
    assert rows_of(another.over(given)) == [("a", 21.0), ("b", 21.0), ("c", -1.0)]
    assert rows_of(prepared.over(given)) == rows_of(made_of(given))
    # All but the call stays, its code too, where Spark's operators say what they do apart from their child.
    kept = [old for old, new in zip(prepared.steps, another.steps, strict=True) if old is new]
    assert len(kept) == (len(prepared.steps) - 1 if evaluators == "true" else 0)
    assert rows_of(another.with_function(given, another_function(spark)).over(given))[0] == ("a", 28.0)


def another_function(spark: SparkSession) -> Any:
    def fourfold(numbers: pd.Series) -> pd.Series:
        return numbers * 4

    in_python = pandas_udf(fourfold, "double").asNondeterministic()  # type: ignore[call-overload]
    return in_python._unwrapped._judf.func()


def test_a_plan_that_is_no_row_of_operators_is_refused(spark: SparkSession) -> None:
    with pytest.raises(BrokerError, match="UnionExec': is not one of operators in a row over RDDScanExec"):
        PreparedFrame.of(records(spark, (1, "a")), lambda frame: frame.union(frame))
