"""The search for the modules of operator kinds by their names."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from broker.operators.kinds import OPERATORS


def modules_of(package: str, suffix: str = "") -> Iterator[Any]:
    """Yield modules of a package, in the order of the operator kinds. The name of each module is the name of a kind,
    followed by the suffix. A kind without such a module is skipped.
    """
    for name in OPERATORS:
        module = f"{package}.{name}{suffix}"
        if find_spec(module) is not None:
            yield import_module(module)
