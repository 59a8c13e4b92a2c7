"""A cube with stored views, and the checks of their pieces and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.layout import Layout
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.panes import sound
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    SCHEMA,
    Topic,
    at,
    batch,
    cube_id,
    definition,
    minute,
    opened,
    topic_of,
)

OWN = definition(measures=("count(*) AS n", "sum(delay) AS d", "stddev(delay) AS sd"))
CUBE = cube_id("q", OWN)
VIEWS = [View(cuboid, panes) for cuboid, panes in product([(1, 1), (1, 0), (0, 1), (0, 0)], [1, 2, 5, 10, 60])][1:]
records = st.tuples(
    st.sampled_from(["B6", "UA", None]),
    st.sampled_from(["JFK", "LAX", None]),
    st.integers(-5, 5) | st.none(),
    st.integers(0, 240 * MINUTE_US) | st.none(),
)


def answer(keeper: Keeper, **body: Any) -> dict[str, Any]:
    return keeper.questions.query(CUBE, {"limit": 100_000, **body})


def view_body(view: View) -> dict[str, Any]:
    names = [OWN.dimensions.names[place] for place in OWN.dimensions.columns(view.cuboid)]
    return {"by": names, "grain_s": view.panes * 60}


def read_cells(keeper: Keeper, layout: Layout, pieces: Any) -> list[Cells]:
    return [keeper.snapshot.cells(layout, piece) for several in pieces for piece in sound(several)]


def check_pieces(keeper: Keeper) -> None:
    """Check that each view has the base pieces, rolled up, up to the pane before which it is complete."""
    state = keeper.snapshot.cube(CUBE)
    layout = Layout.of(OWN, SCHEMA)
    base = [Cells.none(layout), *read_cells(keeper, layout, [own for _, own in state.panes.closed.items()])]
    for view in state.views:
        assert view.panes.open == {}
        if view.filled_to is None:
            assert view.panes.count == 0
            continue
        whole = merged(layout, base).between(None, view.end)
        kept = OWN.dimensions.columns(view.view.cuboid)
        rolled_up = replace(whole.rolled_up(kept), panes=frozen(whole.panes // view.view.panes))
        wanted = {piece.pane: piece.to_bytes() for piece in merged(layout, [rolled_up]).pieces(layout)}
        stored = {pane: keeper._store.piece(own.number) for pane, (own,) in view.closed.items()}
        assert stored == wanted


def check_answers(keeper: Keeper, spans: Sequence[tuple[int, int]]) -> None:
    """Check that every ancestor gives the same answer, and that the nearest one is no larger than the base."""
    state = keeper.snapshot.cube(CUBE)
    base = {"by": ["carrier", "dest"], "grain_s": 60}
    for view in (own for own in state.views if own.filled_to is not None):
        body = view_body(view.view)
        for first, end in spans:
            for own in (
                {"by": body["by"], "from": minute(first), "to": minute(end)},
                {**body, "from": minute(first - first % view.view.panes), "to": minute(end + -end % view.view.panes)},
            ):
                wanted, nearest = answer(keeper, **own, answer_from=base), answer(keeper, **own)
                assert nearest["rows"] == wanted["rows"]
                assert cells(nearest) <= cells(wanted)
                forced = forced_answer(keeper, {**own, "answer_from": body})
                if forced is not None:
                    assert forced["rows"] == nearest["rows"]
                    assert cells(nearest) <= cells(forced)


def forced_answer(keeper: Keeper, body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer from a view; None if the interval has no whole pane for which the view is complete."""
    try:
        return answer(keeper, **body)
    except CubeError as error:
        if "has no whole pane" in error.remedy or "is complete" in error.remedy:
            return None
        raise


def cells(found: dict[str, Any]) -> int:
    return sum(own["cells"] for own in found["answered_by"])


def filled(folder: Path, *views: View, limits: CubeLimits | None = None, minutes: int = 121) -> tuple[Keeper, Topic]:
    topic = topic_of(*(at(each, carrier) for each in range(minutes) for carrier in ("B6", "UA")))
    keeper = opened(folder, limits=limits)
    keeper.define(CUBE, OWN, pins=views)
    topic.commit(keeper, batch(0, len(topic.partitions[0])), {CUBE: OWN})
    return keeper, topic


def state_of(keeper: Keeper) -> CubeState:
    return keeper.snapshot.cube(CUBE)
