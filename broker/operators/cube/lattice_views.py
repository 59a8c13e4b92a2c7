"""The views at the beginning of the list of a cube's lattice: the stored views, and the views with the most
questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal

from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.stored_view import StoredView

ListedRole = Literal["base", "band", "pinned", "chosen"]
ROLES: tuple[ListedRole, ...] = ("base", "band", "pinned", "chosen")
"""The reasons why a view is stored, the most important one first."""


@dataclass(frozen=True, slots=True)
class ListedView:
    """A stored view, with one reason why it is stored. A view that is stored for two reasons is listed twice.

    ``panes``, ``cells``, ``size_bytes``: the numbers of its panes, cells and bytes. ``end``: the pane of the cube
    before which the view is complete; None if it is not filled yet. ``source``: for a band, the view from which the
    band is computed; None for other views, which are computed from the ancestor with the fewest cells.
    """

    view: View
    role: ListedRole
    panes: int
    cells: int
    size_bytes: int
    end: int | None
    source: View | None = None


def stored_views(state: CubeState, open_from: int | None) -> Iterator[ListedView]:
    """Yield the stored views of a cube: the base view, then bands, finest first, then other views.

    ``open_from``: the first open pane, before which the base view is complete. The sizes of the base view include late
    records that are stored separately.
    """
    base, own, apart = View.base(state.definition.dimensions), state.panes, state.apart
    sizes = own.count + apart.count, own.cells + apart.cells, own.size_bytes + apart.size_bytes
    yield ListedView(base, "base", *sizes, open_from)
    source = base
    for band in state.bands:
        yield ListedView(band.view, "band", *_sizes(band), band.end, source)
        source = band.view
    for view in state.views:
        yield ListedView(view.view, view.role, *_sizes(view), view.end)


def _sizes(view: StoredView) -> tuple[int, int, int]:
    return view.panes.count, view.panes.cells, view.panes.size_bytes


def answering_cells(state: CubeState) -> dict[View, float]:
    """Return the number of cells to read from each view from which other views can be computed: the base view, and the
    filled views.

    The number for the base view includes the cells of bands, because only both together have all panes. A view has no
    panes that were computed from bands that are not finer than the view. So its number includes the cells of these
    bands.
    """
    complete = {
        own.view: float(own.panes.cells + _older_cells(state, own)) for own in state.views if own.end is not None
    }
    return {**complete, View.base(state.definition.dimensions): float(state.cells)}


def _older_cells(state: CubeState, view: StoredView) -> int:
    return sum(band.panes.cells for band in state.bands if not band.view.is_finer(view.view))


def most_asked(asked: Mapping[View, float], most: int) -> list[View]:
    """Return the ``most`` views with the most questions. ``asked``: the number of questions in an hour for each
    view.
    """
    return nsmallest(most, asked, key=lambda view: (-asked[view], view))
