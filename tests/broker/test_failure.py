"""Errors of Spark and Kafka in one line, and what lies behind those of a JVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError

from broker.failure import is_of_dead_worker, naming, one_line, root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError(), "ValueError"),
        (ValueError(" \n\t"), "ValueError"),
        (ValueError("\n  first \nsecond"), "first "),
        (ValueError("bad SQLSTATE: 1"), "bad"),
        ("java.io.IOException: gone\n\tat A.b(A.java:1)", "java.io.IOException: gone"),
        (KeyError("n"), "'n'"),
    ],
)
def test_the_first_line_is_what_is_said(error: object, line: str) -> None:
    assert one_line(error) == line


@settings(max_examples=50)
@given(st.text(), st.integers(1, 40))
def test_it_is_one_line_of_bounded_length_and_never_empty_for_an_exception(text: str, chars: int) -> None:
    line = one_line(RuntimeError(text), chars)
    assert len(line.splitlines()) == 1
    assert len(line) <= chars


def test_an_error_of_python_is_its_own_cause() -> None:
    error = ValueError("outer")
    error.__cause__ = OSError("inner")
    assert root_cause(error) is error


def test_a_full_disk_is_told_with_the_file() -> None:
    full = Path("/dev/full")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"), naming(full):
        full.write_text("x", "utf-8")
    with pytest.raises(FileNotFoundError, match="'/no/file'"), naming(full):
        Path("/no/file").read_bytes()


def thrown(spark: SparkSession, error: Any) -> Py4JJavaError:
    """An exception of Java as it arrives here, in the wrapping of whoever waited for it."""
    future = spark._jvm.java.util.concurrent.CompletableFuture()  # type: ignore[union-attr]
    future.completeExceptionally(error)
    with pytest.raises(Py4JJavaError) as caught:
        future.get()
    return caught.value


def test_wrappings_are_taken_off_as_long_as_something_is_in_them(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    gone = jvm.java.io.IOException("gone", jvm.java.io.IOException("deeper"))
    wrapped = jvm.org.apache.spark.SparkException("job aborted", jvm.java.lang.RuntimeException("again", gone))
    assert root_cause(thrown(spark, wrapped)) == "java.io.IOException: gone"
    assert root_cause(thrown(spark, gone)) == "java.io.IOException: gone"
    alone = jvm.java.lang.RuntimeException("alone")
    assert root_cause(thrown(spark, alone)) == "java.lang.RuntimeException: alone"


def test_a_dead_worker_is_known_by_where_its_task_failed(spark: SparkSession) -> None:
    jvm: Any = spark._jvm

    def failed(kind: str, *places: str) -> bool:
        error = getattr(jvm.java, kind)("Stream closed")
        trace = spark._sc._gateway.new_array(jvm.java.lang.StackTraceElement, len(places))  # type: ignore[union-attr]
        for number, place in enumerate(places):
            trace[number] = jvm.java.lang.StackTraceElement(place, "m", "F", 1)
        error.setStackTrace(trace)
        return is_of_dead_worker(thrown(spark, jvm.org.apache.spark.SparkException("Job aborted", error)))

    runner = "org.apache.spark.api.python.BasePythonRunner$Writer"
    stdout, arrow = "org.apache.spark.api.python.PythonWorkerFactory", "org.apache.spark.sql.execution.python.Reader"
    assert failed("io.IOException", "java.io.OutputStream", "scala.Option", stdout)
    assert failed("net.SocketException", "sun.nio.ch.IOUtil", runner)
    assert failed("io.EOFException", "java.io.DataInputStream", "org.apache.arrow.vector.ipc.ReadChannel", arrow)
    # A task reads its records where it writes to its worker: what fails of those is no worker.
    assert not failed("io.IOException", "java.net.Socket", "org.apache.kafka.common.network.Selector", runner)
    assert not failed("lang.IllegalStateException", "java.lang.Thread", runner)
    assert not is_of_dead_worker(BrokenPipeError("of this process"))


@pytest.mark.spark
def test_a_worker_that_dies_is_one_and_a_function_that_fails_is_none(spark: SparkSession) -> None:
    def met(last: str) -> BaseException:
        def function(batches: Any) -> Any:
            yield from batches
            exec(last)

        with pytest.raises(Exception) as caught:  # noqa: PT011
            spark.range(1, numPartitions=1).mapInArrow(function, "id LONG").collect()
        return caught.value

    assert is_of_dead_worker(met("import os; os._exit(1)"))
    assert is_of_dead_worker(met("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert not is_of_dead_worker(met("raise ValueError('Broken pipe')"))


_GONE = """
import os
from broker.failure import is_of_kafka, one_line, root_cause, text_of
from broker.runtime.spark import spark_session

spark = spark_session(master="local[1]", connector=False)
future = spark._jvm.java.util.concurrent.CompletableFuture()
future.completeExceptionally(spark._jvm.java.io.IOException("gone"))
met = []
for code in ("future.get()", 'spark.sql("SELECT no_such")'):
    try:
        eval(code)
    except Exception as error:
        met.append(error)
jvm = spark.sparkContext._gateway.proc
jvm.kill()
jvm.wait()
for error in met:
    print(is_of_kafka(error), one_line(root_cause(error)) == one_line(error), one_line(error), bool(text_of(error)))
os._exit(0)
"""


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.slow
def test_an_error_whose_jvm_is_gone_is_told_all_the_same() -> None:
    run = subprocess.run([sys.executable, "-c", _GONE], capture_output=True, text=True, check=False)
    of_java, of_spark = run.stdout.splitlines()
    assert of_java == "False True Py4JJavaError: the JVM that it came from is gone True", run.stderr
    assert of_spark.startswith("False True ")
    assert "Traceback" not in run.stderr
