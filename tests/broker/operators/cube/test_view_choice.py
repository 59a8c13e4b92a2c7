"""Views are chosen for the questions that were asked, filled, and kept through restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.operators.cube.keep import bands_of
from asc.operators.cube.optimiser import Budget
from asc.operators.cube.view import View
from asc.operators.cube.view_estimate import ViewEstimate
from broker.operators.cube import view_choice
from broker.operators.cube.held_cells import held_cells
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import MINUTE_US, Record, batch, minute, opened, topic_of
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer, cells, check_pieces, filled, state_of

BUDGET = Budget(8, 1_000)
HOURS = {"by": [], "from": minute(0), "to": minute(120)}


def ask(keeper: Keeper, times: int, **body: Any) -> None:
    for _ in range(times):
        answer(keeper, **body)


def roles(keeper: Keeper) -> dict[View, str]:
    return {view.view: view.role for view in state_of(keeper).views}


def optimised(keeper: Keeper, budget: Budget = BUDGET) -> list[str]:
    proposal = keeper.choice.propose(CUBE, budget)
    keeper.choice.apply(CUBE, proposal)
    return proposal.lines()


def test_a_view_is_chosen_for_questions_and_answers_them(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((0, 1), 60))
    ask(keeper, 50, by=["carrier"], **{"from": minute(0), "to": minute(60)})
    lines = optimised(keeper)
    assert lines[0].startswith("+ carrier at 1h: 4 cells, saves "), lines
    assert roles(keeper) == {View((0, 1), 60): "pinned", View((1, 0), 60): "chosen"}
    keeper.views.fill(10)
    check_pieces(keeper)
    found = answer(keeper, by=["carrier"], **{"from": minute(0), "to": minute(60)})
    assert (cells(found), found["answered_by"][0]["grain_s"]) == (2, 3_600)
    # Chosen again, nothing changes.
    commit = keeper.snapshot.commit
    assert optimised(keeper)[0].startswith("no change")
    assert keeper.snapshot.commit == commit
    # A pin of the view takes its place, and is kept by the next run.
    keeper.views.pin(CUBE, [View((1, 0), 60)])
    assert roles(keeper) == {View((1, 0), 60): "pinned"}
    optimised(keeper, Budget(0, 0))
    assert roles(keeper) == {View((1, 0), 60): "pinned"}


def test_a_budget_of_no_views_removes_those_that_were_chosen(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    ask(keeper, 50, **HOURS)
    optimised(keeper)
    keeper.views.fill(10)
    assert list(roles(keeper).values()) == ["chosen"]
    assert optimised(keeper, Budget(0, 1_000))[0].startswith("- () at 2h")
    assert roles(keeper) == {}
    keeper.purge(10)
    assert keeper._store.execute("SELECT count(*) FROM pieces WHERE view > 0") == [(0,)]


def test_a_lower_limit_removes_the_chosen_views_beyond_it_at_once(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((0, 1), 60))
    ask(keeper, 50, by=["carrier"], **{"from": minute(0), "to": minute(60)})
    ask(keeper, 20, **HOURS)
    keeper.choice.limit(CUBE, BUDGET)
    optimised(keeper)
    keeper.views.fill(10)
    carrier, every = View((1, 0), 60), View((0, 0), 120)
    assert roles(keeper) == {View((0, 1), 60): "pinned", carrier: "chosen", every: "chosen"}
    # Two views are left: the pinned one, and the one that saves more.
    keeper.choice.limit(CUBE, Budget(2, 1_000))
    assert roles(keeper) == {View((0, 1), 60): "pinned", carrier: "chosen"}
    # Views that have grown are no reason to remove one, until the budget changes again.
    keeper.choice.limit(CUBE, Budget(2, 1_000))
    stale = keeper.choice.propose(CUBE, BUDGET)
    keeper.choice.limit(CUBE, Budget(0, 1_000))
    assert roles(keeper) == {View((0, 1), 60): "pinned"}
    # A run that began before the change stores nothing beyond the new limits.
    keeper.choice.apply(CUBE, stale)
    assert roles(keeper) == {View((0, 1), 60): "pinned"}
    keeper.choice.limit(CUBE, BUDGET)
    keeper.choice.apply(CUBE, stale)
    keeper.views.fill(10)
    assert "chosen" in roles(keeper).values()
    keeper.choice.limit(CUBE, Budget(8, 0))
    assert roles(keeper) == {View((0, 1), 60): "pinned"}
    check_pieces(keeper)


def test_a_gain_up_to_a_tenth_changes_nothing(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    # By far the most is asked of the base cuboid, minute by minute, which no view answers.
    ask(keeper, 100, by=["carrier", "dest"], grain_s=60)
    ask(keeper, 9, by=[], **{"from": minute(0), "to": minute(120)})
    proposal = keeper.choice.propose(CUBE, BUDGET)
    assert 0.9 * proposal.cost <= proposal.best_cost < proposal.cost
    assert proposal.changes == ()
    optimised(keeper)
    assert roles(keeper) == {}
    ask(keeper, 60, by=[], **{"from": minute(0), "to": minute(120)})
    assert optimised(keeper)[0].startswith("+ () at 2h")


def test_a_crash_between_the_choice_and_the_filling_is_harmless(tmp_path: Path) -> None:
    keeper, topic = filled(tmp_path)
    ask(keeper, 50, **HOURS)
    wanted = answer(keeper, **HOURS)["rows"]
    optimised(keeper)
    keeper.close()
    keeper = opened(tmp_path)
    assert roles(keeper) == {View((0, 0), 120): "chosen"}
    assert (state_of(keeper).views[0].filled_to, answer(keeper, **HOURS)["rows"]) == (None, wanted)
    keeper.define(CUBE, OWN)
    keeper.views.fill(10)
    check_pieces(keeper)
    found = answer(keeper, **HOURS)
    assert (found["rows"], cells(found)) == (wanted, 1)
    topic.commit(keeper, batch(0, 1), {CUBE: OWN})
    check_pieces(keeper)
    keeper.close()


def test_a_view_that_is_not_filled_yet_counts_as_stored(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    ask(keeper, 50, **HOURS)
    optimised(keeper)
    assert optimised(keeper)[0].startswith("no change")


@pytest.mark.parametrize("read", [10, 1_000_000])
def test_a_sample_of_many_cells_is_thinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: int) -> None:
    keeper, _ = filled(tmp_path)
    monkeypatch.setattr(view_choice, "_THINNED_CELLS", read)
    estimate: ViewEstimate = keeper.choice.estimate(CUBE)
    assert estimate.sample.population == 240
    assert 2 <= estimate.cells(View((1, 0), 60)) <= 240
    if read > 240:
        assert estimate.cells(View((1, 0), 60)) == 4


def aged(folder: Path, *keep: str) -> Keeper:
    """Return a keeper with eight records in each minute of 20 hours, of which the older ones are in bands."""
    records: list[Record] = [
        (f"c{each % 5}", f"d{each * 7 % 41}", 1, minutes * MINUTE_US) for minutes in range(1_200) for each in range(8)
    ]
    keeper = opened(folder)
    keeper.define(CUBE, OWN)
    keeper.bands.define(CUBE, bands_of(keep, OWN))
    topic_of(*records).commit(keeper, batch(0, len(records)), {CUBE: OWN})
    keeper.bands.age(60)
    return keeper


def test_with_bands_cells_and_costs_are_those_of_the_panes_that_a_view_has(tmp_path: Path) -> None:
    keeper = aged(tmp_path, "1min:60min", "60min:30d")
    minutes, hours = View((1, 0), 1), View((1, 0), 60)
    newest = {"by": ["carrier"], "grain_s": 60, "from": minute(1_150), "to": minute(1_190)}
    ask(keeper, 100, **newest)
    read = cells(answer(keeper, **newest))
    shown = {(*own["cuboid"], own["grain_s"]): own["cells"] for own in keeper.choice.lattice(CUBE)["views"]}
    proposal = keeper.choice.propose(CUBE, Budget(8, 700))
    assert proposal.cost == pytest.approx(101 * read, rel=0.02)
    assert [own.view for own in proposal.additions] == [minutes]
    keeper.views.choose(CUBE, [minutes, hours])
    keeper.views.fill(10)
    filled_cells = {view.view: view.panes.cells for view in state_of(keeper).views}
    assert shown["carrier", 60] == pytest.approx(filled_cells[minutes], rel=0.05)
    assert proposal.additions[0].cells == pytest.approx(filled_cells[minutes], rel=0.05)
    # Stored, the view costs what its questions read.
    keeper.views.choose(CUBE, [minutes])
    stored = keeper.choice.propose(CUBE, Budget(8, 700))
    assert not stored.changes
    merged = 60 * filled_cells[minutes] / held_cells(state_of(keeper), None).panes
    assert stored.cost == pytest.approx(101 * cells(answer(keeper, **newest)) + merged, rel=0.02)
