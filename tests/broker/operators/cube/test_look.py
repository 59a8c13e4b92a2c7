"""Looks: pivot, chart and gaps of one commit, within the limits of a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.cancellation import Cancellation
from broker.errors import CancelledError, SlowAnswerError, TooManyQuestionsError, UnknownQueryError
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.look import Wanted
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    minute,
    opened,
)

OWN = definition()
LATE = cube_id("late", OWN)
RECORDS: list[Record] = [
    (("B6", "UA", None)[each % 3], ("JFK", None)[each % 2], each, each * MINUTE_US // 10) for each in range(40)
]


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    """Has four panes, the last of which is open."""
    own = opened(tmp_path)
    own.define(LATE, OWN)
    Topic(partitions={0: RECORDS}).commit(own, batch(0, 40), {LATE: OWN})
    yield own
    own.close()


def test_pivot_and_chart_are_those_of_the_question(keeper: Keeper) -> None:
    wanted = Wanted({"live": True}, down=["carrier"], across=["dest"], measure="D")
    found = keeper.questions.look(LATE, wanted)
    asked = keeper.questions.query(LATE, wanted.question(OWN))
    assert wanted.question(OWN)["by"] == [["carrier", "dest"], ["carrier"], ["dest"], []]
    assert found.pivot.rows == [row for row in asked["rows"] if row["group"].keys() == {"carrier"}]
    assert found.pivot.total == {"group": {}, "d": sum(range(40))}
    assert (found.interval, found.answered_by) == (asked["interval"], asked["answered_by"])
    assert dict(found.facts) == {name: asked[name] for name in ("watermark", "gaps", "whole", "commit")}
    assert found.series is not None
    assert found.series.first == BASE_US // MINUTE_US
    assert found.series.values == {each: float(sum(range(10 * each, 10 * each + 10))) for each in range(4)}
    # Without live the open pane is in neither.
    closed = keeper.questions.look(LATE, Wanted({}, down=["carrier"]))
    assert closed.pivot.total == {"group": {}, "n": 30, "d": sum(range(30))}
    assert closed.series is not None
    assert closed.series.values == {0: 10.0, 1: 10.0, 2: 10.0}


def test_rows_are_skipped_whatever_commit_they_were_counted_in(keeper: Keeper) -> None:
    first = keeper.questions.look(LATE, Wanted({"live": True, "limit": 2}, down=["carrier"]))
    assert ([row["group"]["carrier"] for row in first.pivot.rows], first.cursor) == ([None, "B6"], "2-2")
    Topic(partitions={0: [*RECORDS, ("ZZ", None, 1, 0)]}).commit(keeper, batch(40, 41), {LATE: OWN})
    second = keeper.questions.look(LATE, Wanted({"live": True, "limit": 2}, skip=2, down=["carrier"]))
    assert ([row["group"]["carrier"] for row in second.pivot.rows], second.cursor) == (["UA", "ZZ"], None)


def test_what_is_wrong_is_refused_as_of_a_question(keeper: Keeper) -> None:
    for wanted, said in (
        (Wanted({}, down=["tail"]), "'tail': is no dimension"),
        (Wanted({}, down=["dest"], across=["dest"]), "across 'dest': is of a dimension that the rows have"),
        (Wanted({}, measure="median"), "measure 'median': is not declared: the cube has n, d"),
        (Wanted({"where": "delay > 1"}), "'delay': is no dimension"),
        (Wanted({"limit": 0}), "limit"),
    ):
        with pytest.raises(CubeError, match=said):
            keeper.questions.look(LATE, wanted)
    with pytest.raises(UnknownQueryError):
        keeper.questions.look(cube_id("never", OWN), Wanted({}))


def test_it_takes_a_turn_has_a_time_and_is_counted(keeper: Keeper, tmp_path: Path) -> None:
    gone = Cancellation()
    gone.cancel("the client is gone")
    with pytest.raises(CancelledError):
        keeper.questions.look(LATE, Wanted({}), gone)
    before = keeper.questions.figures.seconds.cumulative()[0][-1]
    keeper.questions.look(LATE, Wanted({"live": True}))
    assert keeper.questions.figures.seconds.cumulative()[0][-1] == before + 1
    assert keeper.questions.figures.cells.cumulative() == ([0, 1, 1, 1, 1, 1, 1, 1], 24.0)
    with keeper.questions._turns.turn(60), pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeper.questions._turns, "_free", type("None", (), {"acquire": lambda *_, **__: False})())
        with pytest.raises(TooManyQuestionsError):
            keeper.questions.look(LATE, Wanted({}))
    slow = opened(tmp_path / "slow", limits=CubeLimits(query_s=0))
    slow.define(LATE, OWN)
    with pytest.raises(SlowAnswerError):
        slow.questions.look(LATE, Wanted({}))
    slow.close()


def minutes(folder: Path, *pins: View, keep: Sequence[str] = (), count: int = 200, grain_s: int = 60) -> Keeper:
    """Return a keeper with two records in each pane, with stored views and bands."""
    own = definition(grain_s)
    folder.mkdir(exist_ok=True)
    found = opened(folder)
    found.define(cube_id("late", own), own, pins=pins)
    found.bands.define(cube_id("late", own), bands_of(keep, own))
    step_us = grain_s * 1_000_000
    records: list[Record] = [
        (("B6", "UA", None)[each % 3], "JFK", each, each // 2 * step_us) for each in range(2 * count + 2)
    ]
    Topic(partitions={0: records}).commit(found, batch(0, len(records)), {cube_id("late", own): own})
    found.bands.age(10)
    found.views.fill(10)
    return found


def test_a_stored_view_draws_the_points_that_the_base_pieces_draw(tmp_path: Path) -> None:
    keeper = minutes(tmp_path, View((0, 0), 60), View((1, 0), 5), View((0, 0), 1))
    chart = keeper.questions.look(LATE, Wanted({"to": minute(180)}))
    assert chart.series is not None
    assert (chart.series.first, chart.series.panes, chart.series.points) == (BASE_US // MINUTE_US, 1, 180)
    assert chart.series.values == dict.fromkeys(range(180), 2.0)
    # This view is in line with the points. Without a chart, the coarsest view is read.
    assert [(own["cuboid"], own["grain_s"]) for own in chart.answered_by] == [([], 60)]
    by_hour = keeper.questions.query(LATE, {"by": [], "to": minute(180)})
    assert [own["grain_s"] for own in by_hour["answered_by"]] == [3_600]
    assert chart.pivot.total == by_hour["rows"][0]
    keeper.close()


def test_a_point_consists_of_whole_panes_of_the_bands_in_its_interval(tmp_path: Path) -> None:
    keeper = minutes(tmp_path, keep=["1min:60min", "60min:2d"])
    chart = keeper.questions.look(LATE, Wanted({})).series
    assert chart is not None
    assert (chart.panes, chart.values) == (60, {0: 120.0, 1: 120.0, 2: 120.0, 3: 40.0})
    # The newest panes are kept minute by minute.
    newest = keeper.questions.look(LATE, Wanted({"from": minute(150)})).series
    assert newest is not None
    assert (newest.panes, newest.values) == (1, dict.fromkeys(range(50), 2.0))
    keeper.close()


def test_a_forced_view_draws_points_of_its_panes(tmp_path: Path) -> None:
    keeper = minutes(tmp_path, View((0, 0), 60))
    chart = keeper.questions.look(LATE, Wanted({"answer_from": {"by": [], "grain_s": 3_600}})).series
    assert chart is not None
    assert (chart.panes, chart.values) == (60, {0: 120.0, 1: 120.0, 2: 120.0, 3: 40.0})
    keeper.close()


def test_the_points_of_a_long_interval_are_read_from_a_view_and_demand_it(tmp_path: Path) -> None:
    keeper = minutes(tmp_path, View((0, 0), 3), View((0, 0), 24), count=600, grain_s=3_600)
    hourly = cube_id("late", definition(3_600))
    look = keeper.questions.look(hourly, Wanted({"from": minute(5 * 60)}))
    assert look.series is not None
    # Points of three hours, the first of which begins before the interval.
    assert (look.series.first * 60, look.series.panes) == (BASE_US // MINUTE_US + 180, 3)
    assert look.series.values == {0: 2.0, **dict.fromkeys(range(1, 199), 6.0)}
    assert [own["grain_s"] for own in look.answered_by] == [3_600, 10_800]
    assert {view.panes for view in keeper.demands.of(keeper.snapshot.cube(hourly)).asked} == {1, 3}
    keeper.close()
