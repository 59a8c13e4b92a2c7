"""What was read of a predicate is what Spark's own parser reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JNetworkError

from asc.predicate import Limits
from asc.predicate.expressions.spelling import read_as
from broker.errors import BrokerError, http_status
from broker.matching.parsing import _difference, differences
from tests.asc.predicate.test_spark_forms import TEXTS as FORMS
from tests.asc.predicate.test_spark_traps import TRAPS
from workloads.random_predicates import hand_picked_predicates, random_predicates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_spark_parses_every_form_as_it_was_read(spark: SparkSession) -> None:
    texts = [*FORMS, *TRAPS.strip().splitlines(), *hand_picked_predicates(), *random_predicates(11, 400)]
    pairs = [(text, read_as(text, Limits(), "UTC")) for text in texts]
    wrong = differences(spark, pairs)
    assert {texts[position]: difference for position, difference in wrong.items()} == {}


def test_names_and_comments_stand_as_they_are_written(spark: SparkSession) -> None:
    texts = ["Year(t) > 1 -- so", "UPPER(`S`) = 'a' /* b */", "a=1--", "BIGINT(x)>1L", "a.B.`c d` <=> 1.50BD"]
    assert differences(spark, [(text, read_as(text, Limits(), "UTC")) for text in texts]) == {}


@pytest.mark.parametrize(
    ("text", "misread", "said"),
    [
        ("a = 1 OR b AND c", "(a = 1 OR b) AND c", "and this was read"),
        ("a = '1'", "a = 1", "and this was read"),
        ("a = 'A'", "a = 'a'", "and this was read"),
        ("- a = 1", "-(a = 1)", "and this was read"),
        ("a NOT NULL", "a IS NOT NULL", "Spark does not parse it"),
        ("a) AND (b", "(a) AND (b)", "Spark does not parse it"),
    ],
)
def test_what_was_read_otherwise_is_found_among_others(spark: SparkSession, text: str, misread: str, said: str) -> None:
    right = ("a > 1 AND s LIKE 'x%'", "(a > 1) AND (s LIKE 'x%')")
    found = differences(spark, [right, (text, misread), right])
    assert list(found) == [1]
    assert said in found[1]


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError("refused"), Py4JNetworkError("Answer from Java side is empty")]
)
def test_a_jvm_that_is_gone_is_no_fault_of_the_predicate(error: Exception) -> None:
    class Gone:
        def parseExpression(self, text: str) -> object:  # noqa: N802
            raise error

    with pytest.raises(BrokerError, match="its JVM does not answer: try again") as caught:
        _difference(Gone(), "n > 1", "n > 1")
    assert http_status(caught.value) == 503
