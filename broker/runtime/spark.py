"""The Spark session: its only factory, for the daemon, the library call, the command line and the tests."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from broker.errors import RuntimeMissingError
from broker.failure import one_line, root_cause
from broker.runtime import python_worker
from broker.runtime.cache import cache_folder, write_whole
from broker.runtime.class_archive import ClassArchive
from broker.runtime.jars import fetch_jars
from broker.runtime.java import Java, find_java
from broker.runtime.locked_jars import spark_connector
from broker.runtime.packed import packed_interpreter, packed_properties
from broker.runtime.progress import Progress
from broker.runtime.properties_file import properties_file

_TASK_THREAD, _TASK_FRAME = "Executor task launch worker for task", "Executor$TaskRunner.run"
_TEXT_PATTERN = "%d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m{nolookups}%ex{short.message}%n"
_JSON_PATTERN = (
    '{"time":"%d{yyyy-MM-dd\'T\'HH:mm:ss.SSS}{UTC}Z","level":"%p{WARN=WARNING,FATAL=CRITICAL}",'
    '"logger":"%enc{%c}{JSON}","message":"%enc{%m{nolookups}}{JSON}","error":"%enc{%ex{short.message}}{JSON}"}%n'
)
_LOG4J2 = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = PATTERN
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
logger.shell.name = org.apache.hadoop.util.Shell
logger.shell.level = error
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = error
logger.codegen.name = org.apache.spark.sql.catalyst.expressions.codegen
logger.codegen.level = off
logger.wholestage.name = org.apache.spark.sql.execution.WholeStageCodegenExec
logger.wholestage.level = error
logger.plan.name = org.apache.spark.sql.catalyst.util.SparkStringUtils
logger.plan.level = error
logger.adaptive.name = org.apache.spark.sql.execution.streaming.ResolveWriteToStream
logger.adaptive.level = error
logger.dag.name = org.apache.spark.scheduler.DAGScheduler
logger.dag.level = error
logger.kafka.name = org.apache.kafka.clients
logger.kafka.level = error
"""

_READER_BOUNDS = (
    "-Dorg.apache.avro.limits.bytes.maxLength=16777216",
    "-Dorg.apache.avro.limits.string.maxLength=16777216",
    "-Dorg.apache.avro.limits.collectionItems.maxLength=1000000",
)
"""Bounds of Avro's reader, in every JVM that decodes. The reader allocates the size that a record claims before it sees
that the record is shorter.
"""

_SEVERAL: Mapping[str, str] = {
    "spark.archives": ",",
    "spark.driver.extraJavaOptions": " ",
    "spark.executor.extraJavaOptions": " ",
    "spark.executorEnv.PYTHONPATH": ":",
    "spark.jars": ",",
}
"""The properties set here that hold several values, each with the separator between values."""

_FAILURE_LOGGERS = (
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.execution.streaming.MicroBatchExecution",
)


def spark_session(
    *,
    app_name: str = "asc-broker",
    master: str = "local[*]",
    time_zone: str = "UTC",
    driver_memory: str = "2g",
    python_archive: str | None = None,
    options: Mapping[str, str] | None = None,
    connector: bool = True,
    progress: Progress = lambda line: None,
    java_options: Sequence[str] | None = None,
    json_log: bool = False,
) -> SparkSession:
    """Return a session as the broker needs it: classic, ANSI mode off, quiet, and with the Kafka connector if
    ``connector`` is set. Workers run the interpreter of this process, unless ``PYSPARK_PYTHON`` or
    ``spark.pyspark.python`` names another.

    ``time_zone``: the session's zone, in which predicates read timestamps. ``python_archive``: the archive of the
    packages that a cluster's workers import (:mod:`broker.runtime.packed`). The workers then run an interpreter of the
    same minor version. ``options``: Spark properties that override others. For properties with several values, the
    options' values are appended. A session that already runs in this process is reused, and gets those options that can
    still be set. ``json_log``: the JVM of a new session logs one JSON object per line, with the fields of the daemon's
    log. ``java_options``: options of the JVM, in place of those that use the class archive, if it exists.

    Raise RuntimeMissingError if Java or the jars are missing, or if the JVM does not start.
    """
    java = find_java()
    jars = fetch_jars(spark_connector(), progress) if connector else []
    if java_options is None:
        java_options = class_archive(java).options
    log4j2 = _log4j2(as_json=json_log)
    properties = _properties(master, time_zone, driver_memory, jars, (log4j2, *java_options))
    interpreter = sys.executable
    if master.startswith("local"):
        # Without it the JVM looks the machine's own name up, which fails or takes seconds on some laptops.
        properties |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    elif python_archive is not None:
        properties |= packed_properties(python_archive)
        interpreter = packed_interpreter()
    given = options or {}
    properties |= {name: _joined(name, properties.get(name), value) for name, value in given.items()}
    interpreter = given.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or interpreter
    builder = SparkSession.builder.appName(app_name).master(master)
    for name, value in properties.items():
        builder = builder.config(name, value)
    _quiet_python_loggers()
    home = str(java.home_for_spark())
    with _environment(JAVA_HOME=home, PYSPARK_PYTHON=interpreter, PYSPARK_DRIVER_PYTHON=sys.executable):
        try:
            _start_jvm(properties)
            session = builder.getOrCreate()
            _leave_working_folder(session)
        except Exception as error:
            raise _not_started(error, str(java), master) from error
    return session


