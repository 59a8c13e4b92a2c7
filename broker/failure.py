"""What lies behind an error that Spark reports."""

from __future__ import annotations

_WRAPPINGS = ("org.apache.spark.", "java.util.concurrent.ExecutionException", "java.lang.RuntimeException")


def root_cause(error: BaseException) -> object:
    """What began it: of the JVM's chain of causes the first that is not Spark's own wrapping, else the error itself."""
    cause = getattr(error, "java_exception", None)
    if cause is None:
        return error
    while cause.getClass().getName().startswith(_WRAPPINGS) and cause.getCause() is not None:
        cause = cause.getCause()
    return cause.toString()
