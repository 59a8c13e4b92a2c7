"""The plan that a stream's batches run with: swapped between them, bound to each before it writes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from asc.plan.compiler import compile_plan
from asc.plan.order import Order
from asc.plan.plan import Plan
from broker.errors import BrokerError
from broker.plans.binding import BatchBindings, Binding
from broker.plans.offsets import Offsets
from monitor.transfer import carried

LOG = logging.getLogger("asc.plan")


@dataclass(frozen=True, slots=True)
class BoundBatch:
    """A batch's plan and its records. ``is_replay``: the plan is that of an earlier version, with which the batch was
    started before.

    ``first`` and ``end``: offsets by source partition, the first of the batch and the first after it; equal where a
    partition has no record in it. They are the same whenever the batch is run.
    """

    plan: Plan
    is_replay: bool
    first: Offsets
    end: Offsets

    @property
    def partitions(self) -> frozenset[int]:
        """Return the partitions of which it has records."""
        return frozenset(each for each, end in self.end.items() if self.first.get(each, end) != end)


@dataclass(frozen=True, slots=True)
class UnfinishedBatch:
    """The last batch that was bound, where it is not done: its plan, its records, and how often it was started.

    ``first`` and ``end``: offsets by source partition. ``times_begun``: as far as it is to blame for not being done.
    """

    batch_id: int
    plan: Plan
    first: Offsets
    end: Offsets
    times_begun: int


class RunningPlan:
    """The plan of one stream, what each batch was bound to, and the offsets from which a plan holds.

    Registration puts other queries in with :meth:`replace`, the monitor other orders with :meth:`arrange`; neither
    undoes what the other did meanwhile. A batch gets its plan from :meth:`bind`, which makes it durable first. A batch
    that was bound before (it failed, or a crash came between) gets the plan of that version again.

    Invariant: ``plan`` is replaced in one step, never changed, by the holder of the lock. A batch is bound under it, so
    that the effective offsets of a plan are those after every batch that was bound before. Until the first
    :meth:`replace` the plan is of no query. Cost: the running plan and that of the last batch, which is the same one
    unless it was replaced since. Source: spec, sections 2 and 3.
    """

    def __init__(self, stream: str, bindings: BatchBindings, starting: Offsets) -> None:
        self._stream = stream
        self._bindings = bindings
        self._starting = starting
        self._lock = threading.Lock()
        self._plan = compile_plan(())
        self._bound = bindings.last()
        self._bound_plan: Plan | None = None

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def is_settled(self) -> bool:
        """Whether Spark has noted the last batch that was bound as done, if there was any."""
        bound = self._bound
        return bound is None or self._bindings.is_committed(bound.batch_id)

    @property
    def version_to_replay(self) -> int | None:
        """The version of the batch that was started and not committed; None where there is none."""
        return None if self._bound is None or self.is_settled else self._bound.version

    def replay_with(self, plan: Plan) -> None:
        """Keep the plan of :attr:`version_to_replay` for the replay; when the batch comes another plan may run."""
        with self._lock:
            self._bound_plan = plan

    def unfinished(self) -> UnfinishedBatch | None:
        """Return the batch that was started and not committed; None where there is none. BrokerError where its binding
        or Spark's log cannot be read.
        """
        with self._lock:
            bound = self._bound
            plan = self._plan_bound_to(bound) if bound is not None and not self.is_settled else None
        if bound is None or plan is None:
            return None
        times_begun = self._bindings.times_begun(bound.batch_id)
        return UnfinishedBatch(bound.batch_id, plan, self._first_of(bound), bound.end_offsets, times_begun)

    def check_folder(self) -> None:
        """Raise BrokerError where another daemon has taken the stream's folder over: no batch is bound any more."""
        self._bindings.check_folder()

    def excuse(self, times: int = 1) -> None:
        """Count the last batch as started so many times less: it failed by no fault of its own."""
        bound = self._bound
        if bound is not None and not self.is_settled:
            self._bindings.excuse(bound.batch_id, times)

    def replace(self, plan: Plan, made_from: Plan | None = None) -> Offsets:
        """Put a plan of other queries in place for every batch from now on; the first offsets that it holds for.

        ``made_from``: the running plan that it is a change of. Sequences are carried over from the plan that runs by
        now, those that the monitor found since ``made_from`` was read included.
        """
        while True:
            before = self._plan
            after = carried(before, plan)
            if made_from is not None and before is not made_from:
                after = after.with_orders_of(before, {i: block.order for i, block in enumerate(before.blocks)})
            with self._lock:
                if self._plan is before:
                    self._plan = after
                    return self._effective_offsets()

    def arrange(self, measured: Plan, orders: Mapping[int, Order]) -> Plan:
        """Put orders that were found for blocks of a plan into the plan that runs by now; that plan.

        A block that has changed since it was measured is left as it is.
        """
        with self._lock:
            self._plan = self._plan.with_orders_of(measured, orders)
            return self._plan

    def effective_offsets(self) -> Offsets:
        """Return the first offsets, by source partition, that the plan in place holds for."""
        with self._lock:
            return self._effective_offsets()

    def done_offsets(self) -> Offsets:
        """Return the first offsets, by source partition, that are after all batches that are done; where Spark's log
        does not say, after the last one that was started.
        """
        with self._lock:
            bound, offsets = self._bound, self._effective_offsets()
        if bound is None or self.is_settled:
            return offsets
        with suppress(BrokerError):
            return {**self._starting, **self._bindings.first_offsets(bound)}
        return offsets

    def bind(self, batch_id: int) -> BoundBatch:
        """Return the plan of a batch, bound durably: that of the version it is bound to already, else the running one.

        Raises BrokerError where the plan of that version is not known, or a binding cannot be read.
        """
        with self._lock:
            running = self._plan
            if not self._bindings.has(batch_id):
                # Known before it is written: what is in place though writing it failed half way is still replayed.
                self._bound_plan = running
            try:
                self._bound = binding = self._bindings.bind(batch_id, running.version)
            except Exception:
                with suppress(BrokerError):
                    self._bound = self._bindings.last()
                raise
            plan = self._plan_bound_to(binding)
        first = self._first_of(binding)
        if plan is running:
            return BoundBatch(running, is_replay=False, first=first, end=binding.end_offsets)
        if plan is None:
            remedy = f"was begun with version {binding.version}, whose plan is not known: start the daemon again"
            raise BrokerError("batch", batch_id, remedy)
        LOG.info("stream '%s': batch %d is run again with version %d", self._stream, batch_id, binding.version)
        return BoundBatch(plan, is_replay=True, first=first, end=binding.end_offsets)

    def _first_of(self, binding: Binding) -> Offsets:
        """Return the first offset of a batch for each partition that it has; a partition that was new in it begins at
        its first record.
        """
        first = self._bindings.first_offsets(binding)
        return {partition: first.get(partition, self._starting.get(partition, 0)) for partition in binding.end_offsets}

    def _plan_bound_to(self, binding: Binding) -> Plan | None:
        if binding.version == self._plan.version:
            return self._plan
        bound = self._bound_plan
        return bound if bound is not None and bound.version == binding.version else None

    def _effective_offsets(self) -> Offsets:
        return dict(self._starting if self._bound is None else {**self._starting, **self._bound.end_offsets})