def _log4j2(*, as_json: bool) -> str:
    """Return the Java option that configures the JVM's log."""
    pattern, name = (_JSON_PATTERN, "spark-log4j2-json") if as_json else (_TEXT_PATTERN, "spark-log4j2")
    file = write_whole(cache_folder() / f"{name}.properties", _LOG4J2.replace("PATTERN", pattern))
    return f"-Dlog4j2.configurationFile={file.as_uri()}"


def _properties(
    master: str, time_zone: str, driver_memory: str, jars: Sequence[Path], java_options: Sequence[str]
) -> dict[str, str]:
    """Return the Spark properties that every session has, unless the options of the session replace them."""
    return {
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": " ".join(f'"{option}"' for option in (*_READER_BOUNDS, *java_options)),
        "spark.executor.extraJavaOptions": " ".join(_READER_BOUNDS),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # A stack overflow or a lack of memory fails only the task. By default, Spark would end the whole process.
        "spark.executor.killOnFatalError.depth": "0",
        "spark.python.daemon.module": python_worker.__name__,
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": time_zone,
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
        # Otherwise, Spark would replace '${env:HOME}' in a predicate by the environment variable, and ${spark...} by a
        # property.
        "spark.sql.variable.substitute": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Large batches, because PySpark's work for each column of a batch costs as much as some thousand values.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        # A worker needs seven times this memory for a batch of long texts. The default is 256 MB.
        "spark.sql.execution.arrow.maxBytesPerBatch": "32m",
        "spark.sql.shuffle.partitions": "4",
        # On a cluster, an executor is replaced if a cancelled task does not end. A local master has no executor but the
        # driver.
        "spark.task.reaper.enabled": str(not master.startswith("local")).lower(),
        "spark.task.reaper.killTimeout": "60s",
        **({"spark.jars": ",".join(map(str, jars))} if jars else {}),
    }


def _start_jvm(properties: Mapping[str, str]) -> None:
    """Start the JVM, if none runs, with properties from a file. PySpark would write them, secrets included, into the
    command line.
    """
    given = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    with properties_file(properties) as file:
        arguments = f"--properties-file {shlex.quote(str(file))} --load-spark-defaults {given}"
        with _environment(PYSPARK_SUBMIT_ARGS=arguments):
            # The JVM has read the file when it accepts the connection, so the file can be deleted.
            SparkContext._ensure_initialized()


def class_archive(java: Java) -> ClassArchive:
    """Return the archive of the classes that Spark's JVM uses under this Java."""
    import pyspark

    home = Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])
    return ClassArchive.of("spark", java, (home / "jars").glob("*.jar"))


def _joined(name: str, own: str | None, given: str) -> str:
    """Return the value of a property that both the broker and the user set.

    Join both values if the property holds several; otherwise return the user's.
    """
    return given if own is None or name not in _SEVERAL else f"{own}{_SEVERAL[name]}{given}"


def has_stopped(session: SparkSession) -> bool:
    """Return whether a session can run nothing any more: its JVM is gone, or a thread of Spark has stopped its
    context.
    """
    context: Any = session.sparkContext._jsc
    try:
        return bool(context.sc().isStopped())
    except Exception:
        return True


def running_tasks(session: SparkSession) -> set[str]:
    """Return the names of the threads that run tasks now, with the numbers of the tasks. Return none if executors are
    separate processes.
    """
    jvm: Any = session._jvm
    names = set()
    for entry in jvm.java.lang.Thread.getAllStackTraces().entrySet():
        name = str(entry.getKey().getName())
        # A pooled thread keeps the name of its last task, so the stack must show that a task runs.
        if name.startswith(_TASK_THREAD) and any(_TASK_FRAME in str(frame) for frame in entry.getValue()):
            names.add(name)
    return names


def quiet_failures(session: SparkSession) -> None:
    """Stop Spark from logging failed jobs, for callers that report a failure in one line.

    Spark would log it three times, in two hundred lines.
    """
    jvm: Any = session._jvm
    log4j = jvm.org.apache.logging.log4j
    for name in _FAILURE_LOGGERS:
        log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _leave_working_folder(session: SparkSession) -> None:
    """Delete the empty folder ``artifacts`` that Spark 4.0 creates in the working folder and leaves there.

    Spark creates it once, when a session first needs its path, and again when artifacts are added. A folder that
    existed before belongs to the user, and stays.
    """
    assert session._jvm is not None
    # The working folder of the JVM, because this process may have changed its own.
    artifacts = Path(session._jvm.java.lang.System.getProperty("user.dir")) / "artifacts"
    is_own = not artifacts.exists()
    folder = Path(session._jsparkSession.artifactManager().artifactPath().toString()).parent
    if folder.parent == artifacts:
        with suppress(OSError):
            folder.rmdir()
            if is_own:
                artifacts.rmdir()


def _quiet_python_loggers() -> None:
    """Disable the loggers with which PySpark prints ten kilobytes of JSON beside every exception of the analyser.

    The exception contains the same information.
    """
    from pyspark.logger import PySparkLogger

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        # This logger has a special class, because it logs with more arguments than others. Its level is set, because a
        # later configuration of logging (as by uvicorn) may enable disabled loggers again.
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables for the block. PySpark reads these settings only from the environment, and only at its
    start.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _not_started(error: Exception, java: str, master: str) -> RuntimeMissingError:
    remedy = f"does not start with master {master} ({one_line(root_cause(error))}); the lines above are from its JVM"
    return RuntimeMissingError("Spark on", java, remedy)
