"""``python -m broker.runtime``: prepare Java, jars, kernels and classes, so that the first start has nothing to fetch.

``python -m broker.runtime lock``, for developers, generates ``jars.lock`` again.
"""

from __future__ import annotations

import argparse
import sys

from asc.errors import AscError
from broker.runtime.locked_jars import LOCK_FILE
from broker.runtime.prepare import prepare
from broker.runtime.progress import print_to_stderr


def main() -> int:
    """Prepare everything, and print what was found. Return 1 if something is missing."""
    parser = argparse.ArgumentParser(prog="python -m broker.runtime", description="Prepare what the broker runs on.")
    parser.add_argument("task", nargs="?", choices=("prepare", "lock"), default="prepare")
    task = parser.parse_args().task
    try:
        _lock() if task == "lock" else _prepare()
    except AscError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _prepare() -> None:
    prepare(lambda line: print(line, flush=True), print_to_stderr)


def _lock() -> None:
    from broker.runtime.lock import make_lock

    for jar_set in make_lock(progress=print_to_stderr):
        print(f"{len(jar_set.jars)} jars of {jar_set} in {LOCK_FILE}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
