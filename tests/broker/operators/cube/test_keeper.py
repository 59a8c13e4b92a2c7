"""The keeper: every record counted once, late ones, gaps, limits, damage and the life of cubes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from asc.errors import CubeError
from asc.operators.cube.json_values import instant_text
from asc.schema import Schema
from broker.errors import CubeStoreError, QueryError, TooManyQuestionsError, UnknownQueryError
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper, cubes_path
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import BATCH_PANES_MAX
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    SCHEMA,
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    just_after,
    opened,
    partial,
    rows_of,
)

OWN = definition()
LATE = cube_id("late", OWN)


def at(minute: float, carrier: str = "B6", delay: int = 1) -> Record:
    return (carrier, "JFK", delay, round(minute * MINUTE_US))


def minute(number: int) -> str:
    return instant_text(BASE_US + number * MINUTE_US)


def topic_of(*records: Record) -> Topic:
    return Topic(partitions={0: list(records)})


@pytest.fixture
def keeper(tmp_path: Path):
    own = opened(tmp_path)
    own.define(LATE, OWN)
    yield own
    own.close()


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
    told = keeper.snapshot.status(LATE)["coverage"]
    assert [(each["topic_id"], each["from"], each["to"]) for each in told] == [("T", 0, 5), ("U", 0, 5)]


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
    answer = keeper.query(LATE, {"by": [], "live": True})
    # The record of the eighth minute is itself missing.
    after = instant_text(BASE_US + 8 * MINUTE_US + 1)
    assert [(gap["from"], gap["to"]) for gap in answer["gaps"]] == [(minute(5), after)]
    assert not answer["whole"]
    assert keeper.query(LATE, {"from": minute(0), "to": minute(5)})["whole"]
    assert not keeper.query(LATE, {"from": minute(8), "to": minute(9)})["whole"]
    topic.partitions[0].append(at(10))
    topic.commit(keeper, batch(10, 11), {LATE: OWN})
    assert keeper.query(LATE, {"from": minute(9), "to": minute(10)})["whole"]


def test_a_part_that_lies_before_what_is_folded_may_be_of_any_time(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    topic.commit(keeper, batch(5, 9), {LATE: OWN})
    assert topic.commit(keeper, batch(0, 3), {LATE: OWN}).folded == {LATE}
    assert topic.commit(keeper, batch(3, 6), {LATE: OWN}).partly == {LATE}
    gaps = keeper.query(LATE, {"live": True})["gaps"]
    assert [(gap["from"], gap["to"]) for gap in gaps] == [(None, just_after(8))]


def test_a_pause_is_a_gap_of_exactly_its_panes(tmp_path: Path) -> None:
    topic = topic_of(*(at(each + 0.5) for each in range(12)))
    keeper = opened(tmp_path, lateness_s=1)
    other = cube_id("other", OWN)
    for each in (LATE, other):
        keeper.define(each, OWN)
    topic.commit(keeper, batch(0, 3), {LATE: OWN, other: OWN})
    topic.commit(keeper, batch(3, 5), {other: OWN})
    paused = keeper.query(LATE, {"live": True})
    assert [(gap["from"], gap["to"], gap["reason"]) for gap in paused["gaps"]] == [
        (instant_text(BASE_US + round(2.5 * MINUTE_US) - 1_000_000), None, "paused")
    ]
    topic.commit(keeper, batch(5, 7), {LATE: OWN, other: OWN})
    keeper.close()
    keeper = opened(tmp_path, lateness_s=1)
    topic.commit(keeper, batch(7, 12), {LATE: OWN, other: OWN})
    whole = [keeper.query(LATE, {"from": minute(n), "to": minute(n + 1)})["whole"] for n in range(11)]
    # From the watermark before, 2.5 minutes less a second, to the newest time after, 6.5 minutes, and a second.
    assert whole == [True, True, False, False, False, False, False, *[True] * 4]
    assert keeper.query(other, {"live": True})["whole"]
    assert rows_of(keeper, other) == duckdb_rows(topic.partitions[0])
    keeper.close()


def test_a_cube_that_reads_again_what_others_have_read_is_whole_when_it_has_read_as_far(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    topic.commit(keeper, batch(0, 10), {LATE: OWN})
    other = CubeId("other", "x")
    keeper.define(other, OWN)
    both = {LATE: OWN, other: OWN}
    # The mark is that of the tenth record.
    assert topic.commit(keeper, batch(0, 4), both).folded == {other}
    (gap,) = keeper.query(other, {"from": minute(5), "to": minute(6)})["gaps"]
    assert gap == {"from": None, "to": None, "reason": "other cubes have read further"}
    topic.commit(keeper, batch(4, 10), both)
    assert keeper.query(other, {"live": True})["gaps"] == []
    assert rows_of(keeper, other) == duckdb_rows(topic.partitions[0])


def test_a_gap_ends_with_the_first_batch_that_has_a_time(keeper: Keeper) -> None:
    topic = topic_of(at(0), at(1), ("B6", "JFK", 1, None), at(5), at(9))
    topic.commit(keeper, batch(0, 1), {LATE: OWN})
    topic.commit(keeper, batch(2, 3), {LATE: OWN})
    assert [gap["to"] for gap in keeper.query(LATE, {"live": True})["gaps"]] == [None]
    topic.commit(keeper, batch(3, 4), {LATE: OWN})
    assert [gap["to"] for gap in keeper.query(LATE, {"live": True})["gaps"]] == [just_after(5)]
    assert keeper.snapshot.status(LATE)["time"] == 1
    assert keeper.snapshot.status(LATE)["accepted"] == 3


def test_coverage_that_begins_now_is_whole_after_its_first_batch(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    keeper = opened(tmp_path, lateness_s=60)
    keeper.define(LATE, OWN)
    assert not keeper.query(LATE, {"live": True})["whole"]
    topic.commit(keeper, batch(3, 5), {LATE: OWN})
    topic.commit(keeper, batch(5, 10), {LATE: OWN})
    # The newest time of its first batch is the fourth minute.
    whole = {n: keeper.query(LATE, {"from": minute(n), "to": minute(8)})["whole"] for n in range(3, 7)}
    assert whole == {3: False, 4: False, 5: True, 6: True}
    assert not keeper.query(LATE, {"live": True})["whole"]
    keeper.close()


@pytest.mark.parametrize("lateness_s", [0, 10])
def test_a_pane_closes_when_the_watermark_reaches_its_end_and_not_a_microsecond_before(
    tmp_path: Path, lateness_s: int
) -> None:
    lateness_us = lateness_s * 1_000_000
    records = [("B6", "JFK", 1, time) for time in (5, MINUTE_US + lateness_us - 1, MINUTE_US + lateness_us)]
    topic = topic_of(*records)
    keeper = opened(tmp_path, lateness_s=lateness_s)
    keeper.define(LATE, OWN)
    counted = []
    for each in range(3):
        topic.commit(keeper, batch(each, each + 1), {LATE: OWN})
        counted.append(sum(row[2] for row in rows_of(keeper, LATE, live=False)))
    # Without lateness the first pane has the record of its last microsecond.
    assert counted == [0, 0, 1 + (lateness_s == 0)]
    assert keeper.query(LATE, {})["watermark"] == minute(1)
    keeper.close()


def test_disorder_within_the_lateness_makes_nothing_late(tmp_path: Path) -> None:
    keeper = opened(tmp_path, lateness_s=10)
    keeper.define(LATE, OWN)
    newest = 3 * MINUTE_US + 7
    topic = topic_of(("B6", "JFK", 1, newest), *(("B6", "JFK", 1, newest - 9_999_999) for _ in range(3)))
    for each in range(4):
        topic.commit(keeper, batch(each, each + 1), {LATE: OWN})
    assert keeper.snapshot.status(LATE)["late"] == 0
    late = ("B6", "JFK", 1, 2 * MINUTE_US + 49_999_999)
    topic.partitions[0] += [(*late[:3], 3 * MINUTE_US + 10_000_000), late]
    topic.commit(keeper, batch(4, 5), {LATE: OWN})
    # The watermark is the end of this record's pane: the pane is final.
    topic.commit(keeper, batch(5, 6), {LATE: OWN})
    status = keeper.snapshot.status(LATE)
    assert (status["late"], status["counted"]) == (1, 6)
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])
    keeper.close()


def test_a_late_record_joins_its_closed_pane_which_keeps_one_piece(keeper: Keeper) -> None:
    topic = topic_of(at(0), at(0.5), at(5), at(0.7), at(6))
    for first, end in ((0, 1), (1, 2), (2, 3), (3, 5)):
        topic.commit(keeper, batch(first, end), {LATE: OWN})
    closed = keeper.snapshot.cubes[LATE].panes.closed
    assert {pane - BASE_US // MINUTE_US: [piece.cells for piece in own] for pane, own in closed.items()} == {
        0: [1],
        5: [1],
    }
    assert keeper.snapshot.status(LATE)["late"] == 1
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])


def test_the_mark_is_the_least_of_the_partitions_that_the_batch_has_records_of(keeper: Keeper) -> None:
    topic = Topic(partitions={0: [at(5), at(9)], 1: [at(2)], 2: []})
    first = BatchInterval("T", {0: 0, 1: 0, 2: 0}, {0: 1, 1: 1, 2: 0})
    topic.commit(keeper, first, {LATE: OWN})
    assert keeper.query(LATE, {})["watermark"] == minute(2)
    # The others are silent, and hold nothing back.
    topic.commit(keeper, BatchInterval("T", {0: 1, 1: 1, 2: 0}, {0: 2, 1: 1, 2: 0}), {LATE: OWN})
    assert keeper.query(LATE, {})["watermark"] == minute(9)


def test_each_time_expression_has_a_mark_of_its_own(keeper: Keeper) -> None:
    text = "CAST(t AS TIMESTAMP)"
    other = replace(OWN, time=text)
    other_id = cube_id("other", other)
    keeper.define(other_id, other)
    own = partial(OWN, [[at(0), at(5)]])
    newest = {"t": {0: BASE_US + 5 * MINUTE_US}, text: {0: BASE_US + MINUTE_US, 1: BASE_US + 2 * MINUTE_US}}
    keeper.commit(batch(0, 2), {LATE: own, other_id: own}, newest)
    assert [keeper.query(each, {})["watermark"] for each in (LATE, other_id)] == [minute(5), minute(1)]
    assert keeper.query(LATE, {"last_s": 120})["interval"] == [minute(3), minute(5)]


def test_a_batch_that_comes_again_moves_no_mark(keeper: Keeper) -> None:
    topic = Topic(partitions={0: [at(1)], 1: [at(9)]})
    topic.commit(keeper, BatchInterval("T", {0: 0, 1: 0}, {0: 1, 1: 1}), {LATE: OWN})
    # By itself the second partition would move it.
    topic.commit(keeper, batch(0, 1, partition=1), {LATE: OWN})
    assert keeper.query(LATE, {})["watermark"] == minute(1)


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
        narrow_id: "the pane of 2013-07-10T00:00:00Z has 5 cells, and cube_cells is 3",
    }
    keeper.close()
    keeper = opened(tmp_path, limits=CubeLimits(pane_cells=30))
    assert set(topic.commit(keeper, batch(5, 6), cubes).parked) == {narrow_id}
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])
    # A parked cube answers, and says since when it misses records.
    assert sum(row[2] for row in rows_of(keeper, narrow_id)) == 3
    gaps = keeper.query(narrow_id, {"live": True})["gaps"]
    assert [(gap["from"], gap["to"]) for gap in gaps] == [(minute(2), None)]
    keeper.resume(narrow_id)
    assert keeper.query(narrow_id, {"live": True})["gaps"] == [{**gaps[0], "to": None}]
    topic.partitions[0] += [at(11)]
    assert topic.commit(keeper, batch(6, 7), cubes).folded == {LATE, narrow_id}
    (gap,) = keeper.query(narrow_id, {"live": True})["gaps"]
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
    assert found.parked == {LATE: "it has 4 panes, and cube_panes is 3: choose a longer grain"}
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
    answer = keeper.query(LATE, {"by": [], "live": True})
    told = f"a piece of the pane of {minute(1)} is damaged"
    # The answer is that of the other panes; the pane is a gap, and so is what comes after the cube was parked.
    assert answer["rows"][0]["n"] == 3
    assert {(gap["from"], gap["to"], gap["reason"]) for gap in answer["gaps"]} == {
        (minute(1), minute(2), told),
        (minute(3), None, told),
    }
    assert keeper.query(LATE, {"from": minute(0), "to": minute(1)})["whole"]
    assert not keeper.query(LATE, {"from": minute(1), "to": minute(2)})["whole"]
    assert keeper.query(other, {"by": [], "live": True})["rows"][0]["n"] == 4
    topic.partitions[0] += [at(7)]
    found = topic.commit(keeper, batch(4, 5), {LATE: OWN, other: OWN})
    assert (found.folded, dict(found.parked)) == ({other}, {LATE: told})
    keeper.close()
    keeper = opened(tmp_path)
    assert keeper.snapshot.status(LATE)["parked"] == told
    keeper.resume(LATE)
    assert number not in [piece.number for piece in keeper.snapshot.cubes[LATE].panes.pieces()]
    topic.partitions[0] += [at(8)]
    assert topic.commit(keeper, batch(5, 6), {LATE: OWN, other: OWN}).folded == {LATE, other}
    assert [gap["to"] for gap in keeper.query(LATE, {"live": True})["gaps"]] == [minute(2), just_after(8)]
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


def test_the_same_generation_goes_on_and_another_begins_empty(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(6)))
    keeper = opened(tmp_path)
    assert keeper.define(LATE, OWN)
    topic.commit(keeper, batch(0, 3), {LATE: OWN})
    assert not keeper.define(LATE, OWN)
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 3
    other = definition(grain_s=900)
    assert keeper.define(cube_id("late", other), other)
    with pytest.raises(UnknownQueryError, match="is not kept"):
        keeper.query(LATE, {})
    # A batch that is bound to the former definition.
    assert topic.commit(keeper, batch(3, 4), {LATE: OWN}).dropped == {LATE}
    assert topic.commit(keeper, batch(4, 6), {cube_id("late", other): other}).folded == {cube_id("late", other)}
    assert sum(row[2] for row in rows_of(keeper, cube_id("late", other))) == 2
    keeper.close()


def test_without_cubes_nothing_is_written(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    found = topic_of(at(0)).commit(keeper, batch(0, 1), {LATE: OWN})
    assert (found.commit, found.dropped, keeper.snapshot.commit) == (None, {LATE}, 0)
    keeper.close()


def test_a_removed_cube_leaves_nothing(keeper: Keeper, tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(6)))
    keeper.define(CubeId("other", "x"), OWN)
    topic.commit(keeper, batch(0, 6), {LATE: OWN, CubeId("other", "x"): OWN})
    keeper.remove("other")
    keeper.remove("other")
    keeper.close()
    connection = sqlite3.connect(tmp_path / "cubes.sqlite")
    for table in ("pieces", "coverage", "counters", "gaps"):
        assert connection.execute(f"SELECT DISTINCT cube FROM {table}").fetchall() in ([(1,)], [])
    connection.close()
    again = opened(tmp_path)
    assert set(again.snapshot.cubes) == {LATE}
    again.define(CubeId("other", "x"), OWN)
    assert rows_of(again, CubeId("other", "x")) == []
    again.close()


def test_records_of_other_types_than_the_pieces_park_the_cube(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    topic_of(at(0)).commit(keeper, batch(0, 1), {LATE: OWN})
    keeper.close()
    for ddl, told in (
        ("carrier STRING, dest STRING, delay DECIMAL(9, 2), t TIMESTAMP", "other types"),
        ("carrier STRING, delay BIGINT, t TIMESTAMP", "unknown column"),
    ):
        changed = Keeper.open(tmp_path / "cubes.sqlite", Schema.of(ddl), CubeLimits(), lateness_s=0)
        with pytest.raises(QueryError, match=told):
            changed.query(LATE, {})
        with pytest.raises(QueryError, match=told):
            changed.resume(LATE)
        changed.close()
    # Nothing of it is lost meanwhile.
    keeper = opened(tmp_path)
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 1
    keeper.close()


def test_a_definition_that_does_not_fit_is_refused_and_changes_nothing(keeper: Keeper) -> None:
    wrong = definition(measures=["sum(dest) AS d"])
    with pytest.raises(CubeError, match="sum"):
        keeper.define(cube_id("late", wrong), wrong)
    assert set(keeper.snapshot.cubes) == {LATE}


def test_a_ninth_question_is_refused(keeper: Keeper) -> None:
    topic_of(at(0)).commit(keeper, batch(0, 1), {LATE: OWN})
    entered, go_on = threading.Semaphore(0), threading.Event()

    class Waiting(dict):  # type: ignore[type-arg]
        def get(self, name: str, default: object = None) -> object:
            entered.release()
            go_on.wait(60)
            return default

    threads = [threading.Thread(target=keeper.query, args=(LATE, Waiting())) for _ in range(8)]
    for each in threads:
        each.start()
    for _ in threads:
        assert entered.acquire(timeout=60)
    try:
        with pytest.raises(TooManyQuestionsError, match="questions 8: are answered now"):
            keeper.query(LATE, {})
    finally:
        go_on.set()
        for each in threads:
            each.join()
    assert keeper.query(LATE, {"live": True})["rows"]


def test_the_file_is_beside_the_folder_of_the_stream(tmp_path: Path) -> None:
    path = cubes_path(tmp_path, "flights")
    assert path == tmp_path / ".cubes" / "flights" / "cubes.sqlite"
    Keeper.open(path, SCHEMA, CubeLimits(), lateness_s=10).close()
    assert path.is_file()


def test_a_second_process_is_refused_while_one_has_the_file(keeper: Keeper, tmp_path: Path) -> None:
    text = (
        "import sys; from pathlib import Path; from broker.operators.cube.store import Store\n"
        "from broker.errors import CubeStoreError\n"
        "try: Store.open(Path(sys.argv[1]))\n"
        "except CubeStoreError as error: print(error)\n"
        "assert 'pyspark' not in sys.modules\n"
    )
    command = [sys.executable, "-c", text, str(tmp_path / "cubes.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("is open in another process: stop that one")


def test_a_copy_is_a_file_that_a_keeper_starts_with(keeper: Keeper, tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(6)))
    topic.commit(keeper, batch(0, 6), {LATE: OWN})
    (tmp_path / "copies").mkdir()
    keeper.dump(tmp_path / "copies" / "cubes.sqlite")
    with pytest.raises(CubeStoreError, match="is there already"):
        keeper.dump(tmp_path / "copies" / "cubes.sqlite")
    assert [each.name for each in (tmp_path / "copies").iterdir()] == ["cubes.sqlite"]
    copy = opened(tmp_path / "copies")
    assert rows_of(copy, LATE) == duckdb_rows(topic.partitions[0])
    assert topic.commit(copy, batch(0, 6), {LATE: OWN}).covered == {LATE}
    copy.close()
