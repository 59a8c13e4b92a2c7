"""Chains: sequences of settings with the same selection and end of the window. Each setting is at most as restricted as
the preceding setting: its radius and its window are as large or larger, its min_samples as small or smaller. So
clusters only grow along a chain.

A rank is the index of a radius among all radii in ascending order. The rank of a pair of points is that of the smallest
radius that reaches the pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.chain_kernels import (
    StoredPairs,
    count_pairs,
    cover,
    find_core,
    grow,
    list_both,
    list_ranks,
    mark_core,
    sort_by_step,
    sort_pairs,
    write_labels,
)
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Codes, Flags, Ints

STEPS = 255
"""The most steps (settings) of a chain, so that the number of a step fits into a byte."""

NEAREST = 32
"""The most nearest points of a point for which core ranks are listed."""

SHARING = 4
"""The least number of settings for each different first point at which core ranks are listed. The core rank of a point
is the rank of the smallest radius for which the point is a core point.
"""

CORE_RANK_BYTES = 64 << 20
"""The most bytes of all listed core ranks of a window."""

_Ranks = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Step:
    """A setting in a chain: the rank of its radius (the index among all radii), its min_samples (``least``), and the
    first point of its window.
    """

    rank: int
    least: int
    first: int


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The clusters of one window: the label of each point in order, whether the point is a core point, and the number
    of clusters.

    The label of a point is the number of its cluster; -1 is noise. Clusters are numbered in the order of their first
    core points.
    """

    labels: Codes
    is_core: Flags
    clusters: int


@dataclass(frozen=True, slots=True, eq=False)
class WindowPairs:
    """The pairs of neighbours among the points of one selection up to the end of a window. Each pair has the rank of
    the smallest radius that reaches it.

    ``newer``, ``older``: the indices of each pair's points. ``rank_ends`` int64[ranks + 1]: the pairs of rank r are
    from ``rank_ends[r]`` to before ``rank_ends[r + 1]``. ``near``, ``near_ranks``: the neighbours of each point by
    rank; the neighbours of point n begin at ``near_starts[n]``. ``core_ranks``: by the first point of a window, an
    array whose row n - 1 has, for each point, the rank of its n-th nearest point, itself included. From this rank on
    the point is core for a min_samples of n. Memory: 20 bytes for each pair.
    """

    points: int
    newer: Codes
    older: Codes
    rank_ends: Ints
    near_starts: Ints
    near: Codes
    near_ranks: _Ranks
    core_ranks: Mapping[int, _Ranks] = field(default_factory=dict)

    @staticmethod
    def of(neighbours: Neighbours, rows: Ints, ranks: Ints) -> WindowPairs:
        """Return the pairs among the stored points at the ascending indices ``rows``. ``ranks``: the stored ranks whose
        radii are in use, ascending. The ranks in the result are indices in ``ranks``.
        """
        places = np.full(int(rows[-1] - rows[0]) + 1, -1, dtype=np.int32)
        places[rows - rows[0]] = np.arange(len(rows), dtype=np.int32)
        moved = np.searchsorted(ranks, np.arange(len(neighbours.radii))).astype(np.int32)
        ends = np.zeros(len(ranks) + 1, dtype=np.int64)
        stored = StoredPairs(neighbours.starts, neighbours.older, neighbours.ranks, rows, places, moved)
        count = count_pairs(stored, ends)
        rank_ends = ends.copy()
        newer, older = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        sort_pairs(stored, ends, newer, older, starts[1:])
        np.cumsum(starts, out=starts)
        near, near_ranks = np.empty(2 * count, dtype=np.int32), np.empty(2 * count, dtype=np.uint16)
        list_both(newer, older, ends, starts[:-1].copy(), near, near_ranks)
        return WindowPairs(len(rows), newer, older, rank_ends, starts, near, near_ranks)

    def with_core_ranks(self, steps: Sequence[Step]) -> WindowPairs:
        """Return the pairs with ``core_ranks``, so that steps need not count neighbours. Return the pairs unchanged if
        too few steps would share these ranks, or if the ranks would take too much memory.
        """
        firsts = {step.first for step in steps}
        number = min(max(step.least for step in steps), NEAREST)
        if len(steps) < SHARING * len(firsts) or len(firsts) * number * self.points * 2 > CORE_RANK_BYTES:
            return self
        found = {}
        for first in firsts:
            found[first] = np.full((number, self.points), np.iinfo(np.uint16).max, dtype=np.uint16)
            list_ranks(self.near_starts, self.near, self.near_ranks, first, found[first])
        return replace(self, core_ranks=found)

    @property
    def ranks(self) -> int:
        """Return the number of ranks, which is the number of radii."""
        return len(self.rank_ends) - 1


