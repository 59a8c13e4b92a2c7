# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops over the pairs of neighbouring points in a window, and over chains of settings
(:mod:`asc.operators.dbscan.chains`).

The rank of a pair is the index of the smallest radius that reaches it. A step is the index of a setting in its chain.

The loops over chains take their arrays one by one. They are called for each setting, and for a window of a thousand
points a NamedTuple would take 5 % more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asc.compiled import compiled

Array = Any


class StoredPairs(NamedTuple):
    """The stored pairs of neighbours (``starts``, ``older`` and ``ranks`` of
    :class:`asc.operators.dbscan.neighbours.Neighbours`), and a choice of their points. ``rows``: the indices of the
    chosen points, ascending.

    ``places``: for each stored point from ``rows[0]`` on, its index in ``rows``; -1 if the point is not chosen.
    ``moved``: the new rank for each stored rank. A pair is not counted if its new rank equals the number of new ranks,
    because no radius in use reaches it.
    """

    starts: Array
    older: Array
    ranks: Array
    rows: Array
    places: Array
    moved: Array


@compiled
def count_pairs(stored: StoredPairs, ends: Array) -> int:
    """Count the pairs of chosen points by rank. Write the cumulated counts to ``ends`` int64[ranks + 1]. Return the
    number of pairs.
    """
    starts, older, ranks = stored.starts, stored.older, stored.ranks
    rows, places, moved = stored.rows, stored.places, stored.moved
    count, first, limit = 0, rows[0], ends.size - 1
    for i in range(rows.size):
        for k in range(starts[rows[i]], starts[rows[i] + 1]):
            if older[k] < first:
                break
            rank = moved[ranks[k]]
            if rank < limit and places[older[k] - first] >= 0:
                ends[rank + 1] += 1
                count += 1
    for rank in range(1, ends.size):
        ends[rank] += ends[rank - 1]
    return count


@compiled
def sort_pairs(stored: StoredPairs, ends: Array, out_newer: Array, out_older: Array, degrees: Array) -> None:
    """Write the pairs that :func:`count_pairs` counted, sorted by rank, as indices in ``rows``. Count the neighbours of
    each row in ``degrees``.

    ``ends``: initially the start of the pairs of each rank, finally the end of these pairs.
    """
    starts, older, ranks = stored.starts, stored.older, stored.ranks
    rows, places, moved = stored.rows, stored.places, stored.moved
    first, limit = rows[0], ends.size - 1
    for i in range(rows.size):
        for k in range(starts[rows[i]], starts[rows[i] + 1]):
            if older[k] < first:
                break
            rank, j = moved[ranks[k]], places[older[k] - first]
            if rank < limit and j >= 0:
                place = ends[rank]
                ends[rank] = place + 1
                out_newer[place] = i
                out_older[place] = j
                degrees[i] += 1
                degrees[j] += 1


@compiled
def list_both(newer: Array, older: Array, ends: Array, next_of: Array, near: Array, near_ranks: Array) -> None:
    """List the neighbours of each point by rank, from pairs that are sorted by rank.

    ``newer``, ``older``: the points of each pair. ``ends``: the end of the pairs of each rank. ``near``,
    ``near_ranks``: receive the neighbours and the ranks of their pairs. ``next_of``: initially the start of the list of
    each point, finally the end of the list.
    """
    k = 0
    for rank in range(ends.size - 1):
        while k < ends[rank]:
            i, j = newer[k], older[k]
            near[next_of[i]] = j
            near_ranks[next_of[i]] = rank
            next_of[i] += 1
            near[next_of[j]] = i
            near_ranks[next_of[j]] = rank
            next_of[j] += 1
            k += 1


@compiled
def cover(ranks: Array, least: Array, firsts: Array, chains: Array, last: Array) -> int:
    """Assign each setting to a chain, so that there are few chains. Write the number of the chain of each setting to
    ``chains``. Return the number of chains.

    The caller ensures that settings are in ascending order of ``ranks`` (the rank of the radius), then in descending
    order of ``least`` (min_samples) and of ``firsts`` (the first point). A setting is appended to a chain whose last
    setting is at least as restricted. If there are several such chains, the chain with the most similar last setting is
    chosen. ``last`` is scratch for the last setting of each chain.
    """
    count, widest, longest = 0, 1.0, 1.0
    for k in range(ranks.size):
        widest, longest = max(widest, 1.0 + least[k]), max(longest, 1.0 + firsts[k])
    for k in range(ranks.size):
        best, loss = -1, 3.0
        for chain in range(count):
            before = last[chain]
            if least[before] >= least[k] and firsts[before] >= firsts[k]:
                own = (least[before] - least[k]) / widest + (firsts[before] - firsts[k]) / longest
                if own < loss:
                    best, loss = chain, own
        if best < 0:
            best = count
            count += 1
        last[best] = k
        chains[k] = best
    return count


