"""Coverage against sets of offsets."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from broker.operators.cube.coverage import INTERVALS_MAX, BatchInterval, Coverage, Interval, Place, merged, without
from tests.broker.operators.cube.kept_stream import MINUTE_US, Topic, batch, cube_id, definition, opened

intervals = st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda own: (own[0], own[0] + own[1]))
places = st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 2))
batches = st.dictionaries(places, intervals, max_size=4)

Offsets = set[tuple[Place, int]]


def offsets(batch: Mapping[Place, Interval]) -> Offsets:
    return {(place, offset) for place, own in batch.items() for offset in range(*own)}


def held(coverage: Coverage) -> Offsets:
    return {
        (place, offset) for place, several in coverage.intervals.items() for own in several for offset in range(*own)
    }


def singly(batch: Mapping[Place, Interval]) -> dict[Place, list[Interval]]:
    return {place: [own] for place, own in batch.items()}


@given(st.lists(st.tuples(st.booleans(), batches), max_size=8), batches)
def test_it_holds_the_offsets_that_sets_hold(changes: list[tuple[bool, dict[Place, Interval]]], batch: dict) -> None:
    own, model = Coverage(), set[tuple[Place, int]]()
    for is_added, each in changes:
        own = own.with_all(singly(each)) if is_added else own.without_all(each)
        model = model | offsets(each) if is_added else model - offsets(each)
    assert held(own) == model
    rest = Coverage(own.uncovered(batch))
    assert held(rest) == offsets(batch) - model
    assert own.meets(batch) == bool(offsets(batch) & model)
    for several in (*own.intervals.values(), *rest.intervals.values()):
        # Disjoint, ascending, and none touches the next one.
        assert all(first[1] < second[0] for first, second in pairwise(several))
    for place, several in own.intervals.items():
        assert own.end(place) == max(end for _, end in several)


@given(st.lists(intervals))
def test_merging_is_the_same_in_any_order(given_intervals: list[Interval]) -> None:
    assert merged(given_intervals) == merged(reversed(given_intervals)) == merged(merged(given_intervals))


def test_an_empty_interval_says_where_coverage_begins() -> None:
    own = Coverage().with_all({("t", 0): [(5, 5)]})
    assert own.end(("t", 0)) == 5
    assert own.with_all({("t", 0): [(5, 9)]}).of(("t", 0)) == ((5, 9),)
    assert not own.meets({("t", 0): (0, 9)})


def test_all_offsets_from_the_first_one_are_told_from_others() -> None:
    whole = Coverage().with_all({("t", 0): [(0, 9)], ("t", 1): [(0, 0)]})
    assert whole.begins_at_zero
    assert not Coverage().begins_at_zero
    assert not whole.with_all({("t", 0): [(10, 12)]}).begins_at_zero
    assert not whole.with_all({("t", 2): [(3, 12)]}).begins_at_zero


def test_a_batch_has_intervals_by_topic_id() -> None:
    batch = BatchInterval("made-again", {0: 3}, {0: 7, 1: 4})
    assert batch.places == {("made-again", 0): (3, 7), ("made-again", 1): (4, 4)}
    assert not Coverage().with_all({("t", 0): [(0, 9)]}).meets(batch.places)
    assert without((3, 7), ()) == ((3, 7),)


@given(st.lists(batches, max_size=12), st.integers(1, 5))
def test_bounded_coverage_has_few_intervals_with_all_offsets_and_the_same_ends(
    given_batches: list[dict[Place, Interval]], most: int
) -> None:
    whole, own = Coverage(), Coverage()
    for each in given_batches:
        whole, own = whole.with_all(singly(each)), own.with_all(singly(each)).bounded(most)
        assert all(len(several) <= most for several in own.intervals.values())
        assert held(own) >= held(whole)
    for place, several in whole.intervals.items():
        assert (own.of(place)[0][0], own.end(place)) == (several[0][0], whole.end(place))
    if all(len(several) <= most for several in whole.intervals.values()):
        assert held(whole.bounded(most)) == held(whole)


def test_ten_thousand_pauses_leave_few_intervals() -> None:
    folded, missed = Coverage(), Coverage()
    for first in range(0, 30_000, 3):
        folded = folded.with_all({("t", 0): [(first, first + 2)]}).bounded()
        missed = missed.with_all({("t", 0): [(first + 2, first + 3)]}).bounded()
    for own in (folded, missed):
        assert len(own.of(("t", 0))) == INTERVALS_MAX
    assert folded.with_all(missed.intervals).of(("t", 0)) == ((0, 30_000),)
    # Of equally near ones the oldest are merged: the newest offsets are known exactly.
    assert folded.of(("t", 0))[-2:] == ((29_994, 29_996), (29_997, 29_999))


def test_a_cube_keeps_few_intervals_and_counts_no_record_twice(tmp_path: Path, full_size: bool) -> None:
    own, late = definition(), cube_id("late", definition())
    pauses = 10_000 if full_size else INTERVALS_MAX + 20
    topic = Topic(partitions={0: [("B6", "JFK", 1, each * MINUTE_US // 100) for each in range(2 * pauses)]})
    keeper = opened(tmp_path)
    keeper.define(late, own)
    for first in range(0, 2 * pauses, 2):
        assert topic.commit(keeper, batch(first, first + 1), {late: own}).folded == {late}
        keeper.pause(["late"])
    keeper.close()
    with contextlib.closing(opened(tmp_path)) as again:
        state = again.snapshot.cube(late)
        assert (len(state.coverage.of(("T", 0))), len(state.missed.of(("T", 0)))) == (INTERVALS_MAX, INTERVALS_MAX)
        assert again._store.execute("SELECT count(*) FROM coverage") == [(2 * INTERVALS_MAX,)]
        # As after a start from the first offset, which brings batches of before again.
        for first in range(0, 2 * pauses, 2 * (pauses // 25)):
            assert topic.commit(again, batch(first, first + 1), {late: own}).covered == {late}
        assert again.questions.query(late, {"by": [], "live": True})["rows"] == [
            {"group": {}, "n": pauses, "d": pauses}
        ]
        assert not again.questions.query(late, {"live": True})["whole"]
