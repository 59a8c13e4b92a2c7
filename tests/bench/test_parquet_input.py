"""Tuples as a Parquet input of several files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.parquet_input import FILES, parquet_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("rows", [0, FILES - 1, 5 * FILES + 3])
def test_every_row_is_in_one_of_the_files(spark: SparkSession, tmp_path: Path, rows: int) -> None:
    folder = tmp_path / "made" / "here"
    frame = parquet_frame(spark, folder, pa.table({"n": pa.array(range(rows), pa.int32())}))
    assert sorted(row["n"] for row in frame.collect()) == list(range(rows))
    sizes = [pq.read_metadata(path).num_rows for path in folder.iterdir()]
    assert len(sizes) == FILES
    assert max(sizes) - min(sizes) <= 1
