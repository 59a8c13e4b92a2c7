"""The demand for views: what questions count, and what is left of it after a restart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.demand import Frequency
from asc.operators.cube.demanded import demanded_views
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.question import Question
from asc.operators.cube.view import View
from broker.operators.cube.covering import covered
from broker.operators.cube.demands import PENDING_MAX, SAVED_S, Demands
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.panes import ClosedPanes, StoredPiece
from broker.operators.cube.region import Region
from tests.broker.operators.cube.kept_stream import minute, opened
from tests.broker.operators.cube.view_rig import CUBE, answer, filled, state_of

BASE = View((1, 1), 1)


class Clock:
    now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


def timed(keeper: Keeper) -> tuple[Demands, Clock]:
    """Replace the demands of a keeper by ones with a clock of their own."""
    clock = Clock()
    keeper.demands = Demands(keeper._store, clock)
    keeper.questions._count = keeper.demands.count
    return keeper.demands, clock


def test_a_question_demands_the_coarsest_view_that_answers_it(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((0, 0), 1))
    demands, _ = timed(keeper)
    answer(keeper, by=["carrier"], **{"from": minute(0), "to": minute(60)})
    answer(keeper, by=["carrier"], where="dest = 'JFK'", grain_s=300, to=minute(60))
    answer(keeper, by=[], **{"from": minute(7), "to": minute(9)})
    # A forced question says nothing about what people ask, nor does one about panes that are open.
    answer(keeper, by=[], answer_from={"by": [], "grain_s": 60})
    answer(keeper, by=["dest"], live=True, **{"from": minute(120)})
    asked = demands.of(state_of(keeper)).asked
    assert asked == {
        View((1, 0), 60): Frequency(1, 60),
        View((1, 1), 5): Frequency(1, 60),
        View((0, 0), 1): Frequency(1, 2),
    }


def test_an_interval_without_bounds_demands_what_is_kept(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    demands, _ = timed(keeper)
    answer(keeper, by=[])
    answer(keeper, by=[], **{"from": "1970-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z"})
    assert demands.of(state_of(keeper)).asked == {View((0, 0), 120): Frequency(2, 240)}


def test_demand_survives_a_restart_and_halves_daily(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    demands, clock = timed(keeper)
    answer(keeper, by=[], to=minute(60))
    demands.save(keeper.snapshot.cubes.values())
    assert keeper._store.execute("SELECT count(*) FROM demand") == [(0,)]
    clock.now_s += SAVED_S
    demands.save(keeper.snapshot.cubes.values())
    answer(keeper, by=[], to=minute(60))
    clock.now_s += SAVED_S - 1
    demands.save(keeper.snapshot.cubes.values())
    keeper.close()
    keeper = opened(tmp_path)
    # The question of the last minute is forgotten.
    demands, clock = timed(keeper)
    assert demands.of(state_of(keeper)).asked == {View((0, 0), 60): Frequency(1, 60)}
    clock.now_s += 86_400 + SAVED_S
    assert demands.of(state_of(keeper)).asked == {View((0, 0), 60): Frequency(0.5, 30.0)}
    keeper.remove(CUBE.query)
    assert keeper._store.execute("SELECT count(*) FROM demand") == [(0,)]
    keeper.close()


def test_a_removed_cube_is_forgotten(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    demands, clock = timed(keeper)
    answer(keeper, by=[])
    states = list(keeper.snapshot.cubes.values())
    keeper.remove(CUBE.query)
    clock.now_s += SAVED_S
    demands.save(states)
    assert keeper._store.execute("SELECT count(*) FROM demand") == [(0,)]
    clock.now_s += SAVED_S
    demands.save([])
    assert (demands._pending, demands._by_cube, demands._lattices) == ({}, {}, {})


@pytest.mark.parametrize("counts", ["{", '{"asked": 1}', json.dumps([])])
def test_a_damaged_demand_is_counted_anew(tmp_path: Path, counts: str) -> None:
    keeper, _ = filled(tmp_path)
    keeper._store.execute("INSERT INTO demand VALUES (?, ?)", (state_of(keeper).number, counts))
    demands, _ = timed(keeper)
    assert demands.of(state_of(keeper)).asked == {}


def test_questions_between_two_additions_count_a_bounded_number_of_views(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    demands, _ = timed(keeper)
    state = state_of(keeper)
    cuboids: list[Levels] = [(1, 1), (1, 0), (0, 1), (0, 0)]
    for number in range(PENDING_MAX):
        demands._pending[-1 - number, BASE] = (1.0, 1.0)
    for cuboid in cuboids:
        demands.count(state, cuboid, Question((cuboid,), ((),)), (0, 60))
    assert len(demands._pending) == PENDING_MAX
    assert demands.of(state).asked == {}


QUARTERS = CubeDefinition.parse({"dimensions": [["a"], ["b"]], "measures": ["count(*)"], "time": "t", "grain_s": 900})


def whole_region(view: View, first: int, end: int, cells: int) -> Region:
    """Return a region of a view with some cells in each of its panes, for panes of the cube."""
    panes = range(-(-first // view.panes), end // view.panes)
    pieces = {pane: (StoredPiece(number, pane, cells, 8, 0),) for number, pane in enumerate(panes, 1)}
    return Region(view, ClosedPanes().changed(pieces), panes.start * view.panes, panes.stop * view.panes)


@settings(max_examples=60, deadline=None)
@given(
    zone=st.sampled_from(["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"]),
    grain=st.sampled_from([{}, {"grain": "1d"}, {"grain": "1M"}, {"grain_s": 3_600}, {"grain_s": 86_400}]),
    hours=st.sampled_from([None, "14-16", "22-2,8-9", "0-12", "5-6"]),
    days=st.tuples(st.integers(0, 400), st.integers(1, 60)),
)
def test_each_demanded_view_is_read_where_it_is_demanded(
    zone: str, grain: dict[str, object], hours: str | None, days: tuple[int, int]
) -> None:
    first = 96 * (20_000 + days[0])
    end = first + 96 * days[1]
    question = Question.parse({"by": ["a"], "hours": hours, **grain}, QUARTERS, zone)
    segments = question.segments(first, end)
    base = whole_region(View((1, 1), 1), first, end, 10)
    demanded = demanded_views(Lattice(QUARTERS.dimensions, 900), (1, 0), question.panes, segments)
    assert sum(panes for _, panes in demanded) == sum(stop - begin for begin, stop in segments)
    for view, panes in demanded:
        portions = covered(base, [whole_region(view, first, end, 1)], (1, 0), segments, question.panes)
        read = sum(own.end - own.first for own in portions if own.source is not base)
        assert read * view.panes >= panes > 0
