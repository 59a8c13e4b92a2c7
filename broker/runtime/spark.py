"""The Spark session: one way to make it, for the daemon, the library call, the command line and the tests."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from broker.errors import RuntimeMissingError
from broker.runtime import python_worker
from broker.runtime.cache import cache_folder, write_whole
from broker.runtime.jars import fetch_jars
from broker.runtime.java import find_java
from broker.runtime.locked_jars import spark_connector
from broker.runtime.progress import Progress

_LOG4J2 = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m{nolookups}%n%ex{short.message}
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
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

_TELL_OF_FAILURES = (
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
    options: Mapping[str, str] | None = None,
    connector: bool = True,
    progress: Progress = lambda line: None,
) -> SparkSession:
    """A session as the broker needs it: classic, ANSI mode off, quiet, with the Kafka connector where it is asked for.
    Workers run the interpreter that runs this, unless ``PYSPARK_PYTHON`` names another.

    ``time_zone`` is the session's, by which predicates read timestamps. ``options`` are Spark properties that come last
    and win. A session that is already running in this process is taken, and given those options that can still be set.

    Raises RuntimeMissingError where Java or the jars are missing, or the JVM does not start.
    """
    java = find_java()
    jars = fetch_jars(spark_connector(), progress) if connector else []
    log4j2 = write_whole(cache_folder() / "spark-log4j2.properties", _LOG4J2)
    properties = {
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log4j2.as_uri()}",
        "spark.driver.bindAddress": "127.0.0.1" if master.startswith("local") else "0.0.0.0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # A task that overflows its stack or has no memory left is one that failed. Spark would end the whole process.
        "spark.executor.killOnFatalError.depth": "0",
        "spark.python.daemon.module": python_worker.__name__,
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": time_zone,
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # PySpark's work for a column of a batch costs as much as that for some thousand values.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.shuffle.partitions": "4",
        **({"spark.jars": ",".join(map(str, jars))} if jars else {}),
        **(options or {}),
    }
    if master.startswith("local"):
        # Without it the JVM looks the machine's own name up, which fails or takes seconds on some laptops.
        properties.setdefault("spark.driver.host", "127.0.0.1")
    builder = SparkSession.builder.appName(app_name).master(master)
    for name, value in properties.items():
        builder = builder.config(name, value)
    _quiet_python_loggers()
    interpreter = os.environ.get("PYSPARK_PYTHON") or sys.executable
    with _environment(JAVA_HOME=str(java.home), PYSPARK_PYTHON=interpreter, PYSPARK_DRIVER_PYTHON=sys.executable):
        try:
            session = builder.getOrCreate()
            _leave_working_folder(session)
        except Exception as error:
            raise _not_started(error, str(java)) from error
    return session


def has_stopped(session: SparkSession) -> bool:
    """Whether a session runs nothing any more: its JVM is gone, or a thread of Spark ended the context in it."""
    context: Any = session.sparkContext._jsc
    try:
        return bool(context.sc().isStopped())
    except Exception:
        return True


def quiet_failures(session: SparkSession) -> None:
    """Have Spark log nothing of jobs that fail, where whoever runs them says it in one line.

    Spark would tell it thrice, in two hundred lines.
    """
    jvm: Any = session._jvm
    log4j = jvm.org.apache.logging.log4j
    for name in _TELL_OF_FAILURES:
        log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _leave_working_folder(session: SparkSession) -> None:
    """Take away the empty folder ``artifacts`` that Spark 4.0 makes in the working folder, and leaves there.

    It makes it once, when a session first needs to know where it is; where artifacts are added, it makes it again. One
    that was there before stays, for it is the user's.
    """
    assert session._jvm is not None
    # The JVM's: that of this process may be another one by now.
    artifacts = Path(session._jvm.java.lang.System.getProperty("user.dir")) / "artifacts"
    is_own = not artifacts.exists()
    folder = Path(session._jsparkSession.artifactManager().artifactPath().toString()).parent
    if folder.parent == artifacts:
        with suppress(OSError):
            folder.rmdir()
            if is_own:
                artifacts.rmdir()


def _quiet_python_loggers() -> None:
    """PySpark prints a JSON line of ten kilobytes beside every exception of the analyser; the exception says it all."""
    from pyspark.logger import PySparkLogger

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        # Of its own class, for it logs with arguments that no other takes; by the level, for whoever configures logging
        # later (uvicorn does) may enable again what was disabled.
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """The variables PySpark reads only from the environment, and only while it starts."""
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


def _not_started(error: Exception, java: str) -> RuntimeMissingError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return RuntimeMissingError("Spark on", java, f"does not start ({reason}); the lines above are from its JVM")
