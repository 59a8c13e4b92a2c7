"""Sessions of Spark whose time zone, ANSI mode and parser a module may set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.asc.predicate.differing import Differing, differing_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> SparkSession:
    """A session of the module's own: its settings are nobody else's."""
    return spark.newSession()


@pytest.fixture
def differing(spark: SparkSession) -> Differing:
    """The predicates that accept other rows than Spark's filter, with those rows, for rows of a DDL."""
    return differing_of(spark)
