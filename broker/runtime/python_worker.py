"""What Spark starts for its Python workers in place of ``pyspark.daemon``: the same, from files rather than archives.

Spark puts ``pyspark.zip`` and its own jar before the installed packages, and has Python forget before each task what it
knows of the places that it imports from: it then reads the directory of each archive anew, once for each package that
was imported from it, which takes longer than a small task does.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

_ARCHIVES = (".zip", ".jar", ".egg")


def leave_archives() -> None:
    """Take the archives from the path, where PySpark is installed beside them."""
    before = list(sys.path)
    sys.path[:] = [place for place in before if not place.endswith(_ARCHIVES)]
    if PathFinder.find_spec("pyspark") is None or PathFinder.find_spec("py4j") is None:
        sys.path[:] = before
        return
    for place in [place for place in sys.path_importer_cache if place.endswith(_ARCHIVES)]:
        del sys.path_importer_cache[place]


if __name__ == "__main__":
    leave_archives()
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call]
