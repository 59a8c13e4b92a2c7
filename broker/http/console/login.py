"""Login to the console with a token, which begins a session, and logout."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from broker.access.access import Access
from broker.access.sessions import Sessions
from broker.http.console.pages import Form, Pages
from broker.http.guards import CONSOLE, cookie_name

_HOME = f"{CONSOLE}/"


def login_routes(pages: Pages, access: Access, sessions: Sessions) -> APIRouter:
    """Return the routes of ``/console/login`` and ``/console/logout``."""
    router = APIRouter()

    @router.get("/login")
    def ask(wanted: Annotated[str, Query(alias="next")] = "") -> Response:
        if not access.asks_for_token:
            return RedirectResponse(_HOME, 303)
        return pages.page("login.html", {"title": "Log in", "next": _address_in_console(wanted), "error": None})

    @router.post("/login")
    def begin(request: Request, form: Form) -> Response:
        name = sessions.begin(form.get("token", "").strip())
        wanted = _address_in_console(form.get("next", ""))
        if name is None:
            error = {"message": "token: is wrong, or was taken back: ask who runs the broker for one", "caret": ""}
            return pages.page("login.html", {"title": "Log in", "next": wanted, "error": error}, 401)
        answer = RedirectResponse(wanted, 303)
        is_tls = request.url.scheme == "https"
        # The cookie has no expiry time, so the browser deletes it at its end. The daemon ends sessions that send no
        # requests.
        answer.set_cookie(cookie_name(request), name, httponly=True, samesite="strict", secure=is_tls)
        return answer

    @router.post("/logout")
    def end(request: Request) -> Response:
        sessions.end(request.cookies.get(cookie_name(request), ""))
        answer = RedirectResponse(f"{CONSOLE}/login", 303)
        answer.delete_cookie(cookie_name(request))
        return answer

    return router


def _address_in_console(wanted: str) -> str:
    """Return the address of the page that the browser shows after the login. If ``wanted`` is no page of the console,
    return the console's first page, so that a link cannot lead to another site.

    >>> [_address_in_console(address) for address in ("/console/queries?text=late", "//elsewhere/", "https://elsewhere/")]
    ['/console/queries?text=late', '/console/', '/console/']
    """
    is_in_console = wanted.startswith(_HOME) and ".." not in wanted and "\\" not in wanted and wanted.isprintable()
    return wanted if is_in_console else _HOME
