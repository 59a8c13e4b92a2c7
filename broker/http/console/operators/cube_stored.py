"""The console page of what a cube stores: its lattice, and which grain and levels it keeps from when to when."""

from __future__ import annotations

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
from broker.http.operators.cube import ReadableCube, readable_cube
from broker.http.scoped_service import ScopedService
from broker.http.views import shown

_GAPS_SHOWN = 50


def add_stored(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    """Add the routes under ``/console/cube``. Pages of cubes have another prefix, because an id may be any text."""

    @router.get("/cube/stored/{query_id:path}")
    def show(query_id: str, permitted: ScopedService = of_caller) -> Response:
        if not query_id:
            return RedirectResponse(f"{CONSOLE}/cubes", 303)
        cube = readable_cube(permitted, query_id)
        content: dict[str, Any] = {"lattice": None, "past": None, "error": None}
        status = 200
        try:
            content = {**content, **_stored(cube)}
        except AscError as error:
            content, status = {**content, "error": said(error)}, http_status(error)
        values = {
            "title": f"Stored views of {query_id}",
            "query": shown(permitted, cube.query),
            "address": cube_address(query_id),
            "gaps_most": _GAPS_SHOWN,
            **content,
        }
        return pages.page("operators/cube_stored.html", values, status)


def stored_address(query_id: str) -> str:
    """Return the address of the page of what a cube stores.

    >>> stored_address("late")
    '/console/cube/stored/late'
    """
    return f"{CONSOLE}/cube/stored/{quoted_part(query_id)}"


def _stored(cube: ReadableCube) -> dict[str, Any]:
    """Return the values of the page, all from one commit. Return none if nothing of the cube is kept yet. Raise
    AscError if the file of cubes cannot be opened.
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
    }
