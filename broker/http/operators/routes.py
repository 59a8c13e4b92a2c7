"""The addresses of the kinds of operators, from the modules of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from fastapi import APIRouter, Request

from broker.http.permitted import Permitted
from broker.operators.kinds import OPERATORS


def operator_routes(permitted_of: Callable[[Request], Permitted]) -> Iterator[APIRouter]:
    """Yield the addresses of each kind that has any: ``routes`` of the module that has its name, in this package."""
    for name in OPERATORS:
        module = f"{__package__}.{name}"
        if find_spec(module) is not None:
            yield import_module(module).routes(permitted_of)
