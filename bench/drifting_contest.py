"""A comparison of methods of ordering the constructs of a plan, over a stream whose distribution changes slowly. The
methods are timed alternately, batch by batch.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.accumulators import Accumulator

from asc.evaluation.executor import Matches, match
from asc.plan.block import Block
from asc.plan.order import Order
from asc.plan.plan import Plan
from broker.config.sections import MonitorConfig
from broker.matching.tally import Sampling, Tally, Tallying, TallyParam, TaskTally
from broker.monitoring.arrangement import SampledTuples
from broker.monitoring.stream_monitor import StreamMonitor
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan
from monitor.hybrid import hybrid_sequence
from monitor.macro import macro_sequence
from monitor.moves import moved
from monitor.refinement import refined
from monitor.sample import Sample

OFF, MACRO, HYBRID, BEST, ON = "static", "macro", "hybrid", "best fixed", "monitor on"
CONTESTANTS = (OFF, MACRO, HYBRID, BEST, ON)
"""The names of the contestants. ``static`` is the plan as compiled. A daemon with the monitor off runs the same plan,
so ``static`` also measures the monitor off.
"""

Batch = Sequence[pa.ChunkedArray]
Find = Callable[[Block, Sample], Order]


def batch_of(plan: Plan, tuples: pa.Table) -> Batch:
    """Return the values of a plan's p-attributes over ``tuples``, as the list of Arrow columns that the executor
    takes.
    """
    return [tuples[attribute.sql] for attribute in plan.p_attributes]


def drawn_from(batches: Sequence[Batch], tuples: int) -> Batch:
    """Return about ``tuples`` tuples, drawn evenly from all batches of the stream."""
    step = max(1, sum(len(batch[0]) for batch in batches) // tuples)
    slots = range(len(batches[0]))
    pieces = [
        [batch[slot].take(pa.array(np.arange(number % step, len(batch[slot]), step))) for slot in slots]
        for number, batch in enumerate(batches)
    ]
    return [pa.chunked_array([chunk for piece in pieces for chunk in piece[slot].chunks]) for slot in slots]


def fixed_plans(plan: Plan, first: Batch, whole: Batch) -> dict[str, Plan]:
    """Return variants of a plan with fixed orders.

    Three variants are the plan itself, the plan with the macro-sequence found on the batch ``first``, and the plan with
    the refined hybrid-sequence found on ``first``. The fourth variant has the macro-sequence found in hindsight on
    ``whole`` and improved by moves.
    """
    return {
        OFF: plan,
        MACRO: _with_orders(plan, first, _macro),
        HYBRID: _with_orders(plan, first, _hybrid),
        BEST: _with_orders(plan, whole, _improved),
    }


def _with_orders(plan: Plan, batch: Batch, find: Find) -> Plan:
    tuples = SampledTuples.of(plan, batch, len(batch[0]))
    return plan.with_orders(
        {number: find(block, tuples.sample(block)) for number, block in enumerate(plan.blocks)},
    )


def _macro(block: Block, sample: Sample) -> Order:
    return block.order_of(macro_sequence(block, sample).sequence)


def _hybrid(block: Block, sample: Sample) -> Order:
    found = hybrid_sequence(block, sample, macro_sequence(block, sample).sequence)
    return refined(block, sample, found).order


def _improved(block: Block, sample: Sample) -> Order:
    return block.order_of(moved(block, sample, macro_sequence(block, sample).sequence))


@dataclass(frozen=True, slots=True)
class Drawing:
    """The seconds that a worker takes to draw tuples of a batch, without the seconds to count the batch.

    Counting is no cost of the monitor, because a worker also counts with the monitor off. ``now``: the seconds with the
    present settings. ``steady``: the seconds if only as few tuples are drawn as the default settings require.
    """

    now: float
    steady: float


class MonitoredPlan(AbstractContextManager["MonitoredPlan"]):
    """A plan with the broker's monitor but without Spark. In a daemon, Spark transfers the plan and the tallies.

    ``settings``: the settings of the monitor, as in a daemon. ``folder``: the folder for the files of a running plan.
    """

    def __init__(self, plan: Plan, settings: MonitorConfig, folder: Path) -> None:
        self._sample_tuples = settings.sample_tuples
        self._running = RunningPlan("bench", BatchBindings(folder / "bindings", folder / "checkpoint"), {})
        self._running.replace(plan)
        self._arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(settings.sample_tuples))
        self._monitor = StreamMonitor("bench", settings, self._running)
        self._monitor.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._monitor.stop()

    @property
    def plan(self) -> Plan:
        """The plan that runs at present."""
        return self._running.plan

    @property
    def own_s(self) -> float:
        """The seconds of processor time that the thread of the monitor has used so far."""
        return self._monitor.totals.monitor_s

    @property
    def rearrangements(self) -> int:
        """The number of sequences that the monitor has replaced so far."""
        return sum(self._monitor.totals.rearrangements.values())

    def report(self, batch: Batch, matches: Matches) -> Drawing:
        """Report a batch to the monitor as a worker does, and wait until the monitor has processed it."""
        plan, tuples = self.plan, self._sample_tuples
        counting, _ = self._tallied(batch, matches, None)
        steady, _ = self._tallied(batch, matches, Sampling(tuples / MonitorConfig().lambda_tuples, tuples))
        taken, tally = self._tallied(batch, matches, self._monitor.sampling())
        if tally is None:
            raise RuntimeError("the batch was not counted")
        self._monitor.offer(plan, tally)
        while self._monitor.behind:
            time.sleep(0.0005)
        return Drawing(taken - counting, steady - counting)

    def _tallied(self, batch: Batch, matches: Matches, sampling: Sampling | None) -> tuple[float, Tally | None]:
        """Count the matches of a batch as a worker does, and draw tuples from the batch if ``sampling`` is not None.
        Return the seconds that this took, and the worker's tally.
        """
        self._arrived.value = None
        start_s = time.perf_counter()
        task = TaskTally(Tallying(self._arrived, 1, sampling))
        task.add(self.plan.p_attributes, batch, matches)
        task.hand_over()
        return time.perf_counter() - start_s, self._arrived.value


@dataclass(slots=True)
class Course:
    """The result of a stream: the microseconds per tuple of each contestant, batch by batch.

    For the contestant with the monitor, it also has three costs of the monitor, in microseconds per tuple.
    ``drawing_us``: drawing tuples in workers. ``steady_us``: drawing as few tuples as the default settings require.
    ``own_us``: the monitor's thread.
    """

    matching_us: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in CONTESTANTS})
    drawing_us: list[float] = field(default_factory=list)
    steady_us: list[float] = field(default_factory=list)
    own_us: list[float] = field(default_factory=list)
    rearrangements: int = 0
    matches: int = 0
    dropped: int = 0
    tuples: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the figures of the stream as a whole, and batch by batch."""
        return {
            "matches_a_tuple": self.matches / self.tuples,
            "dropped": self.dropped / self.tuples,
            "us": {name: statistics.fmean(own) for name, own in self.matching_us.items()},
            # Differences below the precision of the clock may be negative, and count as zero.
            "drawing_us": max(0.0, statistics.fmean(self.drawing_us)),
            "steady_us": max(0.0, statistics.fmean(self.steady_us)),
            "own_us": statistics.fmean(self.own_us),
            "rearrangements": self.rearrangements,
            "course_us": {name: [round(us, 4) for us in own] for name, own in self.matching_us.items()},
        }


