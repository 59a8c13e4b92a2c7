"""The API endpoints of the operator kinds, collected from the modules of this package that have the names of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request

from broker.http.operators.found import modules_of
from broker.http.scoped_service import ScopedService

_PACKAGE = "broker.http.operators"


def operator_routes(permitted_of: Callable[[Request], ScopedService]) -> Iterator[APIRouter]:
    """Yield the router of each operator kind's endpoints. The function ``routes`` of the module with the kind's name
    returns it; a kind without a module has no further endpoints.
    """
    for module in modules_of(_PACKAGE):
        yield module.routes(permitted_of)
