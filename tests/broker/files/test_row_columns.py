"""The columns of rows of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.files.row_columns import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_column_name_is_quoted(spark: SparkSession) -> None:
    name = "a`b.c d"
    assert spark.sql("SELECT 1").toDF(name).selectExpr(quoted(name)).columns == [name]
