"""``python -m broker.runtime``: Java, jars and compiled kernels, so that the first start needs nothing more."""

from __future__ import annotations

import sys

from asc.errors import AscError
from broker.runtime.jars import KAFKA_BROKER, fetch_jars, spark_connector
from broker.runtime.java import find_java
from broker.runtime.warm_up import compile_kernels


def main() -> int:
    """Prepare everything and say what was found; 1 where something is missing."""
    try:
        java = find_java()
        print(java, flush=True)
        for jar_set in (spark_connector(), KAFKA_BROKER):
            jars = fetch_jars(jar_set, java, progress=lambda line: print(line, file=sys.stderr, flush=True))
            print(f"{len(jars)} jars of {jar_set} in {jars[0].parent}", flush=True)
        compile_kernels()
        print("kernels compiled", flush=True)
    except AscError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
