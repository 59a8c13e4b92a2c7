"""The keeper: every record counted once, limits, and damage."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from asc.operators.cube.json_values import instant_text
from broker.operators.cube import merging, stepping
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import BATCH_PANES_MAX
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Topic,
    at,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    just_after,
    minute,
    opened,
    partial,
    rows_of,
    topic_of,
)

OWN = definition()
LATE = cube_id("late", OWN)


def test_a_batch_that_comes_again_is_counted_once_also_after_a_start(tmp_path: Path) -> None:
    topic = topic_of(*(at(each / 3) for each in range(30)))
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    for first in (0, 10, 20):
        assert topic.commit(keeper, batch(first, first + 10), {LATE: OWN}).folded == {LATE}
    commit = keeper.snapshot.commit
    for first, end in ((20, 30), (0, 10), (0, 30)):
        again = topic.commit(keeper, batch(first, end), {LATE: OWN})
        assert (again.commit, again.covered, again.folded) == (None, {LATE}, frozenset())
    assert keeper.snapshot.commit == commit
    keeper.close()
    keeper = opened(tmp_path)
    assert topic.commit(keeper, batch(20, 30), {LATE: OWN}).covered == {LATE}
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])
    keeper.close()


def test_a_topic_made_again_is_another_one(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(5)))
    topic.commit(keeper, batch(0, 5), {LATE: OWN})
    assert replace_id(topic).commit(keeper, batch(0, 5, topic_id="U"), {LATE: OWN}).folded == {LATE}
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 10
    coverage = keeper.snapshot.status(LATE)["coverage"]
    assert [(each["topic_id"], each["from"], each["to"]) for each in coverage] == [("T", 0, 5), ("U", 0, 5)]


def replace_id(topic: Topic) -> Topic:
    return replace(topic, topic_id="U")


def test_a_batch_that_is_folded_in_part_is_left_out_and_its_rest_is_a_gap(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    topic.commit(keeper, batch(0, 6), {LATE: OWN})
    found = topic.commit(keeper, batch(4, 9), {LATE: OWN})
    assert (found.partly, found.folded) == ({LATE}, frozenset())
    assert [gap.plain()["from"] for gap in found.gaps[LATE]] == [minute(5)]
    # The rest of it is told once, whatever comes again.
    again = topic.commit(keeper, batch(4, 9), {LATE: OWN})
    assert (again.partly, dict(again.gaps)) == ({LATE}, {})
    assert topic.commit(keeper, batch(9, 10), {LATE: OWN}).folded == {LATE}
    assert rows_of(keeper, LATE) == duckdb_rows([*topic.partitions[0][:6], *topic.partitions[0][9:]])
    answer = keeper.questions.query(LATE, {"by": [], "live": True})
    # The record of the eighth minute is itself missing.
    after = instant_text(BASE_US + 8 * MINUTE_US + 1)
    assert [(gap["from"], gap["to"]) for gap in answer["gaps"]] == [(minute(5), after)]
    assert not answer["whole"]
    assert keeper.questions.query(LATE, {"from": minute(0), "to": minute(5)})["whole"]
    assert not keeper.questions.query(LATE, {"from": minute(8), "to": minute(9)})["whole"]
    topic.partitions[0].append(at(10))
    topic.commit(keeper, batch(10, 11), {LATE: OWN})
    assert keeper.questions.query(LATE, {"from": minute(9), "to": minute(10)})["whole"]


def test_a_part_that_lies_before_what_is_folded_may_be_of_any_time(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    topic.commit(keeper, batch(5, 9), {LATE: OWN})
    assert topic.commit(keeper, batch(0, 3), {LATE: OWN}).folded == {LATE}
    assert topic.commit(keeper, batch(3, 6), {LATE: OWN}).partly == {LATE}
    gaps = keeper.questions.query(LATE, {"live": True})["gaps"]
    assert [(gap["from"], gap["to"]) for gap in gaps] == [(None, just_after(8))]


def test_beyond_the_cells_of_a_pane_a_cube_is_parked_and_others_go_on(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(pane_cells=3))
    narrow = definition(measures=["count(*) AS n", "sum(delay) AS d"], grain_s=3600)
    narrow_id = cube_id("narrow", narrow)
    keeper.define(LATE, OWN)
    keeper.define(narrow_id, narrow)
    topic = topic_of(*(at(n, carrier) for n, carrier in enumerate("ABC")), at(0, "D"), at(0, "E"), at(9, "A"))
    cubes = {LATE: OWN, narrow_id: narrow}
    topic.commit(keeper, batch(0, 3), cubes)
    found = topic.commit(keeper, batch(3, 5), cubes)
    assert found.folded == {LATE}
    assert found.parked == {
        narrow_id: "the pane of 2013-07-10T00:00:00Z has 5 cells, and limits.cube_cells is 3: "
        "raise it or leave dimensions out, then 'asc query resume narrow'",
    }
    keeper.close()
    keeper = opened(tmp_path, limits=CubeLimits(pane_cells=30))
    assert set(topic.commit(keeper, batch(5, 6), cubes).parked) == {narrow_id}
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])
    # A parked cube answers, and says since when it misses records.
    assert sum(row[2] for row in rows_of(keeper, narrow_id)) == 3
    gaps = keeper.questions.query(narrow_id, {"live": True})["gaps"]
    assert [(gap["from"], gap["to"]) for gap in gaps] == [(minute(2), None)]
    keeper.resume(narrow_id)
    assert keeper.questions.query(narrow_id, {"live": True})["gaps"] == [{**gaps[0], "to": None}]
    topic.partitions[0] += [at(11)]
    assert topic.commit(keeper, batch(6, 7), cubes).folded == {LATE, narrow_id}
    (gap,) = keeper.questions.query(narrow_id, {"live": True})["gaps"]
    assert gap == {"from": minute(2), "to": just_after(11), "reason": found.parked[narrow_id]}
    keeper.close()


def test_beyond_its_bytes_a_cube_is_parked(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(size_bytes=3_000))
    keeper.define(LATE, OWN)
    topic = topic_of(*(at(each / 20) for each in range(50)), *(at(3 + each) for each in range(50)))
    # Pieces of one pane are merged before it is said to be too large.
    for each in range(20):
        assert topic.commit(keeper, batch(each, each + 1), {LATE: OWN}).folded == {LATE}
    for each in range(20, 100):
        found = topic.commit(keeper, batch(each, each + 1), {LATE: OWN})
        if found.parked:
            break
    assert "cube_bytes is 3,000" in found.parked[LATE]
    assert keeper.snapshot.status(LATE)["bytes"] <= 3_000
    keeper.close()


def test_beyond_its_panes_a_cube_is_parked(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(panes=3))
    keeper.define(LATE, OWN)
    topic = topic_of(*(at(each) for each in range(4)))
    assert topic.commit(keeper, batch(0, 3), {LATE: OWN}).folded == {LATE}
    found = topic.commit(keeper, batch(3, 4), {LATE: OWN})
    remedy = "raise it or choose a longer grain, then 'asc query resume late'"
    assert found.parked == {LATE: f"it has 4 panes, and limits.cube_panes is 3: {remedy}"}
    assert keeper.snapshot.status(LATE)["panes"] == 3
    keeper.close()


def test_the_cube_whose_batch_is_in_the_most_panes_is_parked(keeper: Keeper) -> None:
    wide, hourly = CubeId("wide", "x"), definition(grain_s=3_600)
    second = definition(grain_s=1)
    keeper.define(wide, second)
    keeper.define(LATE, hourly)
    topic = topic_of(*(at(each / 60) for each in range(BATCH_PANES_MAX)))
    places = batch(0, BATCH_PANES_MAX)
    found = topic.commit(keeper, places, {wide: second, LATE: hourly})
    assert found.folded == {LATE}
    assert f"are in {BATCH_PANES_MAX:,} panes, the most of all cubes" in found.parked[wide]


def test_what_the_workers_cannot_fold_parks_the_cube_and_no_error_of_one_stops_another(keeper: Keeper) -> None:
    topic = topic_of(at(0), at(1))
    broken, other = CubeId("broken", "x"), CubeId("other", "y")
    for each in (broken, other):
        keeper.define(each, OWN)
    own = partial(OWN, [topic.partitions[0]])
    wrong = partial(definition(measures=["max(dest) AS d"]), [topic.partitions[0]])
    partials = {LATE: own, broken: replace(own, failed="over cube_partial_bytes"), other: wrong}
    found = keeper.commit(batch(0, 2), partials, topic.newest(batch(0, 2)))
    assert found.folded == {LATE}
    assert found.parked[broken] == "over cube_partial_bytes"
    assert set(found.parked) == {broken, other}


def test_a_damaged_piece_parks_its_cube_with_the_pane_named(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(4)))
    other = CubeId("other", "x")
    keeper = opened(tmp_path)
    for each in (LATE, other):
        keeper.define(each, OWN)
    topic.commit(keeper, batch(0, 4), {LATE: OWN, other: OWN})
    keeper.close()
    number = damage(tmp_path / "cubes.sqlite", 1)
    keeper = opened(tmp_path)
    answer = keeper.questions.query(LATE, {"by": [], "live": True})
    reason = f"a piece of the pane of {minute(1)} is damaged"
    # The answer is that of the other panes; the pane is a gap, and so is what comes after the cube was parked.
    assert answer["rows"][0]["n"] == 3
    assert {(gap["from"], gap["to"], gap["reason"]) for gap in answer["gaps"]} == {
        (minute(1), minute(2), reason),
        (minute(3), None, reason),
    }
    assert keeper.questions.query(LATE, {"from": minute(0), "to": minute(1)})["whole"]
    assert not keeper.questions.query(LATE, {"from": minute(1), "to": minute(2)})["whole"]
    assert keeper.questions.query(other, {"by": [], "live": True})["rows"][0]["n"] == 4
    topic.partitions[0] += [at(7)]
    found = topic.commit(keeper, batch(4, 5), {LATE: OWN, other: OWN})
    assert (found.folded, dict(found.parked)) == ({other}, {LATE: reason})
    keeper.close()
    keeper = opened(tmp_path)
    assert keeper.snapshot.status(LATE)["parked"] == reason
    keeper.resume(LATE)
    assert number not in [piece.number for piece in keeper.snapshot.cubes[LATE].panes.pieces()]
    topic.partitions[0] += [at(8)]
    assert topic.commit(keeper, batch(5, 6), {LATE: OWN, other: OWN}).folded == {LATE, other}
    assert [gap["to"] for gap in keeper.questions.query(LATE, {"live": True})["gaps"]] == [minute(2), just_after(8)]
    keeper.close()


def test_a_piece_that_is_found_to_be_damaged_when_its_pane_closes_parks_its_cube_alone(tmp_path: Path) -> None:
    topic = topic_of(at(0), at(0.5), at(5))
    other = CubeId("other", "x")
    keeper = opened(tmp_path)
    for each in (LATE, other):
        keeper.define(each, OWN)
    for each in (0, 1):
        topic.commit(keeper, batch(each, each + 1), {LATE: OWN, other: OWN})
    keeper.close()
    damage(tmp_path / "cubes.sqlite", 0)
    keeper = opened(tmp_path)
    found = topic.commit(keeper, batch(2, 3), {LATE: OWN, other: OWN})
    assert (found.folded, set(found.parked)) == ({other}, {LATE})
    assert rows_of(keeper, other) == duckdb_rows(topic.partitions[0])
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 1
    keeper.close()


@pytest.mark.parametrize("broken", [(stepping, "folded_state"), (merging, "merged")])
def test_a_cube_that_cannot_fold_a_batch_answers_the_panes_that_it_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: tuple[ModuleType, str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no more")

    topic = topic_of(at(0), at(1), at(1.5), at(3))
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    for each in range(3):
        topic.commit(keeper, batch(each, each + 1), {LATE: OWN})
    with monkeypatch.context() as patch:
        patch.setattr(*broken, fail)
        found = topic.commit(keeper, batch(3, 4), {LATE: OWN})
    assert found.parked == {LATE: "a batch cannot be folded into it, ValueError: no more"}
    answer = keeper.questions.query(LATE, {"by": []})
    assert (answer["rows"][0]["n"], answer["interval"]) == (3, [minute(0), minute(3)])
    keeper.close()
    keeper = opened(tmp_path)
    assert keeper.questions.query(LATE, {"by": []}) == answer
    keeper.resume(LATE)
    topic.partitions[0] += [at(9)]
    assert topic.commit(keeper, batch(4, 5), {LATE: OWN}).folded == {LATE}
    assert keeper.questions.query(LATE, {"by": []})["rows"][0]["n"] == 3
    keeper.close()


def damage(path: Path, minute_number: int, *, is_apart: bool = False) -> int:
    """Change a byte of the first piece of a pane of the first cube, and return the number of the piece."""
    connection = sqlite3.connect(path)
    pane = BASE_US // MINUTE_US + minute_number
    sql = "SELECT number, data FROM pieces WHERE pane = ? AND cube = 1 AND is_apart = ? ORDER BY number"
    number, data = connection.execute(sql, (pane, is_apart)).fetchone()
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    connection.execute("UPDATE pieces SET data = ? WHERE number = ?", (bytes(changed), number))
    connection.commit()
    connection.close()
    return int(number)
