"""Coverage against sets of offsets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from broker.operators.cube.coverage import BatchInterval, Coverage, Interval, Place, merged, without

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
