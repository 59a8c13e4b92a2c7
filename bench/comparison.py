"""A comparison of the five methods of ordering the constructs on one stream: costs, times, and explanations of the
costs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from asc.evaluation.executor import match
from asc.plan.order import Order
from asc.plan.plan import Plan
from bench.adaptive import HYBRID, MACRO, REFINED, AdaptiveRun, Kind, figures, warm_runs
from bench.fixed_sequences import FixedSequences, fixed_sequences
from bench.micro_arrow_losses import by_dropping_ratio, cost_at_own_level
from bench.recorded_stream import RecordedStream
from bench.ticket_routing import ticket_routing
from monitor.adaptation import Thresholds
from monitor.hybrid import hybrid_sequence
from monitor.macro import macro_sequence
from monitor.refinement import refined
from monitor.sample import Sample

BEST, WORST, ROUTING = "SEQ_best", "SEQ_worst", "Ticket Routing"
BY_DROPPING, OWN_LEVEL = "Hybrid, by dropping ratio", "Hybrid, at own level"
CONTENDERS = (WORST, ROUTING, BEST, MACRO, HYBRID, REFINED)

Segments = Sequence[tuple[int, int, Plan]]


@dataclass(frozen=True, slots=True)
class Measuring:
    """The parameters of a comparison.

    ``period_tuples``: the period lambda. Macro and Hybrid find a sequence for every period on the tuples of the
    previous period (mu = 0). The first period is not measured: it only provides the first sequences, and the tickets of
    the lottery. ``sample_tuples``: the largest number of tuples of a period that a search uses. ``exact_tuples``: the
    number of tuples on which SEQ_best and SEQ_worst are found; the costs of these two sequences are measured on all
    tuples. ``repetitions``: timed runs of the executor for each contender; 0 for none.
    """

    period_tuples: int = 10_000
    sample_tuples: int = 10_000
    exact_tuples: int = 10_000
    repetitions: int = 3


def compared(stream: RecordedStream, measuring: Measuring, *, seed: int) -> dict[str, Any]:
    """Return each contender's mean cost of a tuple and its time in the batch executor, and figures that explain the
    costs.

    All contenders begin warm: no contender's cost includes the first period. SEQ_best and SEQ_worst are found in
    hindsight, on tuples of the whole measured stream.
    """
    kinds: tuple[Kind, ...] = (MACRO, HYBRID, REFINED)
    thresholds, sample_tuples = Thresholds(measuring.period_tuples, 0.0), measuring.sample_tuples
    visits = ticket_routing(stream.block, stream.whole, seed=seed)[measuring.period_tuples :]
    stream, runs = warm_runs(stream, thresholds, kinds, sample_tuples=sample_tuples, seed=seed)
    macro, hybrid, refining = (runs[kind] for kind in kinds)
    drawn = stream.drawn(measuring.exact_tuples, np.random.default_rng(seed))
    fixed = fixed_sequences(stream.block, drawn)
    best, worst = stream.block.order_of(fixed.best), stream.block.order_of(fixed.worst)
    costs = {
        WORST: figures(stream, stream.whole, worst).cost,
        ROUTING: float(visits.mean()),
        BEST: figures(stream, stream.whole, best).cost,
        MACRO: macro.cost,
        HYBRID: hybrid.cost,
        REFINED: refining.cost,
    }
    orders = {
        WORST: _held(macro, worst),
        BEST: _held(macro, best),
        MACRO: macro.orders,
        HYBRID: hybrid.orders,
        REFINED: refining.orders,
    }
    return {
        "costs": costs,
        "times": _times(stream, orders, costs, measuring.repetitions) if measuring.repetitions else {},
        "micro_ratio": hybrid.micro_ratio,
        "explained": _explained(stream, drawn, fixed, macro, hybrid),
    }


def _held(run: AdaptiveRun, order: Order) -> tuple[tuple[int, int, Order], ...]:
    """Return the segments of ``run`` with the fixed ``order`` in each. A contender with a fixed order then calls the
    executor as often as a contender whose order changes per segment.
    """
    return tuple((start, stop, order) for start, stop, _ in run.orders)


def _explained(
    stream: RecordedStream, drawn: Sample, fixed: FixedSequences, macro: AdaptiveRun, hybrid: AdaptiveRun
) -> dict[str, Any]:
    """Return the figures that explain the costs.

    ``dropped``: the share of tuples that no query accepts; any other tuple costs all constructs in every order.
    ``least``: the mean number of constructs that a tuple needs if the order is chosen for its values.

    ``fixed_costs``: the costs of the macro- and the hybrid-sequence found once, on the sample of SEQ_best, and used for
    all tuples. They show the loss of the greedy search and the gain of the micro-arrows without adaptation.
    ``sample_costs``: the costs of the same sequences on the sample itself, which exclude any loss from a small sample.
    Both also have the costs of variants of the hybrid-sequence: with only a part of the micro-arrows, and with each
    micro-arrow followed only at the level of its measurement.
    """
    block = stream.block
    greedy = hybrid_sequence(block, drawn, macro_sequence(block, drawn).sequence)
    held = {
        MACRO: greedy.order.macro,
        HYBRID: greedy.order,
        BY_DROPPING: by_dropping_ratio(block, greedy).order,
        REFINED: refined(block, drawn, greedy).order,
    }
    samples = {BEST: block.order_of(fixed.best), **held}
    return {
        "dropped": macro.dropped / len(stream),
        "least": fixed.least,
        "fixed_costs": {
            **{name: figures(stream, stream.whole, order).cost for name, order in held.items()},
            OWN_LEVEL: cost_at_own_level(block, stream.whole, greedy),
        },
        "sample_costs": {
            **{name: figures(stream, drawn, order).cost for name, order in samples.items()},
            OWN_LEVEL: cost_at_own_level(block, drawn, greedy),
        },
        "exact": fixed.exact,
        "exact_tuples": fixed.tuples,
        "micro_arrows": statistics.fmean(order.arrow_count for _, _, order in hybrid.orders),
        "search_s": {MACRO: macro.search_s, HYBRID: hybrid.search_s},
        "rearrangements": len(hybrid.rearrangements),
    }


def _times(
    stream: RecordedStream,
    orders: Mapping[str, Sequence[tuple[int, int, Order]]],
    costs: Mapping[str, float],
    repetitions: int,
) -> dict[str, dict[str, float]]:
    """Measure the median nanoseconds per tuple in the batch executor. The contenders run alternately.

    ``executor``: the normal evaluation, which takes four and then eight constructs at a time if there are no
    micro-arrows. ``one_at_a_time``: the evaluation of single constructs that a hybrid-sequence needs, for every
    contender. Raises RuntimeError if two contenders have different matches, or if the executor's cost differs from the
    walk's cost.
    """
    plans = {
        name: [(start, stop, stream.plan.with_orders({0: order})) for start, stop, order in pieces]
        for name, pieces in orders.items()
    }
    found = {name: _matched(stream, segments, count_cost=True)[:2] for name, segments in plans.items()}
    if len({matches for matches, _ in found.values()}) > 1:
        raise RuntimeError(f"the orders disagree on the number of matches: {found}")
    for name, (_, evaluated) in found.items():
        if round(costs[name] * len(stream)) != evaluated:
            raise RuntimeError(f"{name}: the executor evaluated {evaluated} constructs, walked were {costs[name]} each")
    seconds: dict[tuple[str, bool], list[float]] = {(name, one): [] for name in plans for one in (False, True)}
    for _ in range(repetitions):
        for (name, one), own in seconds.items():
            own.append(_matched(stream, plans[name], count_cost=one)[2])
    ns = {key: statistics.median(own) / len(stream) * 1e9 for key, own in seconds.items()}
    return {name: {"executor": ns[name, False], "one_at_a_time": ns[name, True]} for name in plans}


def _matched(stream: RecordedStream, segments: Segments, *, count_cost: bool) -> tuple[int, int, float]:
    """Return the number of matches, the number of constructs evaluated, and the seconds."""
    matches = evaluated = 0
    start_s = time.perf_counter()
    for start, stop, plan in segments:
        found = match(plan, stream.columns_between(start, stop), stop - start, count_cost=count_cost)
        matches += len(found)
        evaluated += found.evaluated
    return matches, evaluated, time.perf_counter() - start_s
