"""Backfill of a keeper's cubes: equal to cubes that were there from the start, whatever live batches come meanwhile."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asc.operators.cube.output import Output
from broker.operators.cube.backfilling import Seam, expired_reason, has_unreported, lacking, newest_part
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.coverage import BatchInterval, Coverage
from broker.operators.cube.cube_state import BEHIND, PAUSED
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    at,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    just_after,
    minute,
    opened,
    rows_of,
    to_form_1,
    topic_of,
)

OWN = definition()
LATE, OTHER = cube_id("late", OWN), cube_id("other", OWN)


def backfill(keeper: Keeper, topic: Topic, end: int, *, begin: int = 0, most: int = 200_000, times: int = 100) -> int:
    """Backfill a cube from a topic of one partition, up to the offset ``end``. Return the number of batches."""
    seam = Seam("T", {0: end}, {0: begin})
    for count in range(times):
        state = keeper.snapshot.cube(LATE)
        lacked = lacking(state.coverage, seam)
        if not lacked and not has_unreported(state, seam):
            return count
        part = newest_part(lacked, most) if lacked else {}
        first, last = ({each: own[place] for (_, each), own in part.items()} for place in (0, 1))
        found = topic.backfill(keeper, BatchInterval("T", first, last), {LATE: OWN}, seam)
        assert found.folded == {LATE}
    return times


def gaps(keeper: Keeper) -> list[tuple[str | None, str | None, str]]:
    found = keeper.snapshot.status(LATE)["gaps"]
    return [(own["from"], own["to"], own["reason"]) for own in found]


def test_the_newest_offsets_are_read_first_and_each_partition_gets_its_share() -> None:
    lacked = Coverage().with_all({("T", 1): [(40, 60)]}).uncovered({("T", 0): (0, 300), ("T", 1): (0, 100)})
    assert newest_part(lacked) == {("T", 0): (0, 300), ("T", 1): (60, 100)}
    assert newest_part(lacked, 34) == {("T", 0): (270, 300), ("T", 1): (96, 100)}
    assert newest_part(lacked, 1) == {("T", 0): (299, 300), ("T", 1): (99, 100)}


def test_past_records_join_their_panes_and_are_not_late(keeper: Keeper) -> None:
    topic = topic_of(*(at(each / 2) for each in range(20)))
    keeper.define(LATE, OWN)
    topic.commit(keeper, batch(14, 20), {LATE: OWN}, apart=[LATE])
    marks, clocks = keeper.snapshot.marks, keeper.snapshot.clocks
    assert gaps(keeper) == [(None, just_after(9.5), "before its first batch")]
    assert backfill(keeper, topic, 14, most=5, times=2) == 2
    assert gaps(keeper) == [(None, just_after(9.5), "before its first batch")]
    assert backfill(keeper, topic, 14, most=5) == 1
    assert (keeper.snapshot.marks, keeper.snapshot.clocks) == (marks, clocks)
    assert gaps(keeper) == []
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])
    status = keeper.snapshot.status(LATE)
    assert status["accounting"] == (
        "20 accepted = 20 counted (0 late, 14 backfilled) + 0 apart + 0 expired + 0 time + 0 future_timestamp"
        " + 0 too_large"
    )
    assert status["coverage"] == [{"topic_id": "T", "partition": 0, "from": 0, "to": 20}]
    assert all(len(own) == 1 for own in keeper.snapshot.cube(LATE).panes.closed.values())


def test_written_windows_with_past_records_are_to_be_revised(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    output = Output.parse({"output": [[]], "window_s": 60, "slide_s": 60}, OWN)
    keeper.define(LATE, OWN, output, "windows")
    topic.commit(keeper, batch(6, 10), {LATE: OWN}, apart=[LATE])
    state = keeper.snapshot.cube(LATE)
    assert state.windows is not None
    due_to = state.windows.due_to(first_open(keeper.snapshot.marks["t"], 0, MINUTE_US))
    keeper.note(LATE, replace(state.windows, written=due_to, is_due=False), {})
    assert backfill(keeper, topic, 6) == 1
    windows = keeper.snapshot.cube(LATE).windows
    assert windows is not None
    (change,) = windows.changes
    assert ([(each - BASE_US // MINUTE_US) for each in change.panes.tolist()], windows.is_due) == ([*range(6)], True)


def test_without_a_live_batch_a_cube_is_whole_once_all_is_read(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    keeper.define(LATE, OWN)
    backfill(keeper, topic, 8, most=3, times=2)
    # The newest records make the mark, as there is none, so that the panes of a stream at rest close.
    assert gaps(keeper) == [(None, just_after(7), "before its first batch")]
    assert keeper.snapshot.marks == {"t": BASE_US + 7 * MINUTE_US}
    backfill(keeper, topic, 8)
    assert (gaps(keeper), keeper.snapshot.marks) == ([], {"t": BASE_US + 7 * MINUTE_US})
    # The first live batch begins at the seam, and counts no record twice.
    assert topic.commit(keeper, batch(8, 10), {LATE: OWN}).folded == {LATE}
    assert gaps(keeper) == []
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])


def test_live_batches_after_the_seam_that_the_cube_misses_are_a_gap(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    keeper.define(LATE, OWN)
    backfill(keeper, topic, 4)
    topic.commit(keeper, batch(7, 10), {LATE: OWN})
    assert gaps(keeper) == [(minute(3), just_after(9), PAUSED)]
    backfill(keeper, topic, 10)
    assert gaps(keeper) == []
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])


def test_a_pause_is_made_up_for(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(12)))
    for cube in (LATE, OTHER):
        keeper.define(cube, OWN)
    topic.commit(keeper, batch(0, 3), {LATE: OWN, OTHER: OWN})
    keeper.pause(["late"])
    topic.commit(keeper, batch(3, 6), {OTHER: OWN})
    # It is served again, and no live batch came yet.
    backfill(keeper, topic, 6, most=2, times=1)
    assert gaps(keeper) == [(minute(2), just_after(5), PAUSED)]
    backfill(keeper, topic, 6)
    assert gaps(keeper) == []
    keeper.pause(["late"])
    topic.commit(keeper, batch(6, 8), {OTHER: OWN})
    topic.commit(keeper, batch(8, 10), {LATE: OWN, OTHER: OWN})
    assert gaps(keeper) == [(minute(5), just_after(9), PAUSED)]
    backfill(keeper, topic, 10)
    assert gaps(keeper) == []
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0][:10])
    assert keeper.snapshot.status(OTHER)["gaps"] == []


def test_other_cubes_do_not_change(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(8)))
    for cube in (LATE, OTHER):
        keeper.define(cube, OWN)
    topic.commit(keeper, batch(4, 8), {LATE: OWN, OTHER: OWN})
    other = keeper.snapshot.status(OTHER)
    backfill(keeper, topic, 4, most=3)
    assert keeper.snapshot.status(OTHER) == other
    assert BEHIND not in {reason for _, _, reason in gaps(keeper)}


def test_offsets_that_a_live_batch_has_folded_meanwhile_are_skipped(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(9)))
    keeper.define(LATE, OWN)
    topic.commit(keeper, batch(6, 9), {LATE: OWN})
    # The stream began again at the first offset while a backfill batch was read.
    topic.commit(keeper, batch(0, 4), {LATE: OWN})
    seam = Seam("T", {0: 6}, {})
    commit = keeper.snapshot.commit
    stale = topic.backfill(keeper, batch(2, 6), {LATE: OWN}, seam)
    assert (stale.commit, stale.folded, keeper.snapshot.commit) == (None, frozenset(), commit)
    backfill(keeper, topic, 6)
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0])
    # And the other way round: the live batch is skipped, as far as it is folded already.
    assert topic.commit(keeper, batch(4, 9), {LATE: OWN}).covered == {LATE}
    assert (rows_of(keeper, LATE), gaps(keeper)) == (duckdb_rows(topic.partitions[0]), [])


@pytest.mark.parametrize("most", [100, 3])
def test_expired_offsets_are_a_gap_up_to_the_first_records_that_are_left(keeper: Keeper, most: int) -> None:
    topic = topic_of(*(at(each) for each in range(12)))
    keeper.define(LATE, OWN)
    topic.commit(keeper, batch(10, 12), {LATE: OWN})
    backfill(keeper, topic, 10, begin=4, most=most)
    to = just_after(9) if most == 100 else just_after(6)
    assert gaps(keeper) == [(None, to, expired_reason(0, 4))]
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0][4:])
    # It is reported once, and nothing is left to do.
    assert backfill(keeper, topic, 12, begin=4) == 0


def test_if_all_past_offsets_have_expired_the_gap_says_so(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(6)))
    keeper.define(LATE, OWN)
    topic.commit(keeper, batch(4, 6), {LATE: OWN})
    assert backfill(keeper, topic, 6, begin=4) == 1
    assert gaps(keeper) == [(None, just_after(5), expired_reason(0, 4))]


def test_a_topic_made_again_has_a_gap_that_stays(keeper: Keeper) -> None:
    topic = topic_of(*(at(each) for each in range(8)))
    keeper.define(LATE, OWN)
    topic.commit(keeper, batch(6, 8, topic_id="S"), {LATE: OWN})
    topic.commit(keeper, batch(4, 8), {LATE: OWN})
    backfill(keeper, topic, 8)
    # The records of the former topic from before its first batch cannot be read any more.
    assert [reason for _, _, reason in gaps(keeper)] == ["before its first batch"]
    assert [(own["topic_id"], own["from"]) for own in keeper.snapshot.status(LATE)["coverage"]] == [("S", 6), ("T", 0)]


def test_what_was_requested_survives_a_start_and_is_removed_with_its_cube(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    keeper.want_backfill(LATE)
    keeper.close()
    keeper = opened(tmp_path)
    assert keeper.snapshot.cube(LATE).is_wanted
    keeper.remove("late")
    keeper.define(LATE, OWN)
    assert not keeper.snapshot.cube(LATE).is_wanted
    keeper.want_backfill(LATE)
    keeper.want_backfill(LATE, is_wanted=False)
    keeper.close()
    keeper = opened(tmp_path)
    assert not keeper.snapshot.cube(LATE).is_wanted
    keeper.close()


def test_gaps_of_a_former_version_stay_because_their_offsets_are_not_known(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(10)))
    keeper = opened(tmp_path)
    for cube in (LATE, OTHER):
        keeper.define(cube, OWN)
    topic.commit(keeper, batch(0, 3), {LATE: OWN, OTHER: OWN})
    topic.commit(keeper, batch(3, 6), {OTHER: OWN})
    topic.commit(keeper, batch(6, 8), {LATE: OWN, OTHER: OWN})
    keeper.close()
    to_form_1(tmp_path)
    keeper = opened(tmp_path)
    before = gaps(keeper)
    backfill(keeper, topic, 8)
    assert gaps(keeper) == before == [(minute(2), just_after(7), PAUSED)]
    assert rows_of(keeper, LATE) == duckdb_rows(topic.partitions[0][:8])
    keeper.close()


records = st.lists(
    st.tuples(
        *(st.sampled_from(own) for own in (["B6", "UA", None], ["JFK", "LAX"], [1, 2**63 - 1, None])),
        st.none() | st.integers(0, 6 * MINUTE_US),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=40, phases=(Phase.generate,), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    records=records,
    cuts=st.lists(st.integers(0, 40), max_size=6),
    most=st.lists(st.integers(1, 15), min_size=1, max_size=6),
)
def test_a_backfilled_cube_has_the_bytes_of_one_that_was_there_from_the_start(
    records: list[Record], cuts: list[int], most: list[int]
) -> None:
    topic = topic_of(*records, ("B6", "JFK", 1, 60 * MINUTE_US))
    end = len(topic.partitions[0])
    bounds = sorted({0, *(min(cut, len(records)) for cut in cuts), end})
    start = bounds[(len(bounds) - 1) // 2]
    with tempfile.TemporaryDirectory() as folder:
        keeper = opened(Path(folder))
        keeper.define(OTHER, OWN)
        for first, last in pairwise(bounds):
            if first >= start:
                keeper.define(LATE, OWN)
            cubes = {OTHER: OWN, LATE: OWN} if first >= start else {OTHER: OWN}
            topic.commit(keeper, batch(first, last), cubes)
            if first >= start:
                # Live batches commit between the batches of a backfill.
                backfill(keeper, topic, last, most=most[first % len(most)], times=first % 3)
        backfill(keeper, topic, end, most=most[0])
        late, other = (closed_bytes(keeper, query) for query in (LATE, OTHER))
        assert late == other
        assert keeper.snapshot.status(LATE)["gaps"] == []
        counts = [keeper.snapshot.status(query) for query in (LATE, OTHER)]
        assert counts[0]["accepted"] == counts[1]["accepted"] == end
        assert counts[0]["time"] == counts[1]["time"]
        keeper.close()


def closed_bytes(keeper: Keeper, cube: object) -> dict[int, list[bytes]]:
    """Return the bytes of the closed panes of a cube."""
    panes = next(own.panes.closed for each, own in keeper.snapshot.cubes.items() if each == cube)
    return {pane: [bytes(keeper._store.piece(own.number) or b"") for own in pieces] for pane, pieces in panes.items()}
