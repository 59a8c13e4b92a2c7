"""P-attributes computed for nothing: they pass, or fail as a batch with them would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from broker.matching.dry_run import dry_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_passes_passes_and_what_fails_fails(spark: SparkSession) -> None:
    from pyspark.sql import functions as sf

    frame = spark.range(100).select(
        sf.col("id").cast("int").alias("n"), sf.repeat(sf.col("id").cast("string"), sf.lit(100_000)).alias("s")
    )
    fine = PAttribute("n + 1", pa.int32(), error_condition="n = 3")
    unlucky = PAttribute("if(n = 77, CAST(raise_error('unlucky') AS BOOLEAN), TRUE)", pa.bool_())
    overflows = PAttribute("s RLIKE '^(?:[0-9]|x)*$'", pa.bool_())
    for passes in ([], [fine], [fine, PAttribute("upper(s)", pa.string())]):
        dry_run(frame, passes)
    for fails, said in (
        (unlucky, "unlucky"),
        (overflows, "StackOverflowError"),
        (PAttribute("gone(n)", pa.bool_()), "gone"),
    ):
        with pytest.raises(Exception, match=said):
            dry_run(frame, [fine, fails])
    # A task that overflows its stack has failed, and nothing else.
    dry_run(frame, [fine])