def chains_of(steps: Sequence[Step]) -> list[list[int]]:
    """Return the chains into which steps are divided, each as a list of indices of the steps. Each step is in exactly
    one chain. A chain begins with its most restricted step.

    >>> chains_of([Step(1, 5, 0), Step(0, 5, 0), Step(0, 4, 2), Step(1, 4, 0)])
    [[1, 0, 3], [2]]
    """
    table = np.array([(own.rank, own.least, own.first) for own in steps], dtype=np.int64).reshape(-1, 3)
    order = np.lexsort((-table[:, 2], -table[:, 1], table[:, 0]))
    ranks, least, firsts = (np.ascontiguousarray(column[order]) for column in table.T)
    chains, last = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    if not len(order):
        return []
    found: list[list[int]] = [[] for _ in range(cover(ranks, least, firsts, chains, last))]
    for place, chain in zip(order.tolist(), chains.tolist(), strict=True):
        found[chain].append(place)
    return [own[low : low + STEPS] for own in found for low in range(0, len(own), STEPS)]


def grown(pairs: WindowPairs, chain: Sequence[Step]) -> Iterator[Labels]:
    """Yield the labels of a window's points for each step of a chain, in order.

    Invariant: from step to step core points and connections only grow, so one count of neighbours and one union-find
    serve all steps. Cost: a look at each pair that the radius of the last step reaches. In addition, each step takes
    time proportional to its core points and to the neighbours of its other points.
    """
    ranks, least, firsts = (np.array(column, dtype=np.int64) for column in zip(*_rows(chain), strict=True))
    steps, order = np.empty(pairs.points, dtype=np.uint8), np.empty(pairs.points, dtype=np.int32)
    near = (pairs.near_starts, pairs.near, pairs.near_ranks)
    if pairs.core_ranks and len(pairs.core_ranks[chain[0].first]) >= chain[0].least:
        steps.fill(len(chain))
        for number, step in enumerate(chain):
            mark_core(pairs.core_ranks[step.first][step.least - 1], step.rank, number, steps)
    else:
        rank_steps = np.searchsorted(ranks, np.arange(pairs.ranks)).astype(np.uint8)
        point_steps = np.searchsorted(-firsts, -np.arange(pairs.points)).astype(np.uint8)
        find_core(*near, rank_steps, point_steps, least, np.empty(len(chain), dtype=np.int64), steps)
    ends = np.zeros(len(chain) + 1, dtype=np.int64)
    sort_by_step(steps, ends, order)
    parents = np.arange(pairs.points, dtype=np.int32)
    reached, fresh = 0, 0
    for number, step in enumerate(chain):
        low, reached = reached, int(pairs.rank_ends[step.rank + 1])
        own = (*near, step.rank, steps)
        grow(number, pairs.newer, pairs.older, low, reached, *own, order[fresh : ends[number]], parents)
        fresh = int(ends[number])
        labels = np.empty(pairs.points - step.first, dtype=np.int32)
        is_core = np.empty(pairs.points - step.first, dtype=np.bool_)
        clusters = write_labels(number, step.first, *own, parents, labels, is_core)
        yield Labels(labels, is_core, clusters)


def _rows(chain: Sequence[Step]) -> Iterator[tuple[int, int, int]]:
    return ((own.rank, own.least, own.first) for own in chain)
