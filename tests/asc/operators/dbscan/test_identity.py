"""Ids of clusters from window to window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.identity import NEW, Before, Evolution, Id, evolved
from asc.operators.dbscan.reference import Cluster
from asc.operators.dbscan.reference import evolved as evolved_by_reference

Point = tuple[int, bool]
"""The label of a point, -1 for noise, and whether it is core."""


def labels_of(points: Sequence[Point]) -> Labels:
    """Return labels as windows have them: numbered by their first core point, which each has."""
    kept = [label for label, core in points if core and label >= 0]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(kept))}
    found = [numbers.get(label, -1) for label, _ in points]
    core = [core and label >= 0 for label, core in points]
    return Labels(np.array(found, dtype=np.int32), np.array(core, dtype=np.bool_), len(numbers))


def clusters_of(labels: Labels, first: int) -> dict[int, Cluster]:
    found = {}
    for label in range(labels.clusters):
        members = frozenset((first + np.flatnonzero(labels.labels == label)).tolist())
        core = frozenset((first + np.flatnonzero((labels.labels == label) & labels.is_core)).tolist())
        found[label] = Cluster(members, core)
    return found


def compared(old: Labels, ids: Sequence[Id], now: Labels, overlap: int, end: int) -> Evolution:
    """Return the evolution where the last points of the old window are the first ones of the new."""
    sizes = [np.bincount(own.labels[own.labels >= 0], minlength=own.clusters) for own in (old, now)]
    first = len(old.labels) - overlap
    before = Before(ids, sizes[0], old.labels[first:], old.is_core[first:])
    return evolved(now, end, sizes[1], before, np.arange(overlap))


points = st.lists(st.tuples(st.integers(-1, 5), st.booleans()), max_size=30)


@given(old_points=points, new_points=points, overlap=st.integers(0, 30), data=st.data())
def test_ids_and_origins_are_those_of_the_reference(
    old_points: list[Point], new_points: list[Point], overlap: int, data: st.DataObject
) -> None:
    old, now = labels_of(old_points), labels_of(new_points)
    overlap = min(overlap, len(old_points), len(new_points))
    ids = data.draw(st.permutations([(10 * (n // 2), n % 2) for n in range(old.clusters)]))
    found = compared(old, ids, now, overlap, 99)
    old_clusters = {ids[label]: own for label, own in clusters_of(old, 0).items()}
    new_clusters = clusters_of(now, len(old_points) - overlap)
    wanted, related = evolved_by_reference(old_clusters, new_clusters, 99)
    assert list(found.ids) == [wanted[label] for label in range(now.clusters)]
    if ids:
        assert [list(own) for own in found.origins] == [related[label] for label in range(now.clusters)]
    assert found.taken.tolist() == [ids.index(own) if own in ids else NEW for own in found.ids]
    # Every old id lives on or has disappeared, once.
    assert sorted([*found.disappeared, *(own for own in found.ids if own in ids)]) == sorted(ids)
    for own, joined in found.disappeared.items():
        members = old_clusters[own].points
        assert list(joined) == sorted(wanted[label] for label, new in new_clusters.items() if members & new.points)


def test_clusters_merge_and_split_and_grow_and_shrink() -> None:
    def events(old: str, new: str) -> list[list[str]]:
        rows = [[(ord(own) - ord("a") if own != "." else -1, True) for own in text] for text in (old, new)]
        before, now = labels_of(rows[0]), labels_of(rows[1])
        found = compared(before, [(1, label) for label in range(before.clusters)], now, min(map(len, rows)), 9)
        return [list(own) for own in found.events]

    assert events("aabb", "aaaa") == [["merge"]]
    assert events("aaaa", "aabb") == [["split"], ["split"]]
    assert events("aaabb", "aabbb") == [["split"], ["merge", "split"]]
    assert events("aa..", "aaa.") == [["grow"]]
    assert events("aa..", "a...") == [["shrink"]]
    assert events("aa..", "aabb") == [[], ["appear"]]
    assert events("....", "aabb") == [["appear"], ["appear"]]
