"""Looks: pivot, chart and gaps of one commit, within the limits of a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asc.errors import CubeError
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
