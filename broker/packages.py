"""The list of asc-broker's packages, and the check that Python imports each of them from asc-broker's folder.

The packages have common names. If a folder of the same name is in the working folder, on ``PYTHONPATH`` or in another
environment, Python imports that folder instead. The resulting error appears elsewhere, and does not point to the name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec

WORKER_PACKAGES = ("asc", "broker")
"""Packages that Spark's Python workers import."""

LIBRARY_PACKAGES = (*WORKER_PACKAGES, "monitor")
"""Packages that ``import broker`` imports outside Spark's Python workers."""

PACKAGES = (*LIBRARY_PACKAGES, "cli", "workloads", "bench")
"""All packages that are installed with asc-broker; the command ``asc`` imports them."""

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - importing pathlib takes longer
_VARIABLE_OF_WORKERS = "SPARK_BUFFER_SIZE"
"""An environment variable that Spark sets for its Python workers. In a worker, the working folder is first on Python's
path.
"""


class ForeignPackageError(ImportError):
    """A package that has the name of one of asc-broker's packages but is in another folder.

    The text is one line of subject, value and remedy. The class does not derive from :class:`asc.errors.AscError`,
    because ``asc`` may be the foreign package.
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
    """Return the packages that ``import broker`` imports in this process. In a Python worker of Spark, these are fewer
    packages.
    """
    return WORKER_PACKAGES if _VARIABLE_OF_WORKERS in variables else LIBRARY_PACKAGES


def check_packages(names: Sequence[str], folder: str = _FOLDER) -> None:
    """Raise ForeignPackageError for the first package that Python would import from another folder than ``folder``.

    No package is imported. A package that ``folder`` lacks is skipped, because the archive for workers lacks some
    packages.
    """
    for name in names:
        own = PathFinder.find_spec(name, [folder])
        if own is None or own.origin is None:
            continue
        place, wanted = package_place(name), _place_of(own.origin)
        if place not in ("", wanted) and os.path.realpath(place) != os.path.realpath(wanted):
            raise ForeignPackageError(name, place, folder)


def package_place(name: str) -> str:
    """Return the folder or file from which Python imports a package. Return an empty text if no such folder or file is
    found.
    """
    try:
        spec = find_spec(name)
        origin = spec.origin if spec else None
    except ValueError:  # is imported, and not from a file
        origin = getattr(sys.modules[name], "__file__", None)
    return _place_of(origin or "")


def _place_of(origin: str) -> str:
    return os.path.dirname(origin) if os.path.basename(origin) == "__init__.py" else origin  # noqa: PTH119, PTH120
