"""Spark's Python workers import PySpark from where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyspark
import pytest
from pyspark.sql.pandas.functions import pandas_udf

from broker.runtime.python_worker import leave_archives

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_workers_know_of_no_archive(spark: SparkSession) -> None:
    def answer(numbers: pd.Series) -> pd.Series:
        places = [place for place in sys.path_importer_cache if place.endswith((".zip", ".jar"))]
        # Python itself names an archive of its library in its path that is seldom there.
        own = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
        archives = [place for place in places if not place.endswith(f"/{own}")]
        return pd.Series([f"{sys.modules['pyspark'].__file__} {archives}"] * len(numbers))

    in_python = pandas_udf(answer, "string")  # type: ignore[call-overload]
    (row,) = spark.range(1).select(in_python("id").alias("answer")).collect()
    assert row.answer.endswith("/pyspark/__init__.py []")


def test_where_nothing_is_installed_the_archives_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ["/nowhere/pyspark.zip", "/nowhere"]
    monkeypatch.setattr(sys, "path", list(path))
    monkeypatch.setattr(sys, "path_importer_cache", {})
    leave_archives()
    assert sys.path == path


def test_the_archives_of_spark_are_left_where_pyspark_is_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = str(Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip")
    monkeypatch.setattr(sys, "path", [archive, "/nowhere/spark-core.jar", "/nowhere/of-the-user.zip", *sys.path])
    monkeypatch.setitem(sys.path_importer_cache, archive, None)
    leave_archives()
    assert sys.path[0] == "/nowhere/of-the-user.zip"
    assert archive not in sys.path
    assert archive not in sys.path_importer_cache


def test_the_archives_of_the_spark_of_a_cluster_are_left_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    lib = "/opt/spark/python/lib"
    own = [f"{lib}/pyspark.zip", f"{lib}/py4j-0.10.9.9-src.zip"]
    monkeypatch.setattr(sys, "path", [*own, f"{lib}/of-the-user.zip", *sys.path])
    leave_archives()
    assert sys.path[0] == f"{lib}/of-the-user.zip"


@pytest.mark.spark
def test_a_worker_has_what_takes_long_to_import_from_the_process_it_is_forked_from(spark: SparkSession) -> None:
    def answer(numbers: pd.Series) -> pd.Series:
        import os

        text = Path(f"/proc/{os.getppid()}/maps").read_text("utf-8")
        return pd.Series(["libarrow" in text] * len(numbers))

    in_python = pandas_udf(answer, "boolean")  # type: ignore[call-overload]
    assert [row.answer for row in spark.range(1).select(in_python("id").alias("answer")).collect()] == [True]
