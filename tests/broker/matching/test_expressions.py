"""What Spark says of expressions, on a real session."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest
from py4j.protocol import Py4JNetworkError

from asc.keys.attribute import PAttribute
from broker.errors import BrokerError, http_status
from broker.matching.expressions import analyse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SUM = PAttribute("n + 1", pa.int32(), None)
COALESCED = PAttribute("coalesce(n, 1)", pa.int32(), None)
UNKNOWN = PAttribute("gone + 1", pa.int32(), None)
OTHER_TYPE = PAttribute("n + 1L", pa.int32(), None)
NOT_PLANNED = PAttribute("regexp_replace('a', '(', 'b')", pa.string(), None)


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], "n INT, s STRING")


def test_what_spark_takes_may_be_null_or_not(frame: DataFrame) -> None:
    found = analyse(frame, [SUM, COALESCED, SUM])
    assert found.nullable == {SUM: True, COALESCED: False}
    assert not found.refusals
    assert analyse(frame, []).nullable == {}


def test_what_spark_refuses_keeps_nothing_else_from_being_taken(frame: DataFrame) -> None:
    found = analyse(frame, [SUM, UNKNOWN, OTHER_TYPE, NOT_PLANNED], plan=True)
    assert set(found.nullable) == {SUM}
    assert "cannot be resolved" in found.refusals[UNKNOWN]
    said = "is of type int64 in Spark, not int32: cast it to the type you mean"
    assert found.refusals[OTHER_TYPE] == said
    assert found.refusals[NOT_PLANNED].startswith("is refused by Spark: ")
    assert all("\n" not in reason and "SQLSTATE" not in reason for reason in found.refusals.values())


def test_what_fails_in_planning_is_found_only_there(frame: DataFrame) -> None:
    assert set(analyse(frame, [NOT_PLANNED]).nullable) == {NOT_PLANNED}


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError("refused"), Py4JNetworkError("Answer from Java side is empty")]
)
def test_a_jvm_that_is_gone_is_no_refusal(spark: SparkSession, error: Exception) -> None:
    class Gone:
        def select(self, *columns: object) -> object:
            raise error

    with pytest.raises(BrokerError, match="its JVM does not answer: try again") as caught:
        analyse(cast("DataFrame", Gone()), [SUM])
    assert http_status(caught.value) == 503
