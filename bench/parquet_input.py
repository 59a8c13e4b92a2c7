"""Tuples as a Parquet input of several files, for benchmarks that run Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

FILES = 8


def parquet_frame(spark: SparkSession, folder: Path, tuples: pa.Table) -> DataFrame:
    """Write tuples into a folder, made where it is missing, as FILES files of the same size; the folder as a frame."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        first, last = (place * tuples.num_rows // FILES for place in (number, number + 1))
        pq.write_table(tuples.slice(first, last - first), folder / f"part-{number}.parquet")
    return spark.read.parquet(str(folder))
