"""Sessions of Spark whose time zone, ANSI mode and parser a module may set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> SparkSession:
    """A session of the module's own: its settings are nobody else's."""
    return spark.newSession()
