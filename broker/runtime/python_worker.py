"""The daemon of Spark's Python workers, which replaces ``pyspark.daemon``: it does the same, but imports from files
rather than archives.

The modules that take long to import are imported once, before workers are forked.

Spark puts ``pyspark.zip`` and its own jar before the installed packages. Before each task, Spark has Python clear its
caches of the folders and archives from which it imports. Python then reads the directory of each archive again, once
for each package that was imported from the archive. That takes longer than a small task does. Spark's workers are
forked from this process, and end after a minute without work.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

_JAR, _ARCHIVES = ".jar", (".zip", ".egg")
_OF_A_CLUSTER = re.compile(r"pyspark\.zip|py4j-[\d.]+-src\.zip")
"""Spark's own archives on the hosts of a cluster, where they are not in the folder of the installed PySpark."""

_COMMON = ("pyspark.worker", "pyspark.sql.pandas.serializers", "pandas", "pyarrow.compute", "numba")
"""Modules that the broker's workers import. The only thread that they start belongs to an allocator that supports
forks.
"""


_NICENESS = "ASC_WORKER_NICENESS"
"""The variable that :mod:`broker.interpreter` sets. Importing that module would take longer than all imports here."""


def lower_priority() -> None:
    """Lower the priority of this process and of the workers that it forks, if the environment variable of
    :mod:`broker.interpreter` requests this.
    """
    os.nice(int(os.environ.get(_NICENESS, "0")))


def leave_archives() -> None:
    """Remove Spark's archives from the path if PySpark is installed beside them. Archives of others stay."""
    before = list(sys.path)
    sys.path[:] = [place for place in before if not place.endswith((_JAR, *_ARCHIVES))]
    pyspark, py4j = PathFinder.find_spec("pyspark"), PathFinder.find_spec("py4j")
    if pyspark is None or pyspark.origin is None or py4j is None:
        sys.path[:] = before
        return
    own = Path(pyspark.origin).parent
    sys.path[:] = [place for place in before if not _is_of_spark(place, own)]
    for place in [place for place in sys.path_importer_cache if _is_of_spark(place, own)]:
        del sys.path_importer_cache[place]


def _is_of_spark(place: str, own: Path) -> bool:
    if place.endswith(_JAR):
        return True
    path = Path(place)
    return place.endswith(_ARCHIVES) and (own in path.parents or _OF_A_CLUSTER.fullmatch(path.name) is not None)


if __name__ == "__main__":
    lower_priority()
    leave_archives()
    for name in _COMMON:
        import_module(name)
    # Imported objects stay, and the collector must not mark them: workers then share their pages longer.
    gc.freeze()
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call]
