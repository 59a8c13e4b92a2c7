"""Samples of tuples, reduced to the regions that the tuples visit in the constructs of one block."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.evaluation.regions import RegionIds
from asc.frozen import frozen
from asc.plan.block import Block
from monitor.errors import MonitorError
from monitor.sample_kernels import SampleArrays

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample of a stream, reduced to the regions that the tuples visit in one block. It has all tuples of a period
    tau, or tuples that are drawn uniformly from the period.

    ``regions`` uint16[constructs, tuples]: the region that each tuple visits in each construct. The NULL region is
    ``region_counts[construct]``. ``known``: the constructs whose values were sampled, ascending; the row of any other
    construct is all zeros and has no meaning. A sample does not depend on the block's order and micro-arrows, so it may
    be measured after a swap of sequences.

    Invariant: each entry of ``regions`` is a valid region of its construct. Cost: 2 bytes for each tuple and construct.
    """

    regions: RegionIds
    known: tuple[int, ...]
    region_counts: tuple[int, ...]

    @staticmethod
    def of(block: Block, region_ids: RegionIds, known_slots: Collection[int] | None = None) -> Sample:
        """Return the sample of a block. ``region_ids``: the result of ``asc.evaluation.regions.region_ids`` for the
        plan of the block.

        ``known_slots``: the slots of the p-attributes whose values were sampled; None for all.
        """
        slots = block.slots.tolist()
        if region_ids.ndim != 2 or len(region_ids) <= max(slots, default=-1):
            raise MonitorError("shape of region ids", region_ids.shape, f"one row for each of the slots {slots}")
        known = tuple(i for i, slot in enumerate(slots) if known_slots is None or slot in known_slots)
        counts = region_counts(block)
        regions = np.zeros((len(slots), region_ids.shape[1]), dtype=np.uint16)
        for construct in known:
            own = region_ids[slots[construct]]
            if len(own) and int(own.max()) > counts[construct]:
                raise MonitorError(
                    "region", int(own.max()), f"construct {construct} has {counts[construct]} and NULL's"
                )
            regions[construct] = own
        return Sample(frozen(regions), known, counts)

    def first(self, tuples: int) -> Sample:
        """Return a sample of the first ``tuples`` tuples. Return this sample itself if it has no more tuples."""
        if tuples >= len(self):
            return self
        # The copy has the memory layout of every other sample, so that numba compiles the kernels only once.
        return Sample(frozen(np.ascontiguousarray(self.regions[:, :tuples])), self.known, self.region_counts)

    def __len__(self) -> int:
        """Return the number of tuples."""
        return int(self.regions.shape[1])

    def arguments(self, block: Block) -> SampleArrays:
        """Return the arrays of the sample and of a block, as kernels read them. Raise MonitorError in the same cases as
        :meth:`rows`.
        """
        return SampleArrays(regions=self.regions, matrix=block.matrix, rows=self.rows(block))

    def rows(self, block: Block) -> Rows:
        """Return the matrix row of each construct's first region. For a construct whose values were not sampled, return
        0, the row of the initial GRB.

        Raise MonitorError for a sample without tuples, and for a sample of a block with other constructs or regions.
        """
        if not len(self):
            raise MonitorError("tuples in the sample", 0, "nothing can be measured; wait for tuples")
        if self.region_counts != region_counts(block):
            raise MonitorError("regions of the sample", self.region_counts, "the block has others: sample it anew")
        rows = np.zeros(len(block.slots), dtype=np.int64)
        rows[list(self.known)] = block.bases[list(self.known)] + 1
        return rows


def region_counts(block: Block) -> tuple[int, ...]:
    """Return the number of regions of each construct, not counting the NULL region."""
    counts: list[int] = (np.diff(block.bases, append=len(block.matrix)) - 2).tolist()
    return tuple(counts)
