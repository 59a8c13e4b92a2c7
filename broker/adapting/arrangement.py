"""Finding the sequence of one block from a sample, and choosing by measured time: macro, hybrid, or what is there."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from asc.evaluation.executor import Matches, match
from asc.evaluation.regions import RegionIds, region_ids
from asc.plan.block import Block
from asc.plan.order import Order
from asc.plan.plan import Plan
from monitor.hybrid import hybrid_sequence
from monitor.moves import moved
from monitor.refinement import refined
from monitor.sample import Sample
from monitor.statistics import walked

Kind = Literal["kept", "macro", "hybrid"]

_RUNS = 3
"""Timed runs of each order, in turns; the fastest counts, for what else runs on the machine only adds."""


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
        """The sample of a block of the plan."""
        known = {slot for slot, column in enumerate(self.columns) if column is not None}
        return Sample.of(block, self.regions, known)

    def evaluated_by(self, block: Block) -> Matches:
        """What the executor finds in one block, the values that are not known being NULL."""
        columns = [
            pa.nulls(self.rows, attribute.type) if column is None else column
            for attribute, column in zip(self.plan.p_attributes, self.columns, strict=True)
        ]
        return match(replace(self.plan, blocks=(block,)), columns, self.rows)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A sequence found for a block, and why this one.

    ``kind``: which was fastest in the executor, the order in place (``kept``), the macro-sequence or the
    hybrid-sequence; ``kept_us``, ``macro_us`` and ``hybrid_us``: microseconds a tuple, measured on the sample (hybrid
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
    """The macro-sequence ``sequence`` improved by moves, the refined hybrid-sequence over that, or the order in place,
    whichever takes the sample least time: nothing is put in place that is slower than what runs.

    Fewer constructs are not always less time: the executor evaluates a macro-sequence several constructs a pass, a
    hybrid-sequence one at a time.
    """
    hybrid = refined(block, sample, hybrid_sequence(block, sample, moved(block, sample, sequence)))
    orders: dict[Kind, Order] = {"kept": block.order, "macro": hybrid.order.macro}
    if hybrid.micro_arrows:
        orders["hybrid"] = hybrid.order
    seconds, counted = _timed(block, tuples, orders)
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
        counted[kind].evaluated / rows if known else None,
    )


def _timed(
    block: Block, tuples: SampledTuples, orders: Mapping[Kind, Order]
) -> tuple[dict[Kind, float], dict[Kind, Matches]]:
    """The fastest run of each order over the sample, in seconds, and what it found."""
    blocks = {kind: block.with_order(order) for kind, order in orders.items()}
    # The first run of each is not measured: it may have a kernel to load.
    counted = {kind: tuples.evaluated_by(candidate) for kind, candidate in blocks.items()}
    seconds: dict[Kind, float] = dict.fromkeys(blocks, float("inf"))
    for _ in range(_RUNS):
        for kind, candidate in blocks.items():
            start = time.perf_counter()
            tuples.evaluated_by(candidate)
            seconds[kind] = min(seconds[kind], time.perf_counter() - start)
    return seconds, counted
