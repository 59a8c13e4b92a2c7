"""Graphs of types and the types inside them: cycles, and the longest path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection


def cycles_of(count: int, edges: Collection[tuple[int, int]]) -> list[int]:
    """Return a number for each node, which identifies the node's cycle. Two nodes have the same number exactly if each
    can be reached from the other.

    >>> circles = cycles_of(4, [(0, 1), (1, 0), (1, 2), (2, 3)])
    >>> circles[0] == circles[1], len(set(circles))
    (True, 3)
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not edges:
        return list(range(count))
    sources, targets = zip(*edges, strict=True)
    graph = coo_array((np.ones(len(edges), dtype=np.int32), (sources, targets)), shape=(count, count))
    _, found = connected_components(graph, directed=True, connection="strong")
    return [int(each) for each in found]


def longest_path(count: int, edges: Collection[tuple[int, int]]) -> int:
    """Return an upper bound of the number of nodes on a path that visits no node twice. The bound counts all nodes of
    each cycle on the path.

    >>> longest_path(5, [(0, 1), (1, 0), (1, 2), (3, 4)])
    3
    """
    circles = cycles_of(count, edges)
    sizes = Counter(circles)
    between = {(circles[source], circles[target]) for source, target in edges if circles[source] != circles[target]}
    following: dict[int, list[int]] = {circle: [] for circle in sizes}
    waiting = Counter(target for _, target in between)
    for source, target in between:
        following[source].append(target)
    lengths = dict(sizes)
    ready = [circle for circle in sizes if not waiting[circle]]
    for circle in ready:
        for target in following[circle]:
            lengths[target] = max(lengths[target], lengths[circle] + sizes[target])
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return max(lengths.values(), default=0)
