"""The console pages of the operator kinds, collected from the modules that have the names of the kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request

from broker.http.console.pages import Pages
from broker.http.operators.found import modules_of
from broker.http.scoped_service import ScopedService

_PACKAGE = "broker.http.console.operators"


def kind_pages(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> Iterator[APIRouter]:
    """Yield the routes of the pages of each operator kind. The module of this package with the kind's name returns them
    by its function ``routes``; a kind without a module has no pages.
    """
    for module in modules_of(_PACKAGE):
        yield module.routes(pages, permitted_of)


def kind_links() -> list[tuple[str, str]]:
    """Return the address and the name of the first page of each kind that has pages. They are ``LINK`` in the kind's
    module.
    """
    return [module.LINK for module in modules_of(_PACKAGE)]
