"""The side monitor of one stream: it reads what batches tell, and puts other sequences in place between them."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from asc.plan import Plan
from broker.arrangement import Arrangement, SampledTuples, arranged
from broker.failure import one_line
from broker.rearrangement import Rearrangement
from broker.sections import MonitorConfig
from broker.tally import Draw, Sampling, Tally
from monitor.adaptation import Adaptation, Change, Thresholds
from monitor.macro import MacroSearch, macro_sequence
from monitor.sample import Sample
from monitor.transfer import SequenceByAttribute

LOG = logging.getLogger("asc.monitor")

Swap = Callable[[Mapping[int, SequenceByAttribute]], Plan]
"""Puts sequences, by number of block, into the running plan, and returns what runs from now on."""

_EVENTS_KEPT = 100
_WAITING_MAX = 64
"""Batches whose tallies may wait while the monitor measures; the counts of more are left out of its looks."""

_OVERDRAWN = 1.2
"""Tuples drawn beyond the sample that is wanted, so that a draw by chance is seldom short."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What the stream's batches came to since the start. ``evaluated`` as the executor counts (see Matches)."""

    batches: int = 0
    tuples: int = 0
    accepted: int = 0
    evaluated: int = 0
    sampled: int = 0
    rearrangements: Mapping[str, int] = field(default_factory=dict)
    """By trigger."""
    monitor_s: float = 0.0


