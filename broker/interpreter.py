"""The Python interpreter of Spark's workers, and the priority of their processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext

_DEFAULT = "python3"
"""The interpreter that PySpark uses by default: the first of this name on the path, whatever packages it has."""

NICENESS = "ASC_WORKER_NICENESS"
"""The environment variable that passes the niceness to Spark's Python workers that run with lower priority."""

_LESS = 10
"""The niceness of Python workers with lower priority. If two processes compete, the process with this niceness gets a
tenth of the processor time.
"""


@contextmanager
def own_interpreter(context: SparkContext, *, yields: bool = False) -> Iterator[None]:
    """Let Spark's workers run with the interpreter of this process. This applies to the functions that are created
    within the block.

    This interpreter has the packages that the functions need, even if its environment is not activated. An interpreter
    that the user named (``PYSPARK_PYTHON``, ``spark.pyspark.python``) is not replaced. The default interpreter of a
    cluster is not replaced either, because the machines of the cluster may lack this interpreter. The settings of the
    context are restored when the block ends.

    ``yields``: run the functions in separate workers with lower priority. Such workers get the processor time that no
    other process uses, and a tenth of the time when processes compete.
    """
    # A function takes the interpreter of the context, in whichever thread it is created. So hold the lock.
    with SparkContext._lock:
        python, environment = context.pythonExec, context.environment
        if _is_replaced(context):
            context.pythonExec = sys.executable
        if yields:
            context.environment = {**environment, NICENESS: str(_LESS)}
        try:
            yield
        finally:
            context.pythonExec, context.environment = python, environment


def _is_replaced(context: SparkContext) -> bool:
    """Return whether the interpreter of this process replaces the interpreter of the context."""
    named = "PYSPARK_PYTHON" in os.environ or context.getConf().get("spark.pyspark.python") is not None
    is_local = (context.master or "").startswith("local")
    return context.pythonExec == _DEFAULT and not named and is_local and bool(sys.executable)
