"""Which Python the workers run: the one that runs the driver, unless the user named another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pyspark.sql.pandas.functions import pandas_udf

from broker.interpreter import NICENESS, own_interpreter
from broker.runtime import python_worker
from broker.runtime.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

_MATCH = """
import broker
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = spark.range(5).withColumnRenamed("id", "n")
print([tuple(row) for row in broker.match(rows, {"big": "n > 3"}).collect()], spark.sparkContext.pythonExec)
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_an_environment_that_is_not_activated_is_enough(tmp_path: Path) -> None:
    """The first ``python3`` of the path is one that cannot run a worker, and nothing names another."""
    stranger = tmp_path / "python3"
    stranger.write_text("#!/bin/sh\necho 'a stranger' >&2\nexit 3\n", encoding="utf-8")
    stranger.chmod(0o755)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    path = f"{tmp_path}{os.pathsep}{os.defpath}"
    variables.update(PATH=path, JAVA_HOME=str(find_java().home), PYTHONPATH=os.pathsep.join(sys.path))
    run = subprocess.run(
        [sys.executable, "-c", _MATCH], capture_output=True, text=True, check=False, cwd=tmp_path, env=variables
    )
    assert run.stdout == "[(4, ['big'])] python3\n", run.stderr[-2000:]


def test_an_interpreter_that_was_named_stays(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    context = spark.sparkContext
    with own_interpreter(context):
        assert context.pythonExec == sys.executable  # the session named it
    monkeypatch.setattr(context, "pythonExec", "python3")
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with own_interpreter(context):
        assert context.pythonExec == sys.executable
    assert context.pythonExec == "python3"
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    with own_interpreter(context):
        assert context.pythonExec == "python3"


def test_a_cluster_keeps_its_own(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    context = spark.sparkContext
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(context, "pythonExec", "python3")
    monkeypatch.setattr(context, "master", "spark://host:7077")
    with own_interpreter(context):
        assert context.pythonExec == "python3"


def test_functions_that_yield_run_in_workers_of_lower_priority(spark: SparkSession) -> None:
    def niceness_of(numbers: pd.Series) -> pd.Series:
        return pd.Series([os.getpriority(os.PRIO_PROCESS, 0)] * len(numbers))

    context, found = spark.sparkContext, []
    before = dict(context.environment)
    for yields in (True, False):
        with own_interpreter(context, yields=yields):
            niceness = pandas_udf(niceness_of, "int")("id")  # type: ignore[call-overload]
        (row,) = spark.range(1).select(niceness.alias("niceness")).collect()
        found.append(row.niceness)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert found == [min(19, own + 10), own]
    assert context.environment == before
    assert python_worker._NICENESS == NICENESS
