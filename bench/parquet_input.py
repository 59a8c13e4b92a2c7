"""A function that writes tuples to several Parquet files, which benchmarks read with Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

FILES = 8


def parquet_frame(spark: SparkSession, folder: Path, tuples: pa.Table) -> DataFrame:
    """Write tuples into a folder as FILES Parquet files of the same size, and return the folder as a DataFrame. Create
    the folder if it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        first, last = (place * tuples.num_rows // FILES for place in (number, number + 1))
        pq.write_table(tuples.slice(first, last - first), folder / f"part-{number}.parquet")
    return spark.read.parquet(str(folder))
