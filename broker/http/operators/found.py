"""The import of the modules of operator kinds, whose names are derived from the names of the kinds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from broker.operators.kinds import OPERATORS


def modules_of(package: str, suffix: str = "") -> Iterator[Any]:
    """Yield the modules of the operator kinds in a package, in the order of the kinds. The name of a module is the name
    of the kind, followed by ``suffix``. A kind without such a module is skipped.
    """
    for name in OPERATORS:
        module = f"{package}.{name}{suffix}"
        if find_spec(module) is not None:
            yield import_module(module)
