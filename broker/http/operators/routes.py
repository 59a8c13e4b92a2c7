"""The API addresses of the operator kinds, collected from the modules with their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request

from broker.http.operators.found import modules_of
from broker.http.scoped_service import ScopedService

_PACKAGE = "broker.http.operators"


def operator_routes(permitted_of: Callable[[Request], ScopedService]) -> Iterator[APIRouter]:
    """Yield the addresses of each kind that has any: ``routes`` of the module that has its name, in this package."""
    for module in modules_of(_PACKAGE):
        yield module.routes(permitted_of)
