"""Identity of clusters: the ids that they keep from window to window, and the events by which they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.points import Codes, Flags, Ints
from asc.operators.dbscan.window_kernels import relate

Id = tuple[int, int]
"""The id of a cluster: the end of the window in which the cluster appeared, and its label in that window."""

HeldIds = npt.NDArray[np.void]
"""The ids of the clusters of a window, by label, in 12 bytes each: the form in which a state holds them."""

IDS_HELD_MAX = 10_000
"""The most clusters of a window whose ids are held for the next window. After a window with more clusters, ids start
anew.
"""

_ID_FORM = np.dtype([("end", "<i8"), ("label", "<i4")])

NEW = -2
"""The value of ``Evolution.taken`` for a cluster whose id is new, in place of an old label."""


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """The clusters of the preceding window, with which a window is compared.

    ``ids``: the id of each label. ``sizes``: the number of points of each label. ``labels`` and ``is_core``: arrays
    over the points that are in both windows, in order.
    """

    ids: Sequence[Id]
    sizes: Ints
    labels: Codes
    is_core: Flags


@dataclass(frozen=True, slots=True)
class Evolution:
    """The evolution of clusters from one window to the next.

    ``ids``, ``origins``, ``events`` and ``taken`` have one element for each new label. ``origins``: the ids of the
    preceding window's clusters to which the cluster is related by common points, older first. ``events``: the changes
    of the cluster, such as ``grow`` or ``merge``. ``taken``: the preceding window's label of the cluster whose id the
    cluster continues; NEW if there is none. ``disappeared``: each id of the preceding window that no cluster continues,
    with the ids of the clusters that its points joined.
    """

    ids: Sequence[Id]
    origins: Sequence[Sequence[Id]]
    events: Sequence[Sequence[str]]
    taken: Codes
    disappeared: Mapping[Id, Sequence[Id]] = field(default_factory=dict)


def evolved(
    now: Labels, end: int, sizes: Ints, before: Before | None = None, common: Ints | slice | None = None
) -> Evolution:
    """Return the evolution of the preceding window's clusters in a window that ends at ``end``.

    ``sizes``: the number of points of each cluster. ``before``: the clusters of the preceding window; None if there is
    nothing to compare with. ``common``: the indices, in the window, of the points that are in both windows.
    """
    if before is None or common is None or not before.ids:
        ids = [(end, label) for label in range(now.clusters)]
        all_new = np.full(now.clusters, NEW, dtype=np.int32)
        return Evolution(ids, [()] * now.clusters, [("appear",)] * now.clusters, all_new)
    pairs = _pairs(before, now, common)
    related = _related(pairs)
    old_ids = before.ids
    taken = [NEW] * now.clusters
    free = [True] * len(old_ids)
    for _, _, new, old in sorted((-count, old_ids[old], new, old) for old, new, count in related):
        if free[old] and taken[new] == NEW:
            taken[new] = old
            free[old] = False
    origins: list[list[int]] = [[] for _ in taken]
    heirs = [0] * len(old_ids)
    for old, new, _ in related:
        origins[new].append(old)
        heirs[old] += 1
    ids = [(end, label) if old == NEW else old_ids[old] for label, old in enumerate(taken)]
    joined: dict[int, list[Id]] = {old: [] for old, is_free in enumerate(free) if is_free}
    for old, new, _, _ in pairs:
        if free[old]:
            joined[old].append(ids[new])
    return Evolution(
        ids,
        [sorted(old_ids[old] for old in own) for own in origins],
        [_events(own, heirs, size, before.sizes) for own, size in zip(origins, sizes.tolist(), strict=True)],
        np.array(taken, dtype=np.int32),
        {old_ids[old]: sorted(own) for old, own in sorted(joined.items(), key=lambda each: old_ids[each[0]])},
    )


def held_ids(ids: Sequence[Id]) -> HeldIds | None:
    """Return the ids of a window's clusters in the form in which they are held for the next window. Return None if
    there are none, or more than IDS_HELD_MAX.
    """
    return np.array(ids, dtype=_ID_FORM) if 0 < len(ids) <= IDS_HELD_MAX else None


def held_ids_of_bytes(content: bytes) -> HeldIds | None:
    """Return the held ids from their bytes. Return None if there are more than IDS_HELD_MAX, as in states of version
    0.2.0.
    """
    ids = np.frombuffer(content, dtype=_ID_FORM)
    return ids if len(ids) <= IDS_HELD_MAX else None


def _pairs(before: Before, now: Labels, common: Ints | slice) -> list[list[int]]:
    """Return each pair of an old cluster (of the preceding window) and a new cluster with common points. A pair has the
    old label, the new label, the number of common core points, and the number of common points.
    """
    count = len(before.labels)
    ends, order = np.zeros(len(before.ids) + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    slots, pairs = np.full(now.clusters, -1, dtype=np.int64), np.empty((count, 4), dtype=np.int64)
    new = now.labels[common], now.is_core[common]
    found = relate(before.labels, before.is_core, *new, ends, order, slots, pairs)
    listed: list[list[int]] = pairs[:found].tolist()
    return listed


def _related(pairs: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Return the related pairs of an old and a new label, each with the number of points that relate them.

    Points that are core points in both windows relate a pair. If neither cluster of a pair is related to any cluster by
    such points, all common points relate the pair.
    """
    related = [(old, new, core) for old, new, core, _ in pairs if core]
    old_related, new_related = {old for old, _, _ in related}, {new for _, new, _ in related}
    others = [
        (old, new, points)
        for old, new, core, points in pairs
        if not core and old not in old_related and new not in new_related
    ]
    return related + others


def _events(origins: Sequence[int], heirs: Sequence[int], size: int, sizes: npt.NDArray[np.int64]) -> list[str]:
    """Return the events (changes) of a cluster of ``size`` points. ``origins``: the labels of the preceding window's
    clusters that the cluster is related to. ``heirs``: for each label of the preceding window, the number of clusters
    related to it. ``sizes``: for each of these labels, its number of points.
    """
    if not origins:
        return ["appear"]
    events = ["merge"] if len(origins) > 1 else []
    if any(heirs[old] > 1 for old in origins):
        return [*events, "split"]
    if not events and size != sizes[origins[0]]:
        return ["grow" if size > sizes[origins[0]] else "shrink"]
    return events
