"""Caches of neighbours and labels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.caches import LabelCache, NeighbourCache
from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.labels import Setting, labelled
from asc.operators.dbscan.points import Come, Floats, Points
from tests.asc.operators.dbscan.label_methods import heaps


def points_of(times: list[int]) -> Points:
    """Points on a line in time, whose arrivals are their offsets."""
    come = [Come(time, 0, offset, (time * 0.7 % 5, 0.0), None, 0) for offset, time in enumerate(times)]
    return Points.none(2).merged(Points.arrived(come, 0, 2), 0)[0]


@given(
    times=st.lists(st.integers(0, 40), min_size=1, max_size=40),
    cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from([(0.5,), (0.5, 1.0)])), max_size=6),
    gone=st.lists(st.integers(0, 40), max_size=20),
)
def test_kept_neighbours_are_those_that_are_searched_anew(
    times: list[int], cuts: list[tuple[int, int, tuple[float, ...]]], gone: list[int]
) -> None:
    cache, every = NeighbourCache(), points_of(times)
    for number, (come, most, radii) in enumerate(cuts):
        # Some have not come yet, some that came are gone.
        held = (every.arrival < come) & ~np.isin(every.arrival, gone[: number * 4])
        points = every.take(held)
        settled = min(most, points.count)
        asked = [Setting(radius, least) for radius in radii for least in (1, 2, 3)]
        found = []
        for own in (cache, NeighbourCache(is_kept=False)):
            neighbours, rows = own.of(points, points.values, settled, np.array(radii))
            assert np.array_equal(neighbours.values[rows], points.values[:settled])
            found.append(dict(labelled(points.values[:settled], asked, neighbours, rows)))
        for place in range(len(asked)):
            assert np.array_equal(found[0][place].labels, found[1][place].labels)


def test_neighbours_are_extended_and_not_searched_anew() -> None:
    cache, every = NeighbourCache(), points_of(list(range(100)))
    first, _ = cache.of(every.take(slice(0, 60)), every.values[:60], 60, np.array([1.0]))
    later = every.take(slice(20, 100))
    second, rows = cache.of(later, later.values, 70, np.array([1.0]))
    assert rows.tolist() == list(range(20, 90))
    assert (second.count, first.count) == (90, 60)
    assert cache.of(later, later.values, 40, np.array([1.0]))[0] is second
    # More than half are gone.
    last = every.take(slice(70, 100))
    third, rows = cache.of(last, last.values, 30, np.array([1.0]))
    assert (third.count, rows.tolist()) == (30, list(range(30)))


def labels_of(points: Floats) -> Labels:
    return Labels(np.zeros(len(points), dtype=np.int32), np.ones(len(points), dtype=np.bool_), 1)


def test_labels_are_kept_within_their_bytes() -> None:
    cache, own = LabelCache(1_000), labels_of(heaps(100))
    cache.put("one", 7, own)
    assert cache.get("one", 7) is own
    assert cache.get("one", 6) is cache.get("other", 7) is None
    cache.put("other", 7, own)
    assert cache.get("other", 7) is own
    cache.put("third", 7, own)
    assert cache.get("third", 7) is None
    # A window that has no room does not leave the one before in its place.
    cache.put("one", 8, labels_of(heaps(200)))
    assert cache.get("one", 7) is cache.get("one", 8) is None
    cache.put("third", 8, own)
    assert cache.get("third", 8) is own
    cache.drop("third")
    cache.drop("third")
    assert cache.get("third", 8) is None


def test_no_label_is_kept_without_room() -> None:
    cache = LabelCache(0)
    cache.put("one", 7, labels_of(heaps(10)))
    assert cache.get("one", 7) is None
