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
"""The environment variable of workers that run with lower priority."""

_LESS = 10
"""The niceness of such workers. If two processes compete, the one with this niceness gets a tenth of the processor
time.
"""


@contextmanager
def own_interpreter(context: SparkContext, *, yields: bool = False) -> Iterator[None]:
    """Run functions that are created within the block in the interpreter of this process.

    It has the packages that the functions need, even if its environment is not activated. An interpreter that the user
    named (``PYSPARK_PYTHON``, ``spark.pyspark.python``) is not replaced. The default of a cluster is not either,
    because its machines may lack this interpreter. The context itself is restored afterwards.

    ``yields``: run the functions in separate workers with lower priority. These get processor time that no other
    process uses, and a tenth of the time when processes compete.
    """
    # A function takes what the context has, whichever thread makes it.
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
    """Return whether the interpreter of this process replaces the context's."""
    named = "PYSPARK_PYTHON" in os.environ or context.getConf().get("spark.pyspark.python") is not None
    is_local = (context.master or "").startswith("local")
    return context.pythonExec == _DEFAULT and not named and is_local and bool(sys.executable)