@dataclass(slots=True)
class _Period:
    """What has come since the last look: the number of tuples, and a uniform draw of them."""

    tuples: int = 0
    draw: Draw | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A sequence found for a block, what called for it, and the time it took."""

    number: int
    change: Change
    arrangement: Arrangement
    spent_s: float


@dataclass(slots=True)
class _Search:
    """Periodic mode: macro-sequences that grow by a construct a period, and what called for them."""

    plan: Plan
    open: dict[int, tuple[MacroSearch, Change]] = field(default_factory=dict)


class StreamMonitor:
    """Beside one stream's job, in a thread of its own: looks, measures, rearranges (sections 4.2.3 and 5.2).

    The job asks :meth:`sampling` before a batch and calls :meth:`offer` after it; neither waits. Every
    ``lambda_tuples`` the dropping ratio and the cost of each block are compared with those that its sequence began
    with; where one has changed by ``mu``, a sequence is found on a uniform sample of those tuples and swapped in. The
    first look comes after ``sample_tuples``. After a rearrangement it rests until its time is ``max_core_share`` of a
    core again; what called for one meanwhile is done at the look after.

    Invariant: one writer, its own thread; others read ``totals`` and ``events``, which are replaced, never changed. A
    failure in it is logged and leaves the sequences as they are: results never depend on them.
    """

    def __init__(self, stream: str, settings: MonitorConfig, swap: Swap) -> None:
        self.stream = stream
        self._settings = settings
        self._swap = swap
        self._waiting: queue.Queue[tuple[Plan, Tally] | None] = queue.Queue(_WAITING_MAX)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"monitor-{stream}", daemon=True)
        self._stopping = threading.Event()
        self._states: list[Adaptation] = []
        self._period = _Period()
        self._due: dict[int, Change] = {}
        self._search: _Search | None = None
        self._placed: Plan | None = None
        self._measured = False
        self._rest_until = 0.0
        self.totals = Totals()
        self.events: tuple[Rearrangement, ...] = ()

    # -- what the job and the daemon call

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a measurement under way is finished first, or left behind after five seconds."""
        self._stopping.set()
        # Where the queue is full the thread sees the flag when it is done with the batch in hand.
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def reload(self, settings: MonitorConfig) -> None:
        """Other settings from the next batch on; what has been measured stays."""
        self._settings = settings

    def sampling(self) -> Sampling | None:
        """How the next batch is to draw tuples; None while nothing will be measured."""
        settings = self._settings
        if not settings.enabled or not settings.triggers:
            return None
        share = min(1.0, _OVERDRAWN * settings.sample_tuples / self._period_tuples())
        return Sampling(share, settings.sample_tuples)

    def offer(self, plan: Plan, tally: Tally) -> None:
        """What a batch that is done told; never waits."""
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
        try:
            self._waiting.put_nowait((plan, tally))
        except queue.Full:
            LOG.debug("stream '%s': the monitor is behind; a batch is not counted", self.stream)

    @property
    def behind(self) -> bool:
        """Whether batches were offered that it has not done with."""
        return self._waiting.unfinished_tasks > 0

    def view(self) -> dict[str, Any]:
        """Settings, totals, blocks and the last events as plain values."""
        totals, states = self.totals, list(self._states)
        return {
            "enabled": self._settings.enabled,
            "settings": self._settings.model_dump(mode="json"),
            "batches": totals.batches,
            "tuples": totals.tuples,
            "accepted": totals.accepted,
            "evaluated": totals.evaluated,
            "sampled": totals.sampled,
            "rearrangements": dict(totals.rearrangements),
            "monitor_s": totals.monitor_s,
            "blocks": [
                None
                if state.before is None
                else {"dropping_ratio": state.before.dropping_ratio, "cost": state.before.cost}
                for state in states
            ],
            "events": [event.plain() for event in self.events],
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
                self._due, self._search = {}, None
                LOG.exception("stream '%s': the monitor could not look: %s", self.stream, one_line(error))
            finally:
                self._waiting.task_done()

    def _take(self, plan: Plan, tally: Tally) -> None:
        if not self._settings.enabled:
            self._period, self._due, self._search = _Period(), {}, None
            return
        self._count(plan, tally)
        period = self._period
        period.tuples += tally.tuples
        if tally.draw is not None:
            room = self._settings.sample_tuples
            period.draw = tally.draw if period.draw is None else period.draw.merged(tally.draw, room)
        if period.tuples < self._period_tuples():
            return
        self._period = _Period()
        if self._search is not None:
            self._step(plan, period)
        elif self._due and time.monotonic() >= self._rest_until:
            self._act(plan, period)

    def _period_tuples(self) -> int:
        settings = self._settings
        if self._search is not None:
            return settings.tau_tuples
        return settings.lambda_tuples if self._measured else min(settings.lambda_tuples, settings.sample_tuples)

    def _count(self, plan: Plan, tally: Tally) -> None:
        """Feed each block's state; batches that ran by a plan from before the last swap say nothing of the new one."""
        placed = self._placed
        if placed is not None:
            if plan is not placed and plan.version <= placed.version:
                return
            self._placed = None
        thresholds = Thresholds(
            self._period_tuples() if self._search is None else self._settings.lambda_tuples,
            self._settings.mu,
            "dropping_ratio" in self._settings.triggers,
            "cost" in self._settings.triggers,
        )
        states = self._states[: len(plan.blocks)]
        states += [Adaptation(thresholds) for _ in range(len(plan.blocks) - len(states))]
        for number, state in enumerate(states):
            state.thresholds = thresholds
            change = state.count(tally.tuples, int(tally.dropped[number]), int(tally.evaluated[number]))
            if change is not None:
                self._due[number] = change
        self._states = states

    # -- measuring

    def _act(self, plan: Plan, period: _Period) -> None:
        due, self._due = self._due, {}
        due = {number: change for number, change in due.items() if number < len(plan.blocks)}
        tuples = _sampled(plan, period.draw)
        if tuples is None or not due:
            return
        if self._settings.mode == "periodic":
            self._search = _Search(plan, {n: (MacroSearch(plan.blocks[n]), change) for n, change in due.items()})
            self._step(plan, period)
            return
        start = time.monotonic()
        found: list[_Found] = []
        for number, sample in self._samples(tuples, due):
            began = time.monotonic()
            block = plan.blocks[number]
            arrangement = arranged(block, sample, tuples, macro_sequence(block, sample).sequence)
            found.append(_Found(number, due[number], arrangement, time.monotonic() - began))
        self._put_in_place(plan, period, found, start)

    def _step(self, plan: Plan, period: _Period) -> None:
        """Periodic mode: each search takes a step on this period's tuples; complete ones are put in place."""
        search, start = self._search, time.monotonic()
        assert search is not None
        tuples = _sampled(plan, period.draw)
        if tuples is None:
            return
        found: list[_Found] = []
        for number, sample in self._samples(tuples, search.open):
            began = time.monotonic()
            block, (macro, change) = plan.blocks[number], search.open[number]
            if number >= len(search.plan.blocks) or block.matrix is not search.plan.blocks[number].matrix:
                # Queries came or went: what was measured is of another block.
                macro = MacroSearch(block)
                search.open[number] = macro, change
            if not macro.done:
                macro.step(sample)
            if macro.done:
                arrangement = arranged(block, sample, tuples, macro.result().sequence)
                found.append(_Found(number, change, arrangement, time.monotonic() - began))
        done = {one.number for one in found}
        still = {n: entry for n, entry in search.open.items() if n not in done and n < len(plan.blocks)}
        self._search = _Search(plan, still) if still else None
        self._put_in_place(plan, period, found, start)

    def _samples(self, tuples: SampledTuples, numbers: Mapping[int, object]) -> list[tuple[int, Sample]]:
        samples = tuples.samples()
        return [(number, samples[number]) for number in sorted(numbers) if number < len(samples)]

    def _put_in_place(self, plan: Plan, period: _Period, found: list[_Found], start: float) -> None:
        if found:
            sequences = {
                one.number: SequenceByAttribute.of(plan.with_sequences({one.number: one.arrangement.order}), one.number)
                for one in found
            }
            self._placed = self._swap(sequences)
            self._measured = True
            for one in found:
                self._states[one.number].put_in_place(one.arrangement.figures)
            events = [self._event(plan, period, one) for one in found]
            self.events = (*self.events, *events)[-_EVENTS_KEPT:]
            for event in events:
                LOG.info("%s", event)
        spent = time.monotonic() - start
        self._rest_until = time.monotonic() + spent * (1 / self._settings.max_core_share - 1)
        with self._lock:
            totals = self.totals
            by_trigger = Counter(totals.rearrangements) + Counter(one.change.trigger.value for one in found)
            self.totals = replace(totals, rearrangements=by_trigger, monitor_s=totals.monitor_s + spent)

    def _event(self, plan: Plan, period: _Period, found: _Found) -> Rearrangement:
        block, change, arrangement = plan.blocks[found.number], found.change, found.arrangement
        names = [plan.p_attributes[slot].sql for slot in block.slots.tolist()]
        sequence, arrows = arrangement.order
        return Rearrangement(
            at=datetime.now(timezone.utc),
            stream=self.stream,
            version=plan.version,
            block=found.number,
            trigger=change.trigger.value,
            tuples=change.tuples,
            sample_tuples=len(period.draw) if period.draw else 0,
            dropping_ratio_before=None if change.before is None else change.before.dropping_ratio,
            dropping_ratio_now=change.now.dropping_ratio,
            cost_before=arrangement.cost_before,
            cost_after=arrangement.cost_after,
            old_sequence=tuple(names[construct] for construct in block.sequence.tolist()),
            old_micro_arrows=len(block.micro_arrows()),
            new_sequence=tuple(names[construct] for construct in sequence),
            new_micro_arrows=len(arrows),
            kind=arrangement.kind,
            macro_us=arrangement.macro_us,
            hybrid_us=arrangement.hybrid_us,
            spent_s=found.spent_s,
        )


def _sampled(plan: Plan, draw: Draw | None) -> SampledTuples | None:
    if draw is None or not len(draw):
        return None
    return SampledTuples.of(plan, draw.columns(plan.p_attributes), len(draw))
