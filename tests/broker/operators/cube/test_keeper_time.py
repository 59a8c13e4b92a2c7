"""The keeper in event time: gaps, panes that close, late records, marks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from asc.operators.cube.json_values import instant_text
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper
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


def test_a_pause_is_a_gap_of_exactly_its_panes(tmp_path: Path) -> None:
    topic = topic_of(*(at(each + 0.5) for each in range(12)))
    keeper = opened(tmp_path, lateness_s=1)
    other = cube_id("other", OWN)
    for each in (LATE, other):
        keeper.define(each, OWN)
    topic.commit(keeper, batch(0, 3), {LATE: OWN, other: OWN})
    topic.commit(keeper, batch(3, 5), {other: OWN})
    paused = keeper.questions.query(LATE, {"live": True})
    assert [(gap["from"], gap["to"], gap["reason"]) for gap in paused["gaps"]] == [
        (instant_text(BASE_US + round(2.5 * MINUTE_US) - 1_000_000), None, "paused")
    ]
    topic.commit(keeper, batch(5, 7), {LATE: OWN, other: OWN})
    keeper.close()
    keeper = opened(tmp_path, lateness_s=1)
    topic.commit(keeper, batch(7, 12), {LATE: OWN, other: OWN})
    whole = [keeper.questions.query(LATE, {"from": minute(n), "to": minute(n + 1)})["whole"] for n in range(11)]
    # From the watermark before, 2.5 minutes less a second, to the newest time after, 6.5 minutes, and a second.
    assert whole == [True, True, False, False, False, False, False, *[True] * 4]
    assert keeper.questions.query(other, {"live": True})["whole"]
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
    (gap,) = keeper.questions.query(other, {"from": minute(5), "to": minute(6)})["gaps"]
    assert gap == {"from": None, "to": None, "reason": "other cubes have read further"}
    topic.commit(keeper, batch(4, 10), both)
    assert keeper.questions.query(other, {"live": True})["gaps"] == []
    assert rows_of(keeper, other) == duckdb_rows(topic.partitions[0])


def test_a_gap_ends_with_the_first_batch_that_has_a_time(keeper: Keeper) -> None:
    topic = topic_of(at(0), at(1), ("B6", "JFK", 1, None), at(5), at(9))
    topic.commit(keeper, batch(0, 1), {LATE: OWN})
    topic.commit(keeper, batch(2, 3), {LATE: OWN})
    assert [gap["to"] for gap in keeper.questions.query(LATE, {"live": True})["gaps"]] == [None]
    topic.commit(keeper, batch(3, 4), {LATE: OWN})
    assert [gap["to"] for gap in keeper.questions.query(LATE, {"live": True})["gaps"]] == [just_after(5)]
    assert keeper.snapshot.status(LATE)["time"] == 1
    assert keeper.snapshot.status(LATE)["accepted"] == 3


def test_coverage_that_begins_now_is_whole_after_its_first_batch(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    keeper = opened(tmp_path, lateness_s=60)
    keeper.define(LATE, OWN)
    assert not keeper.questions.query(LATE, {"live": True})["whole"]
    topic.commit(keeper, batch(3, 5), {LATE: OWN})
    topic.commit(keeper, batch(5, 10), {LATE: OWN})
    # The newest time of its first batch is the fourth minute.
    whole = {n: keeper.questions.query(LATE, {"from": minute(n), "to": minute(8)})["whole"] for n in range(3, 7)}
    assert whole == {3: False, 4: False, 5: True, 6: True}
    assert not keeper.questions.query(LATE, {"live": True})["whole"]
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
    assert keeper.questions.query(LATE, {})["watermark"] == minute(1)
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
    assert keeper.questions.query(LATE, {})["watermark"] == minute(2)
    # The others are silent, and hold nothing back.
    topic.commit(keeper, BatchInterval("T", {0: 1, 1: 1, 2: 0}, {0: 2, 1: 1, 2: 0}), {LATE: OWN})
    assert keeper.questions.query(LATE, {})["watermark"] == minute(9)


def test_each_time_expression_has_a_mark_of_its_own(keeper: Keeper) -> None:
    text = "CAST(t AS TIMESTAMP)"
    other = replace(OWN, time=text)
    other_id = cube_id("other", other)
    keeper.define(other_id, other)
    own = partial(OWN, [[at(0), at(5)]])
    newest = {"t": {0: BASE_US + 5 * MINUTE_US}, text: {0: BASE_US + MINUTE_US, 1: BASE_US + 2 * MINUTE_US}}
    keeper.commit(batch(0, 2), {LATE: own, other_id: own}, newest)
    assert [keeper.questions.query(each, {})["watermark"] for each in (LATE, other_id)] == [minute(5), minute(1)]
    assert keeper.questions.query(LATE, {"last_s": 120})["interval"] == [minute(3), minute(5)]


def test_a_batch_that_comes_again_moves_no_mark(keeper: Keeper) -> None:
    topic = Topic(partitions={0: [at(1)], 1: [at(9)]})
    topic.commit(keeper, BatchInterval("T", {0: 0, 1: 0}, {0: 1, 1: 1}), {LATE: OWN})
    # By itself the second partition would move it.
    topic.commit(keeper, batch(0, 1, partition=1), {LATE: OWN})
    assert keeper.questions.query(LATE, {})["watermark"] == minute(1)
