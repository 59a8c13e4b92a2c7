# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""The queries that an evaluation error affects: queries whose verdict on a tuple depends on a value that could not be
computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.compiled import compiled, trailing_zeros
from asc.evaluation.initial_bitmaps import InitialBitmaps, chunk_rows
from asc.evaluation.listed_errors import count_listed
from asc.evaluation.regions import RegionIds, columns_of, region_ids
from asc.keys.buffers import Mask
from asc.plan.block import Block
from asc.plan.plan import Plan

Counts = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


class ErrorArrays(NamedTuple):
    """The tuples with evaluation errors, and the constructs of the block in which they are evaluated.

    ``regions`` uint16[slots, tuples]. ``masks`` bool[constructs, tuples]: True for each value that could not be
    computed. ``slots`` int64[constructs]: the slot of each construct. ``bases`` int64[constructs]: the row of the qub
    of each construct. ``owner`` int64[conjuncts]: the handle of the query of each conjunct.
    """

    regions: Array
    masks: Array
    slots: Array
    bases: Array
    owner: Array


def queries_with_errors(plan: Plan, columns: Sequence[pa.Array], errors: Mapping[int, Mask]) -> tuple[Counts, Counts]:
    """Return the queries that evaluation errors of some tuples affect, as two arrays: the handles of the queries,
    ascending, and for each query the number of tuples.

    ``columns``: as for :func:`asc.evaluation.executor.match`, with only these tuples. ``errors``: by slot, a mask
    bool[tuples] of the tuples whose value could not be computed. A tuple affects a query if one of its conjuncts
    constrains a p-attribute with an error, and no other constraint of that conjunct excludes the tuple. A constraint on
    another p-attribute with an error does not exclude the tuple. So an error that another term excludes
    (``b <> 0 AND a / b > 1``) does not count. A conjunct whose p-attributes have bounded regions is assumed to admit
    the whole of a region.

    Cost: the same as evaluating the tuples with errors along a macro-sequence, and a step for each affected query.
    """
    tuples = len(next(iter(errors.values())))
    counts = np.zeros(len(plan.ranks), dtype=np.int64)
    # A value with an error matches no pattern, so it is NULL here. Otherwise, a pattern could exclude a query whose
    # error has to be counted.
    known_columns = [
        pc.if_else(pa.array(errors[slot]), pa.scalar(None, attribute.type), column)
        if attribute.is_matched and slot in errors
        else column
        for slot, (attribute, column) in enumerate(zip(plan.p_attributes, columns, strict=True))
    ]
    chunk = chunk_rows(plan, max(1, tuples))
    initial = InitialBitmaps(plan, min(chunk, tuples))
    for start in range(0, tuples, chunk):
        part = [column.slice(start, chunk) for column in known_columns]
        rows = min(chunk, tuples - start)
        regions = region_ids(plan, part, rows)
        initial.look(columns_of(plan, part, rows), 0, rows)
        masks = {slot: mask[start : start + rows] for slot, mask in errors.items()}
        for block in plan.blocks:
            _count(block, regions, masks, initial, counts)
    count_listed(plan, columns, errors, counts)
    found = np.flatnonzero(counts)
    return found, counts[found]


def _count(
    block: Block, regions: RegionIds, errors: Mapping[int, Mask], initial: InitialBitmaps, counts: Counts
) -> None:
    slots = block.slots.tolist()
    masks = np.zeros((len(slots), regions.shape[1]), dtype=np.bool_)
    for construct, slot in enumerate(slots):
        if slot in errors:
            masks[construct] = errors[slot]
    if masks.any():
        of_block = ErrorArrays(
            regions=regions,
            masks=masks,
            slots=block.slots.astype(np.int64),
            bases=block.bases.astype(np.int64),
            owner=block.table.owner.astype(np.int64),
        )
        last = np.full(len(counts), -1, dtype=np.int64)
        row, tuples = 0, regions.shape[1]
        while row < tuples:
            ready = initial.of(block, row, tuples)
            bitmap_rows, bitmaps = initial.bitmap_rows, initial.bitmaps
            _count_concerned(row, ready, bitmap_rows, bitmaps, block.matrix, of_block, last, counts)
            row = ready


@compiled
def _count_concerned(
    first: int,
    end: int,
    bitmap_rows: Array,
    bitmaps: Array,
    matrix: Array,
    errors: ErrorArrays,
    last: Array,
    counts: Array,
) -> None:
    """Count the tuples ``first`` to ``end`` for every query that they affect, in ``counts`` int64[handles].

    A tuple counts once for a query, however many conjuncts the query has. ``bitmap_rows``, ``bitmaps``: as in
    :func:`asc.evaluation.block_kernels.sweep`. ``last`` int64[handles], initially -1: the tuple last counted for each
    query.
    """
    regions, masks, slots, bases, owner = errors.regions, errors.masks, errors.slots, errors.bases, errors.owner
    for number in range(first, end):
        if bitmap_rows[number] < 0:
            continue
        for word in range(matrix.shape[1]):
            users = np.uint64(0)
            for construct in range(bases.size):
                if masks[construct, number]:
                    users |= matrix[bases[construct], word]
            left = users & bitmaps[bitmap_rows[number], word]
            construct = 0
            while left != 0 and construct < bases.size:
                if not masks[construct, number]:
                    left &= matrix[bases[construct] + 1 + regions[slots[construct], number], word]
                construct += 1
            while left != 0:
                bit = np.int64(trailing_zeros(left))  # type: ignore[call-arg]
                handle = owner[(word << 6) + bit]
                left &= left - np.uint64(1)
                if last[handle] != number:
                    last[handle] = number
                    counts[handle] += 1
