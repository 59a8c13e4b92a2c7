"""Compiled loops that assign values to bins."""

from __future__ import annotations

from typing import Any

from asc.compiled import compiled

Array = Any

BLOCK = 1024
"""The number of values of a block: the values and their bins fit into the processor's first cache."""


@compiled
def find_bins(values: Array, edges: Array, bins: Array) -> None:
    """Write to ``bins`` int32[rows] the bin of each value: the number of edges that are not above the value.

    ``edges`` float64[2**k - 1], ascending. NaN is above all edges. Cost: k comparisons for each value. Each step of the
    binary search runs over a block of values before the next step. So the loop has no branch, and the compiler
    vectorises it, which is four times as fast as a search value by value.
    """
    count = values.size
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        for i in range(first, end):
            bins[i] = 0
        step = (edges.size + 1) >> 1
        while step:
            for i in range(first, end):
                place = bins[i]
                bins[i] = place + step * (not values[i] < edges[place + step - 1])
            step >>= 1


@compiled
def write_codes(bins: Array, codes_of_bins: Array, nulls: Array, codes: Array) -> None:
    """Write to ``codes`` int32[rows] the code of each row's bin, and 0 for NULL.

    ``codes_of_bins`` int32[bins]: the code of each bin. ``nulls`` bool[rows], or empty if no row is NULL.
    """
    if nulls.size:
        for i in range(bins.size):
            codes[i] = 0 if nulls[i] else codes_of_bins[bins[i]]
    else:
        for i in range(bins.size):
            codes[i] = codes_of_bins[bins[i]]
