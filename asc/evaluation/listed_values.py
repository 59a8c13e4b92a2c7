# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops of blocks that are listed by values. Callers guarantee the shapes and dtypes of the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined
from asc.plan.conjuncts import ADMITS_NULL, HIGH_OPEN, LOW_OPEN, SLOT_MASK
from asc.plan.value_index import begin_of_others, place_of, shift_of

Array = npt.NDArray[Any]


@inlined
def _plain_hold(
    code: Array,
    low: Array,
    high: Array,
    least: int,
    greatest: int,
    keys: Array,
    nulls: Array,
    errors: Array,
    begin: int,
    end: int,
    row: int,
) -> bool:
    """Return whether a tuple satisfies the constraints between two intervals of one conjunct, all of them on keys.

    This is :func:`asc.evaluation.listed_sweep.others_hold` with separate array arguments: passing these takes a tenth
    of the time of passing tuples of arrays.
    """
    i = begin
    while i < end:
        slot = np.int64(code[i]) & SLOT_MASK
        unknown = errors.shape[1] > 0 and errors[slot, row]
        null = nulls[slot, row]
        key = min(max(keys[slot, row], least), greatest)
        inside = unknown or (null and (np.int64(code[i]) & ADMITS_NULL) != 0)
        # Several intervals of one p-attribute are one constraint: their union.
        while i < end and np.int64(code[i]) & SLOT_MASK == slot:
            bits = np.int64(code[i])
            lower, upper = np.int64(low[i]), np.int64(high[i])
            inside |= not null and lower + ((bits & LOW_OPEN) != 0) <= key <= upper - ((bits & HIGH_OPEN) != 0)
            i += 1
        if not inside:
            return False
    return True


@compiled
def sweep_values(
    index: tuple[Array, ...],
    keys: Array,
    nulls: Array,
    slot: int,
    exact: Any,
    values: Any,
    owner: Array,
    rank: Array,
    row: int,
    pairs: Array,
    count: int,
) -> tuple[int, int]:
    """Find the conjuncts that the tuples from ``row`` on satisfy, in a block that is listed by the values of ``slot``.

    ``keys`` int64[n] and ``nulls`` bool[n] are of that slot. ``index``: as in :class:`asc.plan.value_index.ValueIndex`.
    The others are as in :func:`asc.evaluation.listed_sweep.sweep_listed`. Returns the next tuple and the number of
    pairs, when the capacity of ``pairs`` is reached or all tuples are done.
    """
    spread, heads, first, conjuncts = index
    shift = shift_of(heads)
    begins, code, low, high, least, greatest, _ = exact
    _, slot_keys, _, _, slot_nulls, errors = values
    while row < keys.size:
        place = -1 if nulls[row] else place_of(spread, heads, shift, keys[row])
        if place >= 0:
            if count + first[place + 1] - first[place] > pairs.size:
                break
            for entry in range(first[place], first[place + 1]):
                conjunct = np.int64(conjuncts[entry])
                if rank[owner[conjunct]] < 0:
                    continue
                end = begins[conjunct + 1]
                begin = begin_of_others(code, begins[conjunct], end, slot)
                if begin == end or _plain_hold(
                    code, low, high, least, greatest, slot_keys, slot_nulls, errors, begin, end, row
                ):
                    pairs[count] = (row << 32) | conjunct
                    count += 1
        row += 1
    return row, count
