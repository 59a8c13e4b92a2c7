"""Sedona on Spark as a peer: it finds what GEOS finds, where its jar is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.sedona_spark import JAR_VARIABLE, session_options

_JOIN = """
import numpy as np, pyarrow as pa, shapely
from bench import sedona_spark
from broker.runtime.spark import spark_session

random = np.random.default_rng(0)
shapes = shapely.buffer(shapely.points(random.uniform(0, 10, (50, 2))), 0.5)
places = random.uniform(0, 10, (2_000, 2))
spark = spark_session(options=sedona_spark.session_options(), connector=False)
records = spark.createDataFrame(pa.table({"longitude": places[:, 0], "latitude": places[:, 1]}))
found = sedona_spark.joined(spark, records, shapes).count()
expected = len(shapely.STRtree(shapes).query(shapely.points(places), predicate="within")[0])
assert found == expected > 0, (found, expected)
"""


@pytest.mark.skipif(not os.environ.get(JAR_VARIABLE), reason=f"{JAR_VARIABLE} names no jar of Sedona")
def test_it_finds_the_pairs_that_shapely_finds(tmp_path: Path) -> None:
    # In a process of its own, whose session has the jar.
    subprocess.run([sys.executable, "-c", _JOIN], check=True, cwd=tmp_path, timeout=200)


def test_without_a_jar_a_session_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(JAR_VARIABLE, raising=False)
    assert session_options() == {}
    monkeypatch.setenv(JAR_VARIABLE, "/jars/sedona.jar")
    assert session_options() == {"spark.jars": "/jars/sedona.jar"}
