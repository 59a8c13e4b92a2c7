"""The list of a cube's views for the API: the stored views, and views that may be worth storing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from asc.operators.cube.candidates import candidates
from asc.operators.cube.json_values import bound_text
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View
from asc.operators.cube.view_estimate import Pause, ViewEstimate, unpaused
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.held_cells import held_cells
from broker.operators.cube.lattice_views import answering_cells, most_asked, stored_views

ROWS_SHOWN = 100
"""The most views in the list that are not stored. Stored views are always in the list."""
_COMPARED = 400
"""The most views, among those that are not stored, whose cells are estimated for the list."""


def lattice_rows(
    state: CubeState,
    estimate: ViewEstimate,
    asked: Mapping[View, float],
    open_from: int | None,
    pause: Pause = unpaused,
) -> list[dict[str, Any]]:
    """Return the views of a cube as the API shows them: first the stored views, then the others. The others are ordered
    by questions, most first, and then by cells, fewest first.

    ``asked``: the questions for each view in an hour. ``open_from``: the first open pane. ``pause`` is called between
    two estimates.
    """
    lattice, held, complete = estimate.lattice, held_cells(state, estimate), answering_cells(state)
    rows = []
    for stored in stored_views(state, open_from):
        is_band = stored.role == "band"
        row = _row(lattice, stored.view, stored.role, stored.cells, stored.size_bytes)
        # Show no demand for a band, because questions for its view also read panes outside the band.
        rate = 0.0 if is_band else asked.get(stored.view, 0.0)
        until = None if stored.end is None else bound_text(stored.end * state.grain_us)
        rows.append({**row, "is_estimated": False, "asked_an_hour": round(rate, 3), "complete_to": until})
        rows[-1]["answered_from"] = None if is_band else _named(lattice, lattice.nearest(stored.view, complete))
    kept, population = held.kept, max(1, estimate.sample.population)
    bytes_a_cell = state.panes.size_bytes / max(1, state.panes.cells)
    ranked: list[tuple[float, float, View]] = []
    for view in islice(
        (each for each in _others(lattice, asked) if each not in {lattice.base, *held.views}), _COMPARED
    ):
        cells = kept.estimated(view, estimate.cells(view) / population)
        ranked.append((-asked.get(view, 0.0), cells, view))
        pause()
    for less_asked, cells, view in sorted(ranked)[:ROWS_SHOWN]:
        row = _row(lattice, view, "none", cells, cells * bytes_a_cell)
        rows.append({**row, "is_estimated": True, "asked_an_hour": round(-less_asked, 3), "complete_to": None})
        rows[-1]["answered_from"] = _named(lattice, lattice.nearest(view, complete))
    return rows


def _row(lattice: Lattice, view: View, role: str, cells: float, size_bytes: float) -> dict[str, Any]:
    return {**_named(lattice, view), "role": role, "cells": round(cells), "bytes": round(size_bytes)}


def _named(lattice: Lattice, view: View) -> dict[str, Any]:
    """Return a view as a JSON object."""
    dimensions = lattice.dimensions
    names = [dimensions.names[place] for place in dimensions.columns(view.cuboid)]
    return {"cuboid": names, "grain_s": view.panes * lattice.grain_s}


def _others(lattice: Lattice, asked: Mapping[View, float]) -> Iterator[View]:
    """Yield views that may be worth storing, without repetition. They are the views with the most questions, views that
    can answer several of these, and the views of the coarsest cuboids.
    """
    seen: set[View] = set()
    coarsest = (
        View(cuboid, panes)
        for cuboid in reversed(list(lattice.dimensions.cuboids()))
        for panes in (lattice.lengths[-1], 1)
    )
    for several in (most_asked(asked, ROWS_SHOWN), candidates(lattice, asked)[: _COMPARED // 2], coarsest):
        for view in several:
            if view not in seen:
                seen.add(view)
                yield view
