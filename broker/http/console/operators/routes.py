"""The console pages of the operator kinds, collected from the modules of this package that have the names of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request

from broker.http.console.pages import Pages
from broker.http.operators.found import modules_of
from broker.http.scoped_service import ScopedService

_PACKAGE = "broker.http.console.operators"


def kind_pages(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> Iterator[APIRouter]:
    """Yield the router of each operator kind's pages. The function ``routes`` of the module with the kind's name
    returns it; a kind without a module has no pages.
    """
    for module in modules_of(_PACKAGE):
        yield module.routes(pages, permitted_of)


def kind_links() -> list[tuple[str, str]]:
    """Return the path and the title of the first page of each kind that has pages. The constant ``LINK`` of the kind's
    module contains both.
    """
    return [module.LINK for module in modules_of(_PACKAGE)]
