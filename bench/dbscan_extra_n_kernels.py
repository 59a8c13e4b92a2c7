# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops of Extra-N: range searches for new points, and predicted views of one query.

Points are numbered along the stream; point p is at index ``p % window`` of an array over the window. View n represents
the window that begins at ``n * slide``, and is at index ``n % views``.
"""

from __future__ import annotations

from typing import Any

from asc.compiled import compiled
from asc.operators.dbscan.chain_kernels import root_of

Array = Any

_X, _Y = 73_856_093, 19_349_663
"""Primes that spread the cells of a plane over hash buckets."""


@compiled
def _bucket(x: int, y: int, buckets: int) -> int:
    return ((x * _X) ^ (y * _Y)) & (buckets - 1)


@compiled
def search_new(
    values: Array,
    first: int,
    last: int,
    side: float,
    square: float,
    window: int,
    cells: Array,
    heads: Array,
    following: Array,
    starts: Array,
    neighbours: Array,
    squares: Array,
) -> int:
    """Run a range search for each new point from ``first`` on, and then insert the point into the index. Return
    ``last`` if all points were inserted. If the capacity for neighbours is too small, return the first point that was
    not inserted.

    ``heads`` int64[buckets, a power of two], filled with -1: the newest point of each bucket. ``following``: for each
    point, the next older point in the same bucket. A search of a bucket ends at an expired point, because all further
    points are older. ``starts``: the index of the first neighbour of each new point.
    """
    count, buckets = starts[0], heads.size
    for point in range(first, last):
        x, y = int(values[point, 0] // side), int(values[point, 1] // side)
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                other = heads[_bucket(x + dx, y + dy, buckets)]
                while other > point - window and other >= 0:
                    place = other % window
                    if cells[place, 0] == x + dx and cells[place, 1] == y + dy:
                        a, b = values[point, 0] - values[other, 0], values[point, 1] - values[other, 1]
                        own = a * a + b * b
                        if own <= square:
                            if count == neighbours.size:
                                return point
                            neighbours[count] = other
                            squares[count] = own
                            count += 1
                    other = following[place]
        place, bucket = point % window, _bucket(x, y, buckets)
        cells[place, 0], cells[place, 1] = x, y
        following[place] = heads[bucket]
        heads[bucket] = point
        starts[point - first + 1] = count
    return last


@compiled
def _first_open(point: int, least_view: int, slide: int, parents: Array, window: int) -> int:
    """Return the oldest view from ``least_view`` on in which a point is not core. If the point is core in all these
    views, return the view after the point's last view.
    """
    view, last = least_view, point // slide
    place, views = point % window, parents.shape[0]
    while view <= last and parents[view % views, place] >= 0:
        view += 1
    return view


@compiled
def _kept(lists: Array, lengths: Array, place: int, least: int) -> None:
    """Remove from the list of the point at index ``place`` the neighbours that are older than point number ``least``,
    because these have expired.
    """
    kept = 0
    for k in range(lengths[place]):
        if lists[place, k] >= least:
            lists[place, kept] = lists[place, k]
            kept += 1
    lengths[place] = kept


@compiled
def _unite(parents: Array, one: int, other: int) -> None:
    a, b = root_of(parents, one), root_of(parents, other)
    if a != b:
        parents[b] = a


@compiled
def update_views(
    first: int,
    last: int,
    square: float,
    least: int,
    window: int,
    slide: int,
    starts: Array,
    neighbours: Array,
    squares: Array,
    counts: Array,
    parents: Array,
    lists: Array,
    lengths: Array,
    near: Array,
) -> int:
    """Update the predicted views of a query with new points, and return the number of neighbours visited.

    ``counts`` int32[views, window]: the number of neighbours of each point in each view. ``parents`` int32[views,
    window]: the cluster membership of core points, -1 for other points. ``lists``: exact neighbours of the points that
    are not core in all views, at most ``least`` per point. ``near``: scratch memory for the neighbours of a point.

    The pseudocode is UpdatePredictedView and HandleNewCore of the paper's figure 17, separately for each view. A point
    that is core in a view is core in all older views. So one list per point suffices for all views in which the point
    is not core.
    """
    visits, views = 0, counts.shape[0]
    for point in range(first, last):
        place = point % window
        low, high = max(0, (point - window) // slide + 1), point // slide
        if point % slide == 0:
            counts[high % views, :] = 0
            parents[high % views, :] = -1
        number = 0
        for k in range(starts[point - first], starts[point - first + 1]):
            visits += 1
            other = neighbours[k]
            if squares[k] <= square and other >= low * slide:
                near[number] = other
                number += 1
                other_place = other % window
                open_view = _first_open(other, low, slide, parents, window)
                if open_view <= other // slide:
                    if lengths[other_place] == lists.shape[1]:
                        _kept(lists, lengths, other_place, open_view * slide)
                    lists[other_place, lengths[other_place]] = point
                    lengths[other_place] += 1
        for view in range(low, high + 1):
            visits += _update_view(
                point,
                view * slide,
                least,
                window,
                near,
                number,
                counts[view % views],
                parents[view % views],
                lists,
                lengths,
            )
        begin = _first_open(point, low, slide, parents, window) * slide
        lengths[place] = 0
        if begin <= high * slide:
            for k in range(number):
                if near[k] >= begin:
                    lists[place, lengths[place]] = near[k]
                    lengths[place] += 1
    return visits


@compiled
def _update_view(
    point: int,
    begin: int,
    least: int,
    window: int,
    near: Array,
    number: int,
    counts: Array,
    parents: Array,
    lists: Array,
    lengths: Array,
) -> int:
    """Update one predicted view with a new point, and return the number of neighbours visited. The view contains the
    points from ``begin`` on.
    """
    visits, place = 0, point % window
    counts[place] = 1
    for k in range(number):
        visits += 1
        if near[k] < begin:
            continue
        other = near[k] % window
        counts[place] += 1
        counts[other] += 1
        if counts[other] >= least and parents[other] < 0:
            parents[other] = other
            for j in range(lengths[other]):
                visits += 1
                third = lists[other, j]
                if third >= begin and parents[third % window] >= 0:
                    _unite(parents, third % window, other)
    if counts[place] >= least:
        parents[place] = place
        for k in range(number):
            visits += 1
            if near[k] >= begin and parents[near[k] % window] >= 0:
                _unite(parents, near[k] % window, place)
    return visits


@compiled
def output_view(
    begin: int, window: int, parents: Array, lists: Array, lengths: Array, roots: Array, labels: Array, is_core: Array
) -> int:
    """Write the labels of a view, and return the number of its clusters.

    Clusters are numbered by their first core point. Any other point gets the lowest label among its exact neighbours.
    ``roots`` int32[window] is scratch memory.
    """
    count = 0
    for place in range(window):
        roots[place] = -1
    for point in range(begin, begin + window):
        place = point % window
        is_core[point - begin] = parents[place] >= 0
        labels[point - begin] = -1
        if parents[place] >= 0:
            root = root_of(parents, place)
            if roots[root] < 0:
                roots[root] = count
                count += 1
            labels[point - begin] = roots[root]
    for point in range(begin, begin + window):
        place = point % window
        if parents[place] >= 0:
            continue
        for k in range(lengths[place]):
            other = lists[place, k]
            if other >= begin and parents[other % window] >= 0:
                own = labels[other - begin]
                if labels[point - begin] < 0 or own < labels[point - begin]:
                    labels[point - begin] = own
    return count
