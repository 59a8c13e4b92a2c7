"""Baselines for the engine, which evaluate every query on every tuple. They are compiled by Numba, like the engine's
kernels.

The compiled baselines take ``values`` int32[attributes, rows] and return the number of matching (row, query) pairs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled
from workloads.synthetic import Workload

Values = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]

TUPLES_TOGETHER = 50
"""The number of tuples that share a pass of the vectorised brute force. This number was the fastest of the numbers
tried.
"""


def bounds_of(workload: Workload) -> tuple[Values, Values]:
    """Return two arrays int32[attributes, queries]: the least and the greatest value that each query accepts of each
    attribute.
    """
    low = np.zeros((workload.attributes, workload.queries), dtype=np.int32)
    high = np.full_like(low, workload.domain)
    low[workload.attribute, workload.owner] = workload.low
    high[workload.attribute, workload.owner] = workload.high
    return low, high


@compiled
def dense_bounds(values: Values, low: Values, high: Values, alive: npt.NDArray[np.uint8]) -> int:
    """Count the matches, vectorised over queries. ``low`` int32[attributes, queries]: the least values that the queries
    accept. ``high`` int32[attributes, queries]: the greatest values. ``alive`` uint8[tuples, queries]: scratch memory.

    The number of rows of ``alive`` is the number of tuples that are compared in one pass over the bounds.
    """
    attributes, rows = values.shape
    together, queries = alive.shape
    matches = 0
    for start in range(0, rows, together):
        count = min(together, rows - start)
        alive[:] = 1
        for attribute in range(attributes):
            for i in range(count):
                value = values[attribute, start + i]
                for query in range(queries):
                    alive[i, query] &= (low[attribute, query] <= value) & (value <= high[attribute, query])
        for i in range(count):
            for query in range(queries):
                matches += alive[i, query]
    return matches


@compiled
def early_exit_scan(values: Values, first: Integers, attribute: Integers, low: Integers, high: Integers) -> int:
    """Count the matches query by query. Query q has the predicates from ``first[q]`` to before ``first[q + 1]``. The
    evaluation of a query stops at its first predicate that fails.
    """
    matches = 0
    for row in range(values.shape[1]):
        for query in range(first.size - 1):
            inside = True
            for i in range(first[query], first[query + 1]):
                value = values[attribute[i], row]
                if value < low[i] or value > high[i]:
                    inside = False
                    break
            matches += inside
    return matches


@compiled
def early_exit_lists(
    values: Values, starts: Integers, predicates: tuple[Integers, Integers, Integers, Integers]
) -> int:
    """Count the matches as :func:`early_exit_scan` does, for predicates that are unions of ranges.

    ``predicates``: the attribute of each predicate, the number of its first range, and the low and the high bound of
    each range. A predicate's ranges end at the next predicate's first range. Query q has the predicates from
    ``starts[q]`` to before ``starts[q + 1]``.
    """
    attribute, first, low, high = predicates
    matches = 0
    for row in range(values.shape[1]):
        for query in range(starts.size - 1):
            accepted = True
            for predicate in range(starts[query], starts[query + 1]):
                value = values[attribute[predicate], row]
                inside = False
                for i in range(first[predicate], first[predicate + 1]):
                    if low[i] <= value <= high[i]:
                        inside = True
                        break
                if not inside:
                    accepted = False
                    break
            matches += accepted
    return matches