def _timed_match(plan: Plan, batch: Batch, rows: int) -> tuple[float, Matches]:
    start_s = time.perf_counter()
    found = match(plan, batch, rows)
    return time.perf_counter() - start_s, found


def contest(
    fixed: Mapping[str, Plan], monitored: MonitoredPlan, first: Iterable[Batch], batches: Iterable[Batch], runs: int
) -> Course:
    """Run every batch ``runs`` times with each contestant in turn. The median of the runs counts.

    The monitor first receives the batches ``first``, because the fixed orders were also found on these batches. The
    order of the contestants changes from batch to batch, because each contestant finds data in the caches that the
    previous contestant used. Raises RuntimeError if two contestants differ in the number of matches.
    """
    for batch in first:
        monitored.report(batch, match(monitored.plan, batch, len(batch[0])))
    course, rearrangements_before = Course(), monitored.rearrangements
    for number, batch in enumerate(batches):
        plans = {**fixed, ON: monitored.plan}
        rows, names = len(batch[0]), [*CONTESTANTS[number % len(CONTESTANTS) :], *CONTESTANTS][: len(CONTESTANTS)]
        # The first run over a batch loads its data into the cache, so it is not measured.
        expected = match(fixed[OFF], batch, rows)
        seconds: dict[str, list[float]] = {name: [] for name in names}
        monitored_matches = expected
        for _ in range(runs):
            for name in names:
                taken, matches = _timed_match(plans[name], batch, rows)
                if len(matches) != len(expected):
                    raise RuntimeError(
                        f"{name}: {len(matches)} matches, {OFF} finds {len(expected)}: the orders disagree"
                    )
                seconds[name].append(taken)
                monitored_matches = matches if name == ON else monitored_matches
        own_s = monitored.own_s
        drawing = monitored.report(batch, monitored_matches)
        course.drawing_us.append(drawing.now / rows * 1e6)
        course.steady_us.append(drawing.steady / rows * 1e6)
        course.own_us.append((monitored.own_s - own_s) / rows * 1e6)
        for name, own in seconds.items():
            course.matching_us[name].append(statistics.median(own) / rows * 1e6)
        course.matches += len(expected)
        course.dropped += expected.dropped
        course.tuples += rows
    course.rearrangements = monitored.rearrangements - rearrangements_before
    return course
