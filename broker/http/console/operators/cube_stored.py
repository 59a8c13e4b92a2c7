"""The console page about the stored views of a cube: its lattice, and the intervals of event time for which it keeps
panes of each length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from asc.errors import AscError
from broker.errors import http_status
from broker.http.console.operators.cube_address import cube_address
from broker.http.console.operators.cube_lattice import shown_lattice
from broker.http.console.operators.cube_lattice_drawing import lattice_drawing
from broker.http.console.operators.cube_past import past_drawing, shown_past
from broker.http.console.pages import Pages, quoted_part, said
from broker.http.guards import CONSOLE
from broker.http.operators.cube_readable import ReadableCube, readable_cube
from broker.http.scoped_service import ScopedService
from broker.http.views import shown

_GAPS_SHOWN = 50
_NO_CHOICE: Mapping[str, Any] = {"proposal": None, "mark": ""}


def add_stored(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    """Add the route of the page, ``/console/cube/stored/ID``, to the router. It is not under ``/console/cubes/ID``,
    because an id may contain any text, such as ``stored/late``.
    """

    @router.get("/cube/stored/{query_id:path}")
    def show(query_id: str, permitted: ScopedService = of_caller) -> Response:
        if not query_id:
            return RedirectResponse(f"{CONSOLE}/cubes", 303)
        return stored_page(pages, permitted, readable_cube(permitted, query_id))


def stored_page(
    pages: Pages,
    permitted: ScopedService,
    cube: ReadableCube,
    choice: Mapping[str, Any] = _NO_CHOICE,
    error: AscError | None = None,
) -> Response:
    """Return the page about the stored views of a cube. ``choice``: the proposal of the optimiser that the page shows,
    and its hash (``mark_of``). ``error``: an error that the page shows, and that determines the page's HTTP status.
    """
    content: dict[str, Any] = {"lattice": None, "past": None, "shards": []}
    try:
        content = {**content, **_stored(cube)}
    except AscError as own:
        error = own
    values = {
        "title": f"Stored views of {cube.query.id}",
        "query": shown(permitted, cube.query),
        "address": cube_address(cube.query.id),
        "gaps_most": _GAPS_SHOWN,
        "may_change": permitted.may_change,
        "error": None if error is None else said(error),
        **choice,
        **content,
    }
    return pages.page("operators/cube_stored.html", values, 200 if error is None else http_status(error))


def stored_address(query_id: str) -> str:
    """Return the path of the page about the stored views of a cube.

    >>> stored_address("late")
    '/console/cube/stored/late'
    """
    return f"{CONSOLE}/cube/stored/{quoted_part(query_id)}"


def _stored(cube: ReadableCube) -> dict[str, Any]:
    """Return the values of the page, all read from one commit. Return an empty dictionary if the cube has no state yet.
    Raise AscError if the file of cubes cannot be opened.
    """
    keeper = cube.folder.keeper
    snapshot = keeper.snapshot
    state = snapshot.cubes.get(cube.id)
    if state is None:
        return {}
    asked = keeper.demands.of(state).questions_an_hour(at_s=keeper.demands.now_s)
    lattice, past = shown_lattice(state, asked), shown_past(snapshot, state)
    return {
        "lattice": lattice,
        "lattice_drawing": lattice_drawing(lattice, cube.query.id),
        "past": past,
        "past_drawing": past_drawing(past, cube.query.id),
        "shards": keeper.shards.status(state),
    }
