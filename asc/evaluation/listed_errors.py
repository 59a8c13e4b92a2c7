# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Evaluation errors in listed blocks: the queries that the errors affect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.compiled import compiled
from asc.evaluation.listed_sweep import CONJUNCT, ListedTuples, others_hold, own_columns
from asc.evaluation.listed_values import TupleArrays
from asc.evaluation.regions import columns_of
from asc.keys.buffers import Mask
from asc.plan.conjuncts import SLOT_MASK
from asc.plan.plan import Plan
from asc.plan.posting_block import ListedArrays
from asc.plan.value_index import begin_of_others
from asc.spatial.location import NO, ShapeArrays

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]


def count_listed(plan: Plan, columns: Sequence[pa.Array], errors: Mapping[int, Mask], counts: Counts) -> None:
    """Add to ``counts`` int64[handles], for each query of the listed blocks, the number of tuples that affect the
    query.

    The function :func:`asc.evaluation.evaluation_errors.queries_with_errors` defines the arguments. The listed value of
    a tuple is its value of the p-attribute by which a block lists conjuncts. If the listed value could not be computed,
    texts are assumed to match the patterns of other constraints. Cost: for a tuple whose listed value could not be
    computed, the evaluation of the other constraints of all conjuncts. For another tuple, its evaluation in the block.
    """
    if not plan.listed:
        return
    tuples = len(next(iter(errors.values())))
    slots = {attribute: slot for slot, attribute in enumerate(plan.p_attributes)}
    prepared = columns_of(plan, columns, tuples)
    for block in plan.listed:
        block_slots = [slots[attribute] for attribute in block.attributes]
        unknown = np.zeros((len(block_slots), tuples), dtype=np.bool_)
        for place, slot in enumerate(block_slots):
            if slot in errors:
                unknown[place] = errors[slot]
        if not unknown.any():
            continue
        of_block = own_columns(block, [prepared[slot] for slot in block_slots])
        seen = replace(ListedTuples.of(block, of_block, 0, tuples), errors=unknown)
        nowhere = np.flatnonzero(unknown[block.slot])
        last = np.full(len(counts), -1, dtype=np.int64)
        if block.arguments.has_others:
            arguments = (block.shapes.arguments, block.arguments, seen.arguments, plan.ranks)
            count_unknown(*arguments, not block.by_shapes, block.slot, nowhere, last, counts)
        else:
            owner = np.unique(block.table.owner)
            counts[owner[plan.ranks[owner] >= 0]] += len(nowhere)
        pairs = seen.conjuncts(plan.ranks)
        rows, conjuncts = pairs >> 32, pairs & CONJUNCT
        taken = block.table.take(conjuncts)
        constrained = np.repeat(rows, np.diff(taken.first))
        if len(pairs):
            hangs = unknown[(taken.code & SLOT_MASK).astype(np.int64), constrained]
            concerns = np.logical_or.reduceat(hangs, taken.first[:-1])
            concerned = np.unique(rows[concerns] << 32 | block.table.owner[conjuncts[concerns]])
            np.add.at(counts, concerned & CONJUNCT, 1)


@compiled
def count_unknown(
    shapes: ShapeArrays,
    block: ListedArrays,
    tuples: TupleArrays,
    ranks: Array,
    by_values: bool,
    slot: int,
    rows: Array,
    last: Array,
    counts: Array,
) -> None:
    """Count tuples for each query that they affect. ``rows``: the tuples whose listed value (:func:`count_listed`)
    could not be computed. A tuple affects a query if it may satisfy all constraints of a conjunct except the constraint
    on the listed value.

    A tuple counts once for a query. ``last`` int64[handles], initially -1: the tuple last counted for each query.
    """
    begins, code, owner = block.table.first, block.table.code, block.table.owner
    for row in rows:
        for conjunct in range(owner.size):
            handle = owner[conjunct]
            if ranks[handle] < 0 or last[handle] == row:
                continue
            begin, end = np.int64(begins[conjunct]) + 1, begins[conjunct + 1]
            if by_values:
                begin = begin_of_others(code, begin - 1, end, slot)
            if others_hold(shapes, block, tuples, begin, end, row) != NO:
                last[handle] = row
                counts[handle] += 1
