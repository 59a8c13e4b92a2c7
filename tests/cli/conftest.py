"""The commands see nothing of the environment that the tests happen to run in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLES = ("ASC_TOKEN", "ASC_SERVER", "ASC_DEBUG")


@pytest.fixture(autouse=True, scope="module")
def no_variables_of_asc() -> Iterator[None]:
    """Of the scope of the daemon that the tests share, so that it starts without them as well."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def settings_of_spark(spark: SparkSession) -> Iterator[None]:
    """The command sets up the session that the tests share: it is put back as it was."""
    names = ("spark.sql.adaptive.enabled", "spark.sql.files.maxPartitionBytes")
    before = {name: spark.conf.get(name) for name in names}
    yield
    for name, value in before.items():
        if value is not None:
            spark.conf.set(name, value)
