"""The stored views of a cube, each with its size, and the views that answer others."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.lattice_views import answering_cells, most_asked, stored_views
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer, filled, state_of

BASE, HOURS = View((1, 1), 1), View((1, 0), 60)


def test_a_view_is_listed_for_each_reason_with_its_size(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, HOURS)
    keeper.bands.define(CUBE, bands_of(["1min:60min", "1h:90min dest:0"], OWN))
    keeper.bands.age(10)
    keeper.views.fill(10)
    keeper.views.choose(CUBE, [View((0, 0), 60)])
    state = state_of(keeper)
    listed = list(stored_views(state, 7))
    assert [(own.view, own.role) for own in listed] == [
        *((BASE, "base"), (HOURS, "band"), (HOURS, "pinned"), (View((0, 0), 60), "chosen"))
    ]
    base, band, pinned, chosen = listed
    assert (base.cells, base.panes, base.size_bytes) == (state.panes.cells, state.panes.count, state.panes.size_bytes)
    assert (band.cells, band.size_bytes) == (state.bands[0].panes.cells, state.bands[0].panes.size_bytes)
    assert [own.end for own in listed] == [7, state.bands[0].end, state.views[0].end, None]
    assert [own.source for own in listed] == [None, BASE, None, None]
    assert (pinned.cells > 0, chosen.cells) == (True, 0)
    assert answering_cells(state) == {BASE: base.cells + band.cells, HOURS: pinned.cells}


def test_a_view_that_lacks_aged_panes_does_not_answer_one_that_has_them(tmp_path: Path) -> None:
    fine, coarse = View((0, 0), 30), View((0, 0), 60)
    keeper, _ = filled(tmp_path, fine, coarse, minutes=601)
    keeper.bands.define(CUBE, bands_of(["1min:60min", "1h:9d"], OWN))
    keeper.bands.age(10)
    keeper.views.fill(10)
    state = state_of(keeper)
    stored = {own.view: own.panes.cells for own in state.views}
    # Half hours are left of the last hour alone, in fewer cells than all hours have.
    assert stored[fine] < stored[coarse]
    cells = answering_cells(state)
    assert cells[coarse] == stored[coarse]
    assert cells[fine] == stored[fine] + state.bands[0].panes.cells
    rows = {(own["grain_s"], own["role"]): own for own in keeper.choice.lattice(CUBE)["views"] if not own["cuboid"]}
    assert rows[3_600, "pinned"]["answered_from"] == {"cuboid": [], "grain_s": 3_600}
    assert [own["grain_s"] for own in answer(keeper, by=[])["answered_by"]] == [3_600]


def test_what_is_asked_for_the_most_comes_first() -> None:
    asked = {View((0, 0), 1): 2.0, BASE: 3.0, View((0, 1), 1): 2.0}
    assert most_asked(asked, 2) == [BASE, View((0, 0), 1)]
    assert most_asked(asked, 9) == [BASE, View((0, 0), 1), View((0, 1), 1)]
