"""The search for a block's sequence on a sample. Measured times decide between a macro-sequence, a hybrid-sequence and
the current sequence.
"""

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
"""The number of timed runs of each sequence, in alternation. The fastest run counts.

Other load on the machine only adds time, and the first run may have to load a kernel.
"""


@dataclass(frozen=True, slots=True, eq=False)
class SampledTuples:
    """Sampled tuples of a stream, as values of a plan's p-attributes.

    ``columns``: the values of each p-attribute of the plan, in the order of the plan; a column is None if the sample
    has no values of the p-attribute. Cost: the values, and 2 bytes for the region of each value, computed once for all
    blocks.
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
        """Return the seconds that the sweep of each block takes, and the number of constructs that it evaluates.

        The sweep is the evaluation of the tuples in a block, along the block's sequence. Unknown values count as NULL.
        The time is that of the fastest of several alternating runs. It excludes the search for the regions of the
        values. That search takes longer and is the same for every block, so its variation would hide which block is
        faster.
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
    """Return the seconds of the fastest sweep of each block over the loaded rows."""
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
    """A sequence that was found for a block, and the measurements for the choice.

    ``kind``: the sequence that was fastest in the executor: the current sequence (``kept``), the macro-sequence or the
    hybrid-sequence. ``kept_us``, ``macro_us`` and ``hybrid_us``: microseconds per tuple of the sample; ``hybrid_us`` is
    None if no micro-arrow improves the macro-sequence. ``cost_before`` and ``cost_after``: evaluated constructs per
    tuple of the sample, with the current and with the found sequence. ``counted_cost``: the found sequence's cost as
    the executor counts it in batches, four and eight constructs at a time; None if some values were unknown.
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
    """Return the fastest of three sequences on the sample, so that no sequence replaces a faster one.

    The three sequences are the current sequence, the macro-sequence ``sequence`` after improving moves of its
    constructs, and a hybrid-sequence that adds micro-arrows to this macro-sequence. Fewer constructs do not always take
    less time: the executor evaluates several constructs of a macro-sequence in a pass, but one construct of a
    hybrid-sequence at a time.
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
