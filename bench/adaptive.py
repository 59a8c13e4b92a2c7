"""A run of the monitor's search over a recorded stream. As in the paper, all tuples of a period are evaluated with one
sequence.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from asc.plan.order import Order
from bench.recorded_stream import RecordedStream
from monitor.adaptation import Adaptation, Cause, Figures, Thresholds
from monitor.hybrid import hybrid_sequence
from monitor.macro import macro_sequence
from monitor.refinement import refined
from monitor.sample import Sample
from monitor.statistics import costs_of, walked

Costs = npt.NDArray[np.uint16]
Kind = Literal["Macro", "Hybrid", "Hybrid, refined"]

MACRO: Final = "Macro"
HYBRID: Final = "Hybrid"
REFINED: Final = "Hybrid, refined"
"""The paper's hybrid-sequence, restricted to the micro-arrows that lower the cost of the sample."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A replacement of the current sequence by a new sequence, after the first ``place`` tuples of the stream.

    ``cause``: the reason for the search. ``after``: the dropping ratio and the cost of the new sequence on the sample
    of the search. ``seconds``: the duration of the search.
    """

    place: int
    cause: Cause
    after: Figures
    seconds: float

    def as_json(self) -> dict[str, Any]:
        before = self.cause.before
        return {
            "place": self.place,
            "trigger": self.cause.trigger.value,
            "initial": None if before is None else _figures(before),
            "current": _figures(self.cause.now),
            "after": _figures(self.after),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveRun:
    """The result of a run over a stream.

    ``orders``: for each period, the number of its first tuple, the number after its last tuple, and the order.
    ``costs``: the number of constructs evaluated for each tuple. ``dropped``: the number of tuples that no query
    accepts. ``micro_arrows`` and ``macro_arrows``: the numbers of arrows followed.
    """

    orders: tuple[tuple[int, int, Order], ...]
    costs: Costs
    dropped: int
    micro_arrows: int
    macro_arrows: int
    rearrangements: tuple[Exchange, ...]

    @property
    def cost(self) -> float:
        return float(self.costs.mean())

    @property
    def micro_ratio(self) -> float:
        """The share of micro-arrows among the arrows followed (the paper's micro ratio xi)."""
        return self.micro_arrows / max(1, self.micro_arrows + self.macro_arrows)

    @property
    def search_s(self) -> float:
        return sum(own.seconds for own in self.rearrangements)


def adaptive_run(
    stream: RecordedStream,
    thresholds: Thresholds,
    *,
    kind: Kind,
    sample_tuples: int,
    first: Order | None = None,
    seed: int = 1,
) -> AdaptiveRun:
    """Evaluate a stream in periods of lambda tuples. Each period has the sequence that is current at its beginning.

    At the end of a period the rule of the paper's section 5.2 decides about a rearrangement. If the rule requires a
    rearrangement, a sequence is found from at most ``sample_tuples`` of the period's tuples, and is used from the next
    period on. ``first``: the sequence of the first period. If it is None, the first period has the static sequence of
    every new plan, and the figures of this sequence are not measured.
    """
    block, rng = stream.block, np.random.default_rng(seed)
    state = Adaptation(thresholds)
    order = first or block.order
    if first is not None:
        state.put_in_place(figures(stream, stream.drawn(sample_tuples, rng, 0, thresholds.recompute_tuples), first))
    orders, costs, walks, rearrangements = [], [], [], []
    for start in range(0, len(stream), thresholds.recompute_tuples):
        stop = min(start + thresholds.recompute_tuples, len(stream))
        part = stream.part(start, stop)
        walk = walked(block, part, order)
        orders.append((start, stop, order))
        costs.append(costs_of(block, part, order))
        walks.append(walk)
        cause = state.count(walk.tuples, walk.dropped, walk.evaluated)
        if cause is None or stop == len(stream):
            continue
        sample = stream.drawn(sample_tuples, rng, start, stop)
        start_s = time.perf_counter()
        order = found_on(stream, sample, kind)
        seconds = time.perf_counter() - start_s
        after = figures(stream, sample, order)
        state.put_in_place(after)
        rearrangements.append(Exchange(stop, cause, after, seconds))
    return AdaptiveRun(
        tuple(orders),
        np.concatenate(costs),
        sum(walk.dropped for walk in walks),
        sum(walk.micro_arrows for walk in walks),
        sum(walk.macro_arrows for walk in walks),
        tuple(rearrangements),
    )


def warm_runs(
    stream: RecordedStream, thresholds: Thresholds, kinds: Sequence[Kind], *, sample_tuples: int, seed: int
) -> tuple[RecordedStream, dict[Kind, AdaptiveRun]]:
    """Return a stream without its first period, and the run of each kind of sequence over the shortened stream. Each
    run begins with the sequence that a search on the first period found. The cost of the first period does not count.
    """
    first_tuples = thresholds.recompute_tuples
    sample = stream.drawn(sample_tuples, np.random.default_rng(seed), 0, first_tuples)
    rest = stream.after(first_tuples)
    runs = {
        kind: adaptive_run(
            rest, thresholds, kind=kind, sample_tuples=sample_tuples, first=found_on(stream, sample, kind), seed=seed
        )
        for kind in kinds
    }
    return rest, runs


def found_on(stream: RecordedStream, sample: Sample, kind: Kind) -> Order:
    """Search for a sequence of the given kind on a sample, and return the sequence."""
    sequence = macro_sequence(stream.block, sample).sequence
    if kind == MACRO:
        return stream.block.order_of(sequence)
    found = hybrid_sequence(stream.block, sample, sequence)
    return (refined(stream.block, sample, found) if kind == REFINED else found).order


def figures(stream: RecordedStream, sample: Sample, order: Order) -> Figures:
    """Return the dropping ratio and the cost of a sequence on a sample."""
    walk = walked(stream.block, sample, order)
    return Figures(walk.dropping_ratio, walk.cost)


def _figures(own: Figures) -> dict[str, float]:
    return {"dropping_ratio": own.dropping_ratio, "cost": own.cost}
