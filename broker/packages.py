"""The packages of asc-broker, listed once, and the check that Python finds each of them where asc-broker is.

Their names are common ones. A folder of the same name in the working folder, on ``PYTHONPATH`` or in another
environment is imported instead. It fails somewhere else for a reason that nobody connects with its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec

WORKER_PACKAGES = ("asc", "broker")
"""Imported by Spark's Python workers."""

LIBRARY_PACKAGES = (*WORKER_PACKAGES, "monitor")
"""Imported by ``import broker``."""

PACKAGES = (*LIBRARY_PACKAGES, "cli", "workloads", "bench")
"""Installed with asc-broker; imported by the command ``asc``."""

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - importing pathlib takes longer
_VARIABLE_OF_WORKERS = "SPARK_BUFFER_SIZE"
"""Set by Spark for its Python workers, which have the working folder before everything else on their path."""


class ForeignPackageError(ImportError):
    """A package that has the name of one of asc-broker's and lies elsewhere: subject, value and remedy in one line.

    It does not derive from :class:`asc.errors.AscError`, for ``asc`` may be that package.
    """

    def __init__(self, name: str, place: str, folder: str) -> None:
        self.subject = "package"
        self.value = name
        self.remedy = (
            f"{place} is not asc-broker's, which is in {folder}; install asc-broker into an environment of its own, or "
            f"rename that {'file' if place.endswith('.py') else 'folder'}"
        )
        super().__init__(f"{self.subject} {name!r}: {self.remedy}", name=name, path=place)


def library_packages(variables: Mapping[str, str] = os.environ) -> Sequence[str]:
    """Return the packages that this process imports for ``import broker``: fewer in a worker of Spark's."""
    return WORKER_PACKAGES if _VARIABLE_OF_WORKERS in variables else LIBRARY_PACKAGES


def check_packages(names: Sequence[str], folder: str = _FOLDER) -> None:
    """Raise ForeignPackageError for the first package that Python would import from elsewhere than this folder.

    Nothing is imported. A package that the folder lacks is passed over: the archive for workers has not all of them.
    """
    for name in names:
        own = PathFinder.find_spec(name, [folder])
        if own is None or own.origin is None:
            continue
        place, wanted = package_place(name), _place_of(own.origin)
        if place not in ("", wanted) and os.path.realpath(place) != os.path.realpath(wanted):
            raise ForeignPackageError(name, place, folder)


def package_place(name: str) -> str:
    """Return the folder or file that Python imports a package from; empty where there is none."""
    try:
        spec = find_spec(name)
        origin = spec.origin if spec else None
    except ValueError:  # is imported, and not from a file
        origin = getattr(sys.modules[name], "__file__", None)
    return _place_of(origin or "")


def _place_of(origin: str) -> str:
    return os.path.dirname(origin) if os.path.basename(origin) == "__init__.py" else origin  # noqa: PTH119, PTH120
