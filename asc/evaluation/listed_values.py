# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that evaluate blocks listed by values. Callers guarantee the shapes and dtypes of the arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined
from asc.plan.conjuncts import ADMITS_NULL, HIGH_OPEN, LOW_OPEN, SLOT_MASK, TableArrays
from asc.plan.posting_block import ListedArrays
from asc.plan.value_index import ValueIndexArrays, begin_of_others, place_of, shift_of

Array = npt.NDArray[Any]


class TupleArrays(NamedTuple):
    """The values of some tuples, as :class:`asc.evaluation.listed_sweep.ListedTuples` has them."""

    kinds: Array
    keys: Array
    x: Array
    y: Array
    nulls: Array
    errors: Array


@inlined
def _plain_hold(table: TableArrays, tuples: TupleArrays, begin: int, end: int, row: int) -> bool:
    """Return True if a tuple satisfies the constraints of one conjunct that are in the intervals ``begin`` to ``end``
    of the table. The caller ensures that these constraints concern neither patterns nor shapes.

    The function :func:`asc.evaluation.listed_sweep.others_hold` does the same with shapes.
    """
    code, low, high = table.code, table.low, table.high
    keys, nulls, errors = tuples.keys, tuples.nulls, tuples.errors
    i = begin
    while i < end:
        slot = np.int64(code[i]) & SLOT_MASK
        unknown = errors.shape[1] > 0 and errors[slot, row]
        null = nulls[slot, row]
        key = min(max(keys[slot, row], table.least), table.greatest)
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
    index: ValueIndexArrays,
    block: ListedArrays,
    tuples: TupleArrays,
    slot: int,
    ranks: Array,
    row: int,
    pairs: Array,
    count: int,
) -> tuple[int, int]:
    """Find the conjuncts that the tuples from ``row`` on satisfy, in a block that is listed by values. ``slot``: the
    p-attribute of these values.

    The other arguments are as in :func:`asc.evaluation.listed_sweep.sweep_listed`. The function ends when the capacity
    of ``pairs`` is reached or all tuples are done. It returns the next tuple and the number of pairs so far.
    """
    spread, heads, first, conjuncts = index.spread, index.heads, index.first, index.conjuncts
    shift = shift_of(heads)
    table = block.table
    begins, code, owner = table.first, table.code, table.owner
    keys, nulls = tuples.keys[slot], tuples.nulls[slot]
    while row < keys.size:
        place = -1 if nulls[row] else place_of(spread, heads, shift, keys[row])
        if place >= 0:
            if count + first[place + 1] - first[place] > pairs.size:
                break
            for entry in range(first[place], first[place + 1]):
                conjunct = np.int64(conjuncts[entry])
                if ranks[owner[conjunct]] < 0:
                    continue
                end = begins[conjunct + 1]
                begin = begin_of_others(code, begins[conjunct], end, slot)
                if begin == end or _plain_hold(table, tuples, begin, end, row):
                    pairs[count] = (row << 32) | conjunct
                    count += 1
        row += 1
    return row, count
