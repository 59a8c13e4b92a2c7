"""Spark starts from the archive of its classes. That it is made: see ``test_main``, on an empty machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from broker.runtime.archived_start import archive_classes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_session_maps_the_archive(spark: SparkSession) -> None:
    gateway: Any = spark.sparkContext._gateway
    archive = archive_classes()
    assert archive.is_there
    assert str(archive.file) in Path(f"/proc/{gateway.proc.pid}/maps").read_text("utf-8")
