"""Which queries an evaluation that failed kept from a tuple: they would have had to look at the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.block import WORD, Block
from asc.plan import Plan
from asc.regions import RegionIds, region_ids

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

_BITS_AT_ONCE = 1 << 24
"""Bits, (tuple, conjunct), that are looked at in one step: 2 MiB packed, 16 MiB unpacked."""


def failed_queries(plan: Plan, columns: Sequence[pa.Array], failed: Mapping[int, Mask]) -> tuple[Counts, Counts]:
    """For tuples on which p-attributes failed to evaluate, the queries that this concerns: handles, ascending, and for
    each the number of tuples.

    ``columns`` as for :func:`asc.executor.match`, of these tuples alone; ``failed`` bool[tuples] by slot. A tuple
    concerns a query where a conjunct of it constrains a p-attribute that failed, and every other p-attribute of that
    conjunct admits the tuple or failed as well. So what another term excludes (``b <> 0 AND a / b > 1``) is no failure.
    A conjunct whose p-attributes have bounded regions is taken to admit the whole of a region.

    Cost: the words of the conjuncts that use one of the p-attributes, times tuples, times constructs.
    """
    tuples = len(next(iter(failed.values())))
    regions = region_ids(plan, columns, tuples)
    counts = np.zeros(len(plan.ranks), dtype=np.int64)
    for block in plan.blocks:
        for handles in _concerned(block, regions, failed):
            counts += np.bincount(handles, minlength=len(counts))
    found = np.flatnonzero(counts)
    return found, counts[found]


def _concerned(block: Block, regions: RegionIds, failed: Mapping[int, Mask]) -> Iterator[Counts]:
    """The handles of the queries of a block that a tuple concerns, once for each tuple, some tuples at a time."""
    qubs, slots = block.qubs, block.slots.tolist()
    own = [(construct, failed[slot]) for construct, slot in enumerate(slots) if slot in failed]
    if not own:
        return
    words = np.flatnonzero(np.bitwise_or.reduce([qubs[construct] for construct, _ in own]))
    owners = block.table.owner.reshape(-1, WORD)[words].ravel()
    tuples = regions.shape[1]
    step = max(1, _BITS_AT_ONCE // (WORD * max(1, len(words))))
    for start in range(0, tuples if len(words) else 0, step):
        part = slice(start, min(start + step, tuples))
        bits = np.zeros((part.stop - start, len(words)), dtype=np.uint64)
        for construct, mask in own:
            bits[mask[part]] |= qubs[construct][words]
        bits &= block.live[words]
        for slot, base in zip(slots, block.bases.tolist(), strict=True):
            rows = base + 1 + regions[slot, part].astype(np.int64)
            admitted = block.matrix[np.ix_(rows, words)]
            if slot in failed:
                admitted[failed[slot][part]] = ~np.uint64(0)
            bits &= admitted
        places, conjuncts = np.nonzero(np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little"))
        # A tuple counts once, however many conjuncts of a query it concerns.
        pairs = np.unique((places << 32) | owners[conjuncts])
        yield pairs & 0xFFFF_FFFF
