"""Finding the sequence of one block from a sample, and choosing by measured time: macro, hybrid, or what is there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from asc.evaluation.executor import CHUNK_ROWS, Sweeps
from asc.evaluation.initial_bitmaps import chunk_rows
from asc.evaluation.regions import RegionIds, columns_of, region_ids
from asc.plan.block import Block
from asc.plan.order import Order
from asc.plan.plan import Plan
from monitor.hybrid import hybrid_sequence
from monitor.moves import moved
from monitor.refinement import refined
from monitor.sample import Sample
from monitor.statistics import walked

Kind = Literal["kept", "macro", "hybrid"]

_RUNS = 4
"""Timed runs of each order, in turns; the fastest counts, for what else runs on the machine only adds, and the first
one may have a kernel to load.
"""


@dataclass(frozen=True, slots=True, eq=False)
class SampledTuples:
    """Tuples of a stream as values of a plan's p-attributes; ``columns`` in slot order, None where nothing was drawn.

    Cost: the values, and 2 bytes for the region of each, found once for all blocks.
    """

    plan: Plan
    columns: Sequence[pa.ChunkedArray | None]
    rows: int
    regions: RegionIds

    @classmethod
    def of(cls, plan: Plan, columns: Sequence[pa.ChunkedArray | None], rows: int) -> SampledTuples:
        return cls(plan, columns, rows, region_ids(plan, columns, rows))

    def sample(self, block: Block) -> Sample:
        """Return the sample of a block of the plan."""
        known = {slot for slot, column in enumerate(self.columns) if column is not None}
        return Sample.of(block, self.regions, known)

    def timed(self, blocks: Sequence[Block]) -> tuple[list[float], list[int]]:
        """Return the seconds that the sweep of each block takes and the constructs that it evaluates, the values that
        are not known being NULL.

        The time is that of the fastest of some runs, in turns, of the sweep alone. Finding the regions takes longer,
        the same for every block, and its variation from run to run would hide which block is the faster one.
        """
        nulls = [pa.nulls(self.rows, attribute.type) for attribute in self.plan.p_attributes]
        known = [null if column is None else column for null, column in zip(nulls, self.columns, strict=True)]
        plan = replace(self.plan, blocks=tuple(blocks))
        columns = columns_of(plan, known, self.rows)
        chunk = chunk_rows(plan, CHUNK_ROWS)
        sweeps = Sweeps(plan, min(self.rows, chunk))
        seconds = [0.0] * len(blocks)
        for start in range(0, self.rows, chunk):
            sweeps.load(columns, start, min(self.rows, start + chunk))
            fastest = _fastest(sweeps, len(blocks))
            seconds = [so_far + column for so_far, column in zip(seconds, fastest, strict=True)]
        return seconds, (sweeps.evaluated // _RUNS).tolist()


def _fastest(sweeps: Sweeps, blocks: int) -> list[float]:
    """Return the seconds of the fastest sweep of each block over the rows that are loaded."""
    seconds = [float("inf")] * blocks
    for _ in range(_RUNS):
        for number in range(blocks):
            sweeps.count = 0
            start = time.perf_counter()
            sweeps.sweep_block(number)
            seconds[number] = min(seconds[number], time.perf_counter() - start)
    return seconds


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A sequence found for a block, and why this one.

    ``kind``: which was fastest in the executor, the order in place (``kept``), the macro-sequence or the
    hybrid-sequence. ``kept_us``, ``macro_us`` and ``hybrid_us``: microseconds a tuple, measured on the sample (hybrid
    None where no micro-arrow was better than the macro-sequence). ``cost_before`` and
    ``cost_after``: constructs evaluated a tuple of the sample, by the sequence in place and by this one.
    ``counted_cost``: the same as the executor counts it in batches, four and eight constructs at a time; None where
    not all values were known.
    """

    order: Order
    kind: Kind
    kept_us: float
    macro_us: float
    hybrid_us: float | None
    cost_before: float
    cost_after: float
    counted_cost: float | None


def arranged(block: Block, sample: Sample, tuples: SampledTuples, sequence: Sequence[int]) -> Arrangement:
    """Return the fastest of three orders on the sample, so that none replaces a faster one.

    They are the macro-sequence ``sequence`` improved by moves, the refined hybrid-sequence over that, and the order in
    place.
    Fewer constructs are not always less time: the executor evaluates a macro-sequence several constructs a pass, a
    hybrid-sequence one at a time.
    """
    hybrid = refined(block, sample, hybrid_sequence(block, sample, moved(block, sample, sequence)))
    orders: dict[Kind, Order] = {"kept": block.order, "macro": hybrid.order.macro}
    if hybrid.micro_arrows:
        orders["hybrid"] = hybrid.order
    timed, counts = tuples.timed([block.with_order(order) for order in orders.values()])
    seconds, evaluated = dict(zip(orders, timed, strict=True)), dict(zip(orders, counts, strict=True))
    kind = min(orders, key=lambda name: seconds[name])
    rows, known = len(sample), len(sample.known) == len(block.slots)
    return Arrangement(
        orders[kind],
        kind,
        seconds["kept"] / rows * 1e6,
        seconds["macro"] / rows * 1e6,
        seconds["hybrid"] / rows * 1e6 if hybrid.micro_arrows else None,
        walked(block, sample, block.order).cost,
        walked(block, sample, orders[kind]).cost,
        evaluated[kind] / rows if known else None,
    )
