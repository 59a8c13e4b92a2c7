"""The API addresses of the operator kinds, collected from the modules that have the names of the kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request

from broker.http.operators.found import modules_of
from broker.http.scoped_service import ScopedService

_PACKAGE = "broker.http.operators"


def operator_routes(permitted_of: Callable[[Request], ScopedService]) -> Iterator[APIRouter]:
    """Yield the routes of the addresses of each operator kind. The module of this package with the kind's name returns
    them by its function ``routes``; a kind without a module has none.
    """
    for module in modules_of(_PACKAGE):
        yield module.routes(permitted_of)
