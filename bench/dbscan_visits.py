"""Counts of the neighbours that the engine visits to compute labels. Counting is no part of the engine's
measured time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from asc.compiled import compiled
from asc.operators.dbscan.chains import Step, WindowPairs, chains_of, grown
from asc.operators.dbscan.labels import Setting
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Floats, Ints

Array = Any


def visits_of(points: Floats, settings: Sequence[Setting], neighbours: Neighbours, rows: Ints) -> int:
    """Return the number of neighbours that :func:`asc.operators.dbscan.labels.labelled` visits for the same arguments.

    The pairs of a window are visited twice when they are gathered, and again in the list of each point. Then each chain
    visits neighbours to count them, to unite clusters and to label points. Settings for which the engine uses cells
    instead of neighbour lists count 0.
    """
    places = {setting: neighbours.rank(setting.radius) for setting in dict.fromkeys(settings)}
    stored = [(setting, rank) for setting, rank in places.items() if rank is not None and setting.first < len(points)]
    if not stored:
        return 0
    first = min(setting.first for setting, _ in stored)
    used = np.unique([rank for _, rank in stored])
    pairs = WindowPairs.of(neighbours, rows[first:], used)
    ranks = np.searchsorted(used, [rank for _, rank in stored]).tolist()
    steps = [
        Step(rank, min(setting.min_samples, len(points) + 1), setting.first - first)
        for rank, (setting, _) in zip(ranks, stored, strict=True)
    ]
    pairs = pairs.with_core_ranks(steps)
    visits = 2 * len(pairs.newer) + len(pairs.near)
    for begin, known in pairs.core_ranks.items():
        visits += _listed(pairs.near_starts, begin, len(known))
    for chain in chains_of(steps):
        visits += _of_chain(pairs, [steps[place] for place in chain])
    return visits


def _of_chain(pairs: WindowPairs, chain: Sequence[Step]) -> int:
    visits, reached = 0, 0
    near = (pairs.near_starts, pairs.near_ranks)
    was_core = np.zeros(pairs.points, dtype=np.bool_)
    is_known = bool(pairs.core_ranks) and len(pairs.core_ranks[chain[0].first]) >= chain[0].least
    if not is_known:
        visits += _counting(*near, chain[-1].rank, chain[0].least)
    for step, labels in zip(chain, grown(pairs, chain), strict=True):
        is_core = np.zeros(pairs.points, dtype=np.bool_)
        is_core[step.first :] = labels.is_core
        low, reached = reached, int(pairs.rank_ends[step.rank + 1])
        visits += reached - low
        visits += _within(*near, step.rank, is_core & ~was_core)
        cores = int(np.count_nonzero(labels.is_core))
        asked = np.zeros(pairs.points, dtype=np.bool_)
        asked[step.first :] = labels.is_core if cores * 4 < len(labels.is_core) else ~labels.is_core
        visits += _within(*near, step.rank, asked)
        was_core |= is_core
    return visits


@compiled
def _within(starts: Array, ranks: Array, rank: int, asked: Array) -> int:
    """Count the neighbours up to ``rank`` of the points that ``asked`` marks."""
    count = 0
    for point in range(asked.size):
        if asked[point]:
            for k in range(starts[point], starts[point + 1]):
                if ranks[k] > rank:
                    break
                count += 1
    return count


@compiled
def _counting(starts: Array, ranks: Array, rank: int, least: int) -> int:
    """Count the neighbours that are visited to find out from which rank each point is core. The visit of a point's
    neighbours ends at ``rank``, or when ``least - 1`` of them are counted.
    """
    count = 0
    for point in range(starts.size - 1):
        own = 0
        for k in range(starts[point], starts[point + 1]):
            if ranks[k] > rank or own >= least - 1:
                break
            own += 1
        count += own
    return count


@compiled
def _listed(starts: Array, first: int, number: int) -> int:
    """Count the neighbours that are visited to list the ``number`` nearest neighbours of each point from
    ``first`` on.
    """
    count = 0
    for point in range(first, starts.size - 1):
        count += min(starts[point + 1] - starts[point], number)
    return count
