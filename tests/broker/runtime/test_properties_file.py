"""Properties on their way to Java."""

from __future__ import annotations

import stat
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import pytest

from broker.runtime.properties_file import properties_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES = {
    "spark.plain": "1g",
    "spark.odd : =name#!": "a",
    "spark.escapes": "\\ \\u0041 \t = : # ! \n last",
    "spark.space": "  around  ",
    "spark.characters": "ü 東 😀",
    "spark.empty": "",
}


def test_only_the_user_reads_it_and_only_for_a_while() -> None:
    with properties_file(VALUES) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.is_relative_to(gettempdir())
    assert not path.parent.exists()


@pytest.mark.spark
def test_java_reads_what_was_written(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    with properties_file(VALUES) as path:
        read = jvm.java.util.Properties()
        with_bytes = jvm.java.io.ByteArrayInputStream(Path(path).read_bytes())
        read.load(with_bytes)
    assert {name: read.getProperty(name) for name in read.stringPropertyNames()} == VALUES
