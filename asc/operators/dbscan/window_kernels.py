# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops over the clusters of one window, and over the clusters of two windows."""

from __future__ import annotations

from typing import Any

from asc.compiled import compiled

Array = Any


@compiled
def summarise(
    labels: Array, is_core: Array, values: Array, counts: Array, sums: Array, low: Array, high: Array, newest: Array
) -> None:
    """Write the numbers of points, and the sums, bounds and newest point, of each cluster of a window. Values are
    summed in the order of the points.

    ``counts`` int64[clusters, 2], initially zeros: the points, and the core points. ``sums``, initially zeros, ``low``
    and ``high`` float64[clusters, attributes]: the sums and the bounds of the values. ``newest``: the last point.
    """
    for point in range(labels.size):
        label = labels[point]
        if label < 0:
            continue
        is_first = counts[label, 0] == 0
        counts[label, 0] += 1
        if is_core[point]:
            counts[label, 1] += 1
        newest[label] = point
        for place in range(values.shape[1]):
            value = values[point, place]
            sums[label, place] += value
            if is_first or value < low[label, place]:
                low[label, place] = value
            if is_first or value > high[label, place]:
                high[label, place] = value


@compiled
def relate(
    old_labels: Array,
    old_core: Array,
    new_labels: Array,
    new_core: Array,
    ends: Array,
    order: Array,
    slots: Array,
    pairs: Array,
) -> int:
    """Write the pairs of an old cluster (of the preceding window) and a new cluster (of the window) that have points in
    common. Return the number of pairs.

    The labels are arrays over the points that are in both windows. ``ends`` int64[old clusters + 1], initially zeros,
    ``order`` int64[points] and ``slots`` int64[new clusters], initially -1, are scratch. ``pairs`` int64[points, 4]
    receives the old label, the new label, the number of points that are core in both windows, and the number of common
    points. Rows ascend by old label.
    """
    for point in range(old_labels.size):
        if old_labels[point] >= 0:
            ends[old_labels[point] + 1] += 1
    for label in range(1, ends.size):
        ends[label] += ends[label - 1]
    for point in range(old_labels.size):
        label = old_labels[point]
        if label >= 0:
            order[ends[label]] = point
            ends[label] += 1
    count, begin = 0, 0
    for old in range(ends.size - 1):
        first = count
        for k in range(begin, ends[old]):
            point = order[k]
            new = new_labels[point]
            if new < 0:
                continue
            slot = slots[new]
            if slot < first:
                slot = count
                slots[new] = slot
                pairs[slot, 0], pairs[slot, 1], pairs[slot, 2], pairs[slot, 3] = old, new, 0, 0
                count += 1
            pairs[slot, 3] += 1
            if old_core[point] and new_core[point]:
                pairs[slot, 2] += 1
        begin = ends[old]
    return count