@compiled
def find_core(
    near_starts: Array,
    near: Array,
    near_ranks: Array,
    rank_steps: Array,
    point_steps: Array,
    least: Array,
    counts: Array,
    steps: Array,
) -> None:
    """Write to ``steps`` for each point the first step of a chain at which it is a core point. If the point never is a
    core point, write the number of steps.

    ``near_starts``, ``near``, ``near_ranks``: the result of :func:`list_both`. ``rank_steps``: for each rank, the first
    step whose radius reaches pairs of this rank. ``point_steps``: for each point, the first step whose window contains
    it. ``least``: min_samples of each step. ``counts`` int64[steps] is scratch.
    """
    chain = least.size
    for point in range(steps.size):
        begin = point_steps[point]
        step = chain
        if begin < chain:
            needed = least[begin] - 1
            for k in range(chain):
                counts[k] = 0
            # ``reached`` counts the neighbours of the first step, and ``counts`` the others by step.
            reached = 0
            k, end = near_starts[point], near_starts[point + 1]
            while k < end and reached < needed:
                near_step = rank_steps[near_ranks[k]]
                if near_step == chain:
                    break
                near_step = max(near_step, point_steps[near[k]])
                if near_step <= begin:
                    reached += 1
                elif near_step < chain:
                    counts[near_step] += 1
                k += 1
            if reached >= needed:
                step = begin
            else:
                for later in range(begin + 1, chain):
                    reached += counts[later]
                    if reached >= least[later] - 1:
                        step = later
                        break
        steps[point] = step


@compiled
def list_ranks(near_starts: Array, near: Array, near_ranks: Array, first: int, ranks: Array) -> None:
    """Write to ``ranks`` for each point from ``first`` on the ranks of the pairs with its nearest neighbours,
    ascending. Points before ``first`` do not count as neighbours.

    ``ranks`` uint16[number, points] initially holds the greatest uint16. The first row is for the point itself, with
    rank 0.
    """
    for point in range(first, near_starts.size - 1):
        ranks[0, point] = 0
        count = 1
        for k in range(near_starts[point], near_starts[point + 1]):
            if count == ranks.shape[0]:
                break
            if near[k] >= first:
                ranks[count, point] = near_ranks[k]
                count += 1


@compiled
def mark_core(ranks: Array, rank: int, step: int, steps: Array) -> None:
    """Write ``step`` to ``steps`` for each point whose rank in ``ranks`` is at most ``rank``: the points that are core
    points at this step. Do not overwrite an earlier step.
    """
    for point in range(steps.size):
        if ranks[point] <= rank and steps[point] > step:
            steps[point] = step


@compiled
def sort_by_step(steps: Array, ends: Array, order: Array) -> None:
    """Write the points to ``order``, sorted by step. Write the end of each step's points to ``ends`` int64[steps + 1],
    which initially holds zeros.
    """
    for point in range(steps.size):
        ends[steps[point]] += 1
    total = 0
    for step in range(ends.size):
        own = ends[step]
        ends[step] = total
        total += own
    for point in range(steps.size):
        order[ends[steps[point]]] = point
        ends[steps[point]] += 1


@compiled
def root_of(parents: Array, point: int) -> int:
    """Return the root of a point in the union-find ``parents``, which represents the point's component. Halve the path
    to the root on the way.
    """
    while parents[point] != point:
        parents[point] = parents[parents[point]]
        point = parents[point]
    return point


@compiled
def grow(
    step: int,
    newer: Array,
    older: Array,
    low: int,
    high: int,
    near_starts: Array,
    near: Array,
    near_ranks: Array,
    rank: int,
    steps: Array,
    fresh: Array,
    parents: Array,
) -> None:
    """Unite in the union-find ``parents`` the components of core points that the step ``step`` of a chain connects.
    They are connected by new pairs of earlier core points, or by new core points.

    ``low`` and ``high``: the range of the pairs, in order of rank, that the radius of this step reaches and the radius
    of the preceding step does not reach. ``rank``: the rank of this step's radius. ``fresh``: the new core points. The
    root of a component is its first point.
    """
    for k in range(low, high):
        root, other = parents[newer[k]], parents[older[k]]
        if root != other and steps[newer[k]] < step and steps[older[k]] < step:
            root, other = root_of(parents, root), root_of(parents, other)
            if root < other:
                parents[other] = root
            elif other < root:
                parents[root] = other
    for point in fresh:
        point_root = root_of(parents, point)
        for k in range(near_starts[point], near_starts[point + 1]):
            if near_ranks[k] > rank:
                break
            j = near[k]
            # Each pair of new core points is united only once.
            if parents[j] != point_root and (steps[j] < step or (steps[j] == step and j < point)):
                other = root_of(parents, j)
                if other < point_root:
                    parents[point_root] = other
                    point_root = other
                elif point_root < other:
                    parents[other] = point_root


@compiled
def write_labels(
    step: int,
    first: int,
    near_starts: Array,
    near: Array,
    near_ranks: Array,
    rank: int,
    steps: Array,
    parents: Array,
    labels: Array,
    is_core: Array,
) -> int:
    """Write the label that each point from ``first`` on has at the step ``step`` of a chain to ``labels``. Write
    whether the point is core to ``is_core``. Return the number of clusters.
    """
    count, cores = 0, 0
    for point in range(first, steps.size):
        core = steps[point] <= step
        is_core[point - first] = core
        if not core:
            labels[point - first] = -1
            continue
        cores += 1
        # The root is the first point of its component.
        root = root_of(parents, point)
        if root == point:
            labels[point - first] = count
            count += 1
        else:
            parents[point] = root
            labels[point - first] = labels[root - first]
    # If core points are few, each writes its label to its neighbours. Otherwise each other point reads the labels of
    # its neighbours.
    is_written = cores * 4 < steps.size - first
    for point in range(first, steps.size):
        if (steps[point] <= step) != is_written:
            continue
        label = labels[point - first] if is_written else count
        for k in range(near_starts[point], near_starts[point + 1]):
            if near_ranks[k] > rank:
                break
            j = near[k]
            if is_written:
                if steps[j] > step and j >= first and (labels[j - first] < 0 or label < labels[j - first]):
                    labels[j - first] = label
            elif steps[j] <= step:
                label = min(label, labels[j - first])
        if not is_written and label < count:
            labels[point - first] = label
    return count
