"""The monitor of one stream: it receives the tallies of batches, and replaces sequences between batches."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from asc.plan.block import Block
from asc.plan.plan import Plan
from broker.config.sections import MonitorConfig
from broker.failure import one_line
from broker.matching.tally import Counts, Draw, Sampling, Tally
from broker.monitoring.arrangement import Arrangement, SampledTuples, arranged
from broker.monitoring.block_states import BlockState, BlockStates
from broker.monitoring.rearrangement import Rearrangement
from broker.plans.running_plan import RunningPlan
from monitor.adaptation import Cause, Figures
from monitor.macro import MacroSearch, macro_sequence
from monitor.measures import ConstructMeasure, measures
from monitor.sample import Sample

LOG = logging.getLogger("asc.monitor")

_EVENTS_KEPT = 100
_WAITING_MAX = 64
"""The largest number of batches that wait while the monitor measures. Tallies of further batches are dropped."""

_WAITING_WITH_DRAW = 4
"""The number of waiting batches that keep their sample, which is the largest part of a tally."""

_OVERDRAWN = 1.2
"""The factor by which more tuples are drawn than the sample needs, so that a random draw is seldom too small."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of the stream's batches since the start. ``evaluated``: the number of evaluated constructs, as the
    executor counts them (:class:`asc.evaluation.executor.Matches`).
    """

    batches: int = 0
    tuples: int = 0
    accepted: int = 0
    evaluated: int = 0
    sampled: int = 0
    rearrangements: Mapping[str, int] = field(default_factory=dict)
    """The number of rearrangements by trigger."""
    monitor_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class LastBatch:
    """The counts of one batch with records: its ``tuples``, and two counts for each block of its plan.

    ``dropped``: the number of tuples for which no conjunct of the block was possible any more. ``evaluated``: the
    constructs that were evaluated.
    """

    tuples: int
    dropped: Counts
    evaluated: Counts


@dataclass(slots=True)
class _Period:
    """The tuples since the last check: their number, and a uniform sample of them."""

    tuples: int = 0
    draw: Draw | None = None

    def add(self, tally: Tally, sample_tuples: int) -> None:
        """Add the tally of a batch."""
        self.tuples += tally.tuples
        if tally.draw is not None:
            self.draw = tally.draw if self.draw is None else self.draw.merged(tally.draw, sample_tuples)


@dataclass(frozen=True, slots=True)
class _Found:
    """A sequence found for a block, the trigger of the search, and the time that the search took."""

    number: int
    state: BlockState
    cause: Cause
    arrangement: Arrangement
    measured: tuple[ConstructMeasure, ...]
    spent_s: float


class StreamMonitor:
    """The monitor of one stream, in its own thread: it measures blocks and rearranges sequences (sections 4.2.3 and 5.2
    of the paper).

    The job calls :meth:`sampling` before a batch and :meth:`offer` after it; neither waits. Batches form periods of
    ``lambda_tuples``. While a block waits for a measurement, a period has ``sample_tuples``. While a macro-sequence is
    searched step by step, a period has ``tau_tuples``. At the end of a period, the dropping ratio and the cost of each
    block are compared with the initial figures of its sequence. If one has changed by ``mu``, a sequence is searched on
    a uniform sample of the period's tuples and put in place. Then the monitor rests until it has used no more than
    ``max_core_share`` of a core; searches triggered meanwhile wait.

    Invariant: one thread changes the sequences. Others read ``totals`` and ``rearrangements``, which are replaced,
    never mutated. An error is logged and leaves the sequences unchanged: results never depend on the monitor.
    """

    def __init__(self, stream: str, settings: MonitorConfig, running: RunningPlan) -> None:
        self.stream = stream
        self._settings = settings
        self._running = running
        self._waiting: queue.Queue[tuple[Plan, Tally] | None] = queue.Queue(_WAITING_MAX)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"monitor-{stream}", daemon=True)
        self._stopping = threading.Event()
        self._states = BlockStates()
        self._period = _Period()
        self._placed: Plan | None = None
        self._last_batch_tuples = 0
        self._last_s = 0.0
        self._ended_at = 0.0
        self.totals = Totals()
        self.last: LastBatch | None = None
        """The counts of the last batch with records, by block; None if there was none."""
        self.rearrangements: tuple[Rearrangement, ...] = ()

    # -- what the job and the daemon call

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Request a stop: no further block is measured."""
        self._stopping.set()
        # If the queue is full, the thread sees the flag after the current batch.
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)

    def stop(self) -> None:
        """Stop the thread. If it does not end within five seconds, leave it running."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def reload(self, settings: MonitorConfig) -> None:
        """Apply other settings from the next batch on. Measurements are kept."""
        self._settings = settings

    def sampling(self) -> Sampling | None:
        """Return how the next batch samples tuples. Return None if nothing will be measured."""
        settings = self._settings
        if not settings.enabled or not settings.triggers or self._is_resting():
            return None
        # A period is a batch at least.
        tuples = max(self._period_tuples(), self._last_batch_tuples)
        return Sampling(min(1.0, _OVERDRAWN * settings.sample_tuples / tuples), settings.sample_tuples)

    def offer(self, plan: Plan, tally: Tally) -> None:
        """Queue the tally of a finished batch, without waiting."""
        self._last_batch_tuples = tally.tuples
        if tally.tuples:
            self.last = LastBatch(tally.tuples, tally.dropped, tally.evaluated)
        with self._lock:
            totals = self.totals
            self.totals = replace(
                totals,
                batches=totals.batches + 1,
                tuples=totals.tuples + tally.tuples,
                accepted=totals.accepted + tally.accepted,
                evaluated=totals.evaluated + int(tally.evaluated.sum()),
                sampled=totals.sampled + (len(tally.draw) if tally.draw else 0),
            )
        if self._waiting.qsize() >= _WAITING_WITH_DRAW:
            tally = replace(tally, draw=None)
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait((plan, tally))

    @property
    def behind(self) -> bool:
        """Return whether the monitor has not processed all offered batches."""
        return self._waiting.unfinished_tasks > 0

    def view(self) -> dict[str, Any]:
        """Return the settings, totals, blocks and last rearrangements as plain values."""
        totals, figures = self.totals, [state.figures for state in self._states]
        return {
            "enabled": self._settings.enabled,
            "settings": self._settings.model_dump(mode="json"),
            "batches": totals.batches,
            "tuples": totals.tuples,
            "accepted": totals.accepted,
            "evaluated": totals.evaluated,
            "sampled": totals.sampled,
            "rearrangement_counts": dict(totals.rearrangements),
            "monitor_s": totals.monitor_s,
            "blocks": [own and {"dropping_ratio": own.dropping_ratio, "cost": own.cost} for own in figures],
            "rearrangements": [event.plain() for event in self.rearrangements],
        }

    def measured(self, block: Block) -> dict[str, Any] | None:
        """Return the measurements of a block of the running plan.

        The measurements are the initial figures of the block's sequence, and the measures of each of its constructs on
        the sample. Return None if there are no measurements, or if the block has changed.
        """
        state = next((own for own in self._states if own.matrix is block.matrix), None)
        if state is None or state.figures is None:
            return None
        figures, constructs = state.figures, state.measured
        return {
            "dropping_ratio": figures.dropping_ratio,
            "cost": figures.cost,
            "constructs": [asdict(one) for one in constructs],
        }

    # -- the thread

    def _run(self) -> None:
        while not self._stopping.is_set():
            item = self._waiting.get()
            if item is None:
                return
            try:
                self._take(*item)
            except Exception as error:
                LOG.exception("stream '%s': the monitor could not look: %s", self.stream, one_line(error))
            finally:
                self._waiting.task_done()

    def _take(self, plan: Plan, tally: Tally) -> None:
        settings = self._settings
        if not settings.enabled:
            self._period, self._states = _Period(), BlockStates()
            return
        if self._placed is not None:
            is_in_place = plan is self._placed or plan is self._running.plan
            if not is_in_place and plan.version <= self._placed.version:
                # The batch was bound before the last swap, so it says nothing about the current sequences.
                return
            self._placed = None
        self._states.follow(plan, settings)
        self._states.count(tally, settings)
        period = self._period
        period.add(tally, settings.sample_tuples)
        if period.tuples < self._period_tuples():
            return
        self._period = _Period()
        due = self._states.due()
        if due and not self._is_resting():
            self._measure(plan, period, due)

    def _period_tuples(self) -> int:
        settings = self._settings
        if self._states.is_searching:
            return settings.tau_tuples
        if self._states.is_measured:
            return settings.lambda_tuples
        return min(settings.lambda_tuples, settings.sample_tuples)

    def _is_resting(self) -> bool:
        rest_s = self._last_s * (1 / self._settings.max_core_share - 1)
        return time.monotonic() < self._ended_at + rest_s

    # -- measuring

    def _measure(self, plan: Plan, period: _Period, due: Sequence[tuple[int, BlockState]]) -> None:
        draw = period.draw
        if draw is None or 2 * len(draw) < min(period.tuples, self._settings.sample_tuples):
            # The sample is too small, because the monitor rested. The next period is short, and draws tuples.
            return
        # The processor time of this thread, because waiting for others causes no load.
        start = time.thread_time()
        try:
            tuples = SampledTuples.of(plan, draw.columns(plan.p_attributes), len(draw))
            results = [one for number, state in due if (one := self._search_result(number, state, tuples)) is not None]
            if results:
                self._put_in_place(plan, results, len(draw))
        finally:
            self._last_s = time.thread_time() - start
            self._ended_at = time.monotonic()
            with self._lock:
                self.totals = replace(self.totals, monitor_s=self.totals.monitor_s + self._last_s)

    def _search_result(self, number: int, state: BlockState, tuples: SampledTuples) -> _Found | None:
        """Return the sequence found for a block.

        Return None while the search needs more steps, or if the monitor stops.
        """
        if self._stopping.is_set() or state.cause is None:
            return None
        start = time.thread_time()
        block = tuples.plan.blocks[number]
        sample = tuples.sample(block)
        sequence = self._sequence(block, state, sample)
        if sequence is None:
            return None
        arrangement = arranged(block, sample, tuples, sequence)
        measured = measures(block, sample, arrangement.order.sequence.tolist())
        return _Found(number, state, state.cause, arrangement, measured, time.thread_time() - start)

    def _sequence(self, block: Block, state: BlockState, sample: Sample) -> Sequence[int] | None:
        if self._settings.mode == "sampled":
            return macro_sequence(block, sample).sequence
        search = state.search = state.search or MacroSearch(block)
        if not search.done:
            search.step(sample)
        return search.result().sequence if search.done else None

    def _put_in_place(self, plan: Plan, results: Sequence[_Found], sample_tuples: int) -> None:
        orders = {result.number: result.arrangement.order for result in results if result.arrangement.kind != "kept"}
        self._placed = placed = self._running.arrange(plan, orders)
        there = {id(block.matrix) for block in placed.blocks}
        # The queries of the other blocks changed meanwhile, so these blocks are measured again.
        results = [result for result in results if id(result.state.matrix) in there]
        for result in results:
            cost = result.arrangement.counted_cost
            # The dropping ratio does not depend on the order, so the ratio of the period also holds for the new order.
            result.state.put_in_place(
                None if cost is None else Figures(result.cause.now.dropping_ratio, cost),
                result.measured,
            )
        events = [self._event(plan, result, sample_tuples) for result in results]
        self.rearrangements = (*self.rearrangements, *events)[-_EVENTS_KEPT:]
        with self._lock:
            by_trigger = Counter(self.totals.rearrangements) + Counter(
                event.trigger for event in events if event.kind != "kept"
            )
            self.totals = replace(self.totals, rearrangements=by_trigger)
        for event in events:
            LOG.info("%s", event)

    def _event(self, plan: Plan, result: _Found, sample_tuples: int) -> Rearrangement:
        block, cause, arrangement = plan.blocks[result.number], result.cause, result.arrangement
        names = [str(plan.p_attributes[slot]) for slot in block.slots.tolist()]
        return Rearrangement(
            at=datetime.now(timezone.utc),
            stream=self.stream,
            version=plan.version,
            block=result.number,
            trigger=cause.trigger.value,
            tuples=cause.tuples,
            sample_tuples=sample_tuples,
            dropping_ratio_before=None if cause.before is None else cause.before.dropping_ratio,
            dropping_ratio_now=cause.now.dropping_ratio,
            cost_before=arrangement.cost_before,
            cost_after=arrangement.cost_after,
            old_sequence=tuple(names[construct] for construct in block.sequence.tolist()),
            old_micro_arrows=block.order.arrow_count,
            new_sequence=tuple(names[construct] for construct in arrangement.order.sequence.tolist()),
            new_micro_arrows=arrangement.order.arrow_count,
            kind=arrangement.kind,
            kept_us=arrangement.kept_us,
            macro_us=arrangement.macro_us,
            hybrid_us=arrangement.hybrid_us,
            spent_s=result.spent_s,
        )
