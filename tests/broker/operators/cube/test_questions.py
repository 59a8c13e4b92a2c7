"""Questions to cubes: one is answered as a whole, whatever it finds on its way."""

from __future__ import annotations

from pathlib import Path

from tests.broker.operators.cube.kept_stream import at, batch, cube_id, definition, minute, opened, topic_of
from tests.broker.operators.cube.test_keeper import damage


def test_a_question_that_finds_several_damaged_pieces_is_one_and_is_answered_without_them(tmp_path: Path) -> None:
    own, late = definition(), cube_id("late", definition())
    keeper = opened(tmp_path)
    keeper.define(late, own)
    topic_of(*map(at, range(5))).commit(keeper, batch(0, 5), {late: own})
    keeper.close()
    damage(tmp_path / "cubes.sqlite", 1)
    damage(tmp_path / "cubes.sqlite", 3)
    keeper = opened(tmp_path)
    found = keeper.questions.query(late, {"by": [], "live": True})
    assert found["rows"] == [{"group": {}, "n": 3, "d": 3}]
    assert [(gap["from"], gap["to"]) for gap in found["gaps"][:2]] == [(minute(1), minute(2)), (minute(3), minute(4))]
    parked = keeper.snapshot.cube(late).parked
    assert parked == f"a piece of the pane of {minute(1)} is damaged"
    # It had one turn, which is over, and one time.
    assert keeper.questions.figures.seconds.cumulative()[0][-1] == 1
    assert keeper.questions.figures.cells.cumulative()[0][-1] == 1
    assert keeper.questions._turns.size_bytes == 0
    keeper.close()
