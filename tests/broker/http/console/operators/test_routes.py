"""Pages of kinds: each page leads to the first one of every kind that has any."""

from __future__ import annotations

from typing import Any, cast

from fastapi import Request

from broker.http.console.operators.routes import kind_links, kind_pages
from broker.http.console.pages import Pages
from broker.http.scoped_service import ScopedService


def permitted_of(request: Request) -> ScopedService:
    raise AssertionError(f"{request.url} is not asked for")


def test_every_page_leads_to_those_of_kinds() -> None:
    links = kind_links()
    pages = Pages(logs_in=False, links=links)
    paths = {route.path for router in kind_pages(pages, permitted_of) for route in cast(Any, router.routes)}
    assert links
    assert {address for address, _ in links} <= paths
    error = {"message": "no", "caret": ""}
    text = bytes(pages.page("refused.html", {"title": "Refused", "error": error}).body).decode()
    assert all(f'<a href="/console{address}">{name}</a>' in text for address, name in links)
