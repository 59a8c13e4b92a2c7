"""Root causes of Spark and Kafka errors, and texts of errors in one line.

For an error of the JVM, its causes and its text are read from the JVM. If the JVM is gone, the functions here do not
fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from broker.errors import BrokerError

_WRAPPINGS = ("org.apache.spark.", "java.util.concurrent.ExecutionException", "java.lang.RuntimeException")

_WORKER_DIED = ("Python worker exited unexpectedly", "occurred while reading the port number from")
_PYTHON_RUNNERS = ("org.apache.spark.api.python.", "org.apache.spark.sql.execution.python.")
_CARRIERS = ("java.", "sun.", "jdk.", "scala.", "org.apache.arrow.")
"""The prefixes of general Java packages that transfer bytes between a task and its Python worker. These packages belong
neither to the task nor to the worker.
"""

_KAFKA = "org.apache.kafka."
_KAFKA_ERRORS = "org.apache.kafka.common.errors."


def is_of_kafka(error: BaseException) -> bool:
    """Return whether a Spark error originates in Kafka's client, or in records that Kafka has deleted."""
    cause = getattr(error, "java_exception", None)
    last = None
    try:
        while cause is not None:
            if cause.getClass().getName().startswith((_KAFKA, "org.apache.spark.sql.kafka010.")):
                return True
            last, cause = cause, cause.getCause()
        # If Spark could not serialise the error of a task, only its text has arrived.
        return last is not None and _KAFKA_ERRORS in str(last.getMessage())
    except Exception:
        return False


def is_of_dead_worker(error: BaseException) -> bool:
    """Return whether a Spark error originates in a task's connection to a Python worker that is gone."""
    cause = getattr(error, "java_exception", None)
    try:
        while cause is not None:
            message = str(cause.getMessage())
            if any(said in message for said in _WORKER_DIED) or (_is_io(cause) and _is_of_python_runner(cause)):
                return True
            cause = cause.getCause()
    except Exception:
        # The JVM is gone as well.
        return False
    return False


def _is_io(cause: Any) -> bool:
    """Return whether a Java exception is an IOException, for example because a pipe or socket is broken, reset,
    refused, closed or at its end.
    """
    kind = cause.getClass()
    while kind is not None and kind.getName() != "java.io.IOException":
        kind = kind.getSuperclass()
    return kind is not None


def _is_of_python_runner(cause: Any) -> bool:
    places = (str(frame.getClassName()) for frame in cause.getStackTrace())
    return next((one for one in places if not one.startswith(_CARRIERS)), "").startswith(_PYTHON_RUNNERS)


def check_jvm(error: BaseException) -> None:
    """Raise BrokerError if an error means that the JVM is gone. Do nothing if the request to the JVM is the cause."""
    from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]

    if isinstance(error, (OSError, Py4JNetworkError)):
        raise BrokerError("Spark", one_line(error), "its JVM does not answer: try again in a moment") from error


def root_cause(error: BaseException) -> object:
    """Return the root cause of an error of the JVM, as text. It is the first cause that does not merely wrap another
    cause.

    Return the error itself if it is not an error of the JVM, or if the JVM is gone.
    """
    cause = getattr(error, "java_exception", None)
    if cause is None:
        return error
    try:
        while cause.getClass().getName().startswith(_WRAPPINGS) and cause.getCause() is not None:
            cause = cause.getCause()
        return cause.toString()
    except Exception:
        return error


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add ``path`` to each OSError that names no file and is raised while the file is written. For example, the error
    of a full disk names no file.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def text_of(error: object) -> str:
    """Return the whole text of an error. If the error came from a JVM that is gone, return the kind of the error and
    say that the JVM is gone.
    """
    try:
        return str(error)
    except Exception:
        return f"{type(error).__name__}: the JVM that it came from is gone"


def one_line(error: object, chars: int = 300) -> str:
    r"""Return the first line of an error, without Spark's state code, cut to a length that fits a log line.

    >>> one_line(ValueError("[NO_SUCH_COLUMN] There is no gone. SQLSTATE: 42703; line 1 pos 0;\nProject ['gone]"))
    '[NO_SUCH_COLUMN] There is no gone.'
    """
    lines = text_of(error).strip().splitlines()
    return (lines[0].partition(" SQLSTATE")[0] if lines else type(error).__name__)[:chars]
