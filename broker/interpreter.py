"""The Python that runs the functions of workers, and its priority."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext

_DEFAULT = "python3"
"""The interpreter of PySpark where nobody names one: the first of that name on the path, whatever it has installed."""

NICENESS = "ASC_WORKER_NICENESS"
"""The variable of workers whose functions yield to those of others."""

_LESS = 10
"""Of the processor time that two processes want, one with this niceness gets a tenth."""


@contextmanager
def own_interpreter(context: SparkContext, *, yields: bool = False) -> Iterator[None]:
    """Run functions that are made within the block in the interpreter that runs this.

    Its packages are those that they need, also where its environment is not activated. An interpreter that the user
    named (``PYSPARK_PYTHON``, ``spark.pyspark.python``) stays, and so does the default of a cluster, whose machines
    need not have this one's. The context itself is left as it was.

    ``yields``: they run in workers of their own, which get processor time that no other process wants, and a tenth of
    the rest.
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
    """Return whether this interpreter takes the place of the context's."""
    named = "PYSPARK_PYTHON" in os.environ or context.getConf().get("spark.pyspark.python") is not None
    is_local = (context.master or "").startswith("local")
    return context.pythonExec == _DEFAULT and not named and is_local and bool(sys.executable)
