"""The console pages of cubes: the list, and a page for each cube, which shows groups and measures as a pivot table and
a chart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from asc.errors import AscError, CubeError
from asc.operators.cube.asked_measure import question_examples
from asc.operators.cube.definition import HOUR_S, OP, CubeDefinition
from asc.operators.cube.json_values import instant_of
from asc.operators.cube.looked_up import usable_attributes
from broker.errors import http_status
from broker.http.console.operators.cube_address import View, cube_address
from broker.http.console.operators.cube_past import short_time
from broker.http.console.operators.cube_proposal import add_proposals
from broker.http.console.operators.cube_steps import drill_downs, out_of_slices, pages_of, roll_ups
from broker.http.console.operators.cube_stored import add_stored, stored_address
from broker.http.console.operators.cube_table import sources_of, table_of
from broker.http.console.pages import Pages, duration_text, number_text, said
from broker.http.console.pane_chart import Interval, Panes, pane_chart
from broker.http.guards import CONSOLE
from broker.http.operators.cube_lookups import described_lookup, lookups_of
from broker.http.operators.cube_readable import ReadableCube, readable_cube
from broker.http.scoped_service import ScopedService
from broker.http.views import shown
from broker.operators.cube.batch_time import PartitionState
from broker.operators.cube.look import Look
from broker.operators.cube.region import kept_levels

LINK = ("/cubes", "Cubes")

_PAGE = 50
_PARTITIONS_SHOWN = 50
"""The largest number of partitions that a page lists, and of gaps."""

_PROGRESS: Mapping[PartitionState, str] = {
    "read": "records with a time",
    "untimed": "records, none of them with a usable time",
    "silent": "silent: it holds nothing back",
    "waits": "waits: it has records that are still to be read, or Kafka did not report its end",
}


def routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of ``/console/cubes``, of the page of each cube, and of the page about the stored views of each
    cube.
    """
    router = APIRouter()
    of_caller = Depends(permitted_of)
    add_stored(router, pages, of_caller)
    add_proposals(router, pages, of_caller)
    _add_cubes(router, pages, of_caller)
    return router


def _add_cubes(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    @router.get("/cubes")
    def listed(after: str = "", permitted: ScopedService = of_caller) -> Response:
        found, more = permitted.page("", None, None, after or None, _PAGE, operator=OP)
        cubes = [{**shown(permitted, query, is_brief=True), "address": cube_address(query.id)} for query in found]
        following = found[-1].id if more else None
        lookups = [described_lookup(own) for own in lookups_of(permitted).stored.values()]
        values = {"title": LINK[1], "cubes": cubes, "next": following, "lookups": lookups}
        return pages.page("operators/cubes.html", values)

    @router.get("/cubes/{query_id:path}")
    def show(query_id: str, asked: Annotated[View, Query()], permitted: ScopedService = of_caller) -> Response:
        if not query_id:
            return RedirectResponse(f"{CONSOLE}/cubes", 303)
        cube = readable_cube(permitted, query_id)
        definition = cube.definition.cube
        view = asked.settled(definition)
        content: dict[str, Any] = {"look": None, "error": None}
        query, status = shown(permitted, cube.query), 200
        try:
            # Reading the snapshot opens the file of the cubes. If that fails, the page shows the error, because an
            # empty page would say that the cube is empty.
            state = cube.folder.keeper.snapshot.cubes.get(cube.id)
            if state is not None:
                view = asked.settled(definition, kept_levels(state))
                content = _looked(cube, view, permitted)
        except AscError as error:
            content, status = {"look": None, "error": said(error)}, http_status(error)
        look = content["look"]
        dimensions = definition.dimensions if look is None else look.layout.definition.dimensions
        values = {
            "title": f"Cube {query_id}",
            "query": query,
            "view": view,
            "form": _form(definition, view, usable_attributes(definition, lookups_of(permitted).now)),
            "slices": out_of_slices(view, query_id),
            "roll_ups": roll_ups(view, query_id, dimensions),
            "drill_downs": drill_downs(view, query_id, dimensions),
            "whole": cube_address(query_id),
            "stored": stored_address(query_id),
            "live": view.address(query_id, live=True),
            "without_slices": view.address(query_id, where=[]),
            "progress": _PROGRESS,
            "listed_most": _PARTITIONS_SHOWN,
            **content,
        }
        return pages.page("operators/cube_page.html", values, status)


def _looked(cube: ReadableCube, view: View, permitted: ScopedService) -> dict[str, Any]:
    """Return the values of a page that are computed from the cells of a cube: the pivot table, the chart and the
    sources. Raise AscError if the cube refuses the question of the view.
    """
    wanted = view.wanted()
    look = cube.folder.keeper.questions.look(cube.id, wanted, permitted.cancellation, lookups_of(permitted).now)
    body = wanted.question(look.layout.definition)
    return {
        "error": None,
        "look": look,
        "table": table_of(look, view, cube.query.id),
        "pages": pages_of(look, view, cube.query.id),
        "chart": _chart(look, cube.definition.cube),
        "sources": sources_of(look),
        "measure": look.measure.name,
        "body": json.dumps(body, ensure_ascii=False),
    }


def _form(definition: CubeDefinition, view: View, attributes: Sequence[str]) -> dict[str, Any]:
    """Return the choices in the form of a cube's page: levels of each dimension, attributes of look-ups, measures,
    functions of states, and orders. ``attributes``: the attributes of look-ups that questions to the cube may use.
    """
    names = [measure.name for measure in definition.measures]
    ordered = [*names, view.call.strip()] if view.call.strip() else names
    return {
        "dimensions": [
            {"levels": hierarchy, "chosen": next((own for own in hierarchy[::-1] if own in (view.by or [])), "")}
            for hierarchy in definition.dimensions.hierarchies
        ],
        "attributes": attributes,
        "chosen": [name for name in attributes if name in (view.by or [])],
        "levels": [*definition.dimensions.names, *attributes],
        "measures": names,
        "functions": question_examples(definition),
        "orders": [f"{name} {direction}" for name in ordered for direction in ("DESC", "ASC")],
        "grain": duration_text(definition.grain_s),
        "has_hours": definition.grain_s is not None and definition.grain_s <= HOUR_S,
    }


def _chart(look: Look, definition: CubeDefinition) -> Any:
    """Return a chart of the view's measure over the panes of its interval. Return None if the cube has no panes, or the
    answer has no series of values.
    """
    series, grain_us = look.series, definition.grain_us
    if series is None or grain_us is None:
        return None
    step_us = series.panes * grain_us
    panes = Panes(series.first * grain_us, step_us, series.points)
    measure = look.measure.name
    middle_us = panes.first_us + panes.points // 2 * step_us
    times = [short_time(at_us) for at_us in (panes.first_us, middle_us, panes.first_us + panes.points * step_us)]
    title = f"{measure}, a point for each {duration_text(step_us / 1_000_000)}"
    values = series.values.values()
    figures = f"least {number_text(min(values))}, most {number_text(max(values))}" if values else "no value"
    said_too = f"{title}, from {times[0]} to {times[2]}: {figures}"
    missing = [_interval(gap) for gap in look.facts["gaps"]]
    return pane_chart(title, said_too, panes, series.values, series.over_nothing, times=times, missing=missing)


def _interval(gap: Mapping[str, Any]) -> Interval:
    return _micros(gap["from"]), _micros(gap["to"])


def _micros(text: str | None) -> int | None:
    try:
        return None if text is None else instant_of("gap", text)
    except CubeError:
        # The time is outside of the years that a time text can have, so the gap has no bound on this side.
        return None
