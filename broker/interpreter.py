"""Which Python runs what the workers are given."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext

_DEFAULT = "python3"
"""What PySpark takes where nobody names an interpreter: the first of that name on the path, whatever it has
installed."""


@contextmanager
def own_interpreter(context: SparkContext) -> Iterator[None]:
    """Functions made meanwhile run in the interpreter that runs this.

    Its packages are those that they need, also where its environment is not activated. An interpreter that the user
    named (``PYSPARK_PYTHON``, ``spark.pyspark.python``) stays, and so does the default of a cluster, whose machines
    need not have this one's. The context itself is left as it was.
    """
    before = context.pythonExec
    named = "PYSPARK_PYTHON" in os.environ or context.getConf().get("spark.pyspark.python") is not None
    if before != _DEFAULT or named or not (context.master or "").startswith("local") or not sys.executable:
        yield
        return
    context.pythonExec = sys.executable
    try:
        yield
    finally:
        context.pythonExec = before
