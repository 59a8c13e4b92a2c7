"""The routes of all pages of the console, under the path ``/console``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from broker.access.access import Access
from broker.access.sessions import Sessions
from broker.http.console.dead_letters import letter_routes
from broker.http.console.login import login_routes
from broker.http.console.operators.routes import kind_pages
from broker.http.console.overview import overview_routes
from broker.http.console.pages import Pages
from broker.http.console.plan import plan_routes
from broker.http.console.queries import query_routes
from broker.http.console.tracing import trace_routes
from broker.http.guards import CONSOLE
from broker.http.scoped_service import ScopedService

_FILES = f"{CONSOLE}/static"


def console_routes(
    pages: Pages, permitted_of: Callable[[Request], ScopedService], access: Access, sessions: Sessions
) -> tuple[APIRouter, list[str]]:
    """Return the router of the pages under ``/console``, which also redirects ``/`` to the console. Return also the
    paths of the pages with the names of their parameters, for the metrics of requests.

    The OpenAPI document does not contain these pages.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    @router.get(CONSOLE)
    def home() -> Response:
        return RedirectResponse(f"{CONSOLE}/", 303)

    addresses = ["/", CONSOLE, f"{_FILES}/{{file}}"]
    for routes in (
        login_routes(pages, access, sessions),
        overview_routes(pages, permitted_of),
        query_routes(pages, permitted_of),
        plan_routes(pages, permitted_of),
        trace_routes(pages, permitted_of),
        letter_routes(pages, permitted_of),
        *kind_pages(pages, permitted_of),
    ):
        router.include_router(routes, prefix=CONSOLE)
        addresses += [f"{CONSOLE}{each.path}" for each in routes.routes if isinstance(each, Route)]
    router.routes.append(Mount(_FILES, StaticFiles(directory=Path(__file__).parent / "static")))
    return router, addresses
