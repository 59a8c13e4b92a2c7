"""The plan with which a stream's batches run: replaced between batches, and bound to each batch before it writes."""

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
    """A batch with its plan and its offsets.

    ``is_replay``: whether the plan has an earlier version than the running plan, because the batch was started with
    that version before.

    ``first`` and ``end``: by source partition, the first offset of the batch, and the first offset after it. They are
    equal if the partition has no record in the batch. They are the same in each run of the batch.
    """

    plan: Plan
    is_replay: bool
    first: Offsets
    end: Offsets

    @property
    def partitions(self) -> frozenset[int]:
        """Return the partitions of which the batch has records."""
        return frozenset(each for each, end in self.end.items() if self.first.get(each, end) != end)


@dataclass(frozen=True, slots=True)
class UnfinishedBatch:
    """The last bound batch if it is not committed: its plan, its offsets, and the number of its starts.

    ``first`` and ``end``: offsets by source partition. ``start_count``: the starts that count against the batch.
    """

    batch_id: int
    plan: Plan
    first: Offsets
    end: Offsets
    start_count: int


class RunningPlan:
    """The plan of one stream, the bindings of its batches, and the offsets from which a plan holds.

    Registration replaces the queries with :meth:`replace`, and the monitor replaces sequences with :meth:`arrange`.
    Neither undoes the other. :meth:`bind` returns the plan of a batch after storing the binding durably. A batch that
    was bound before (it failed, or the process crashed) gets the plan of the same version again.

    Invariant: ``plan`` is immutable, and is replaced under the lock. Batches are bound under the lock. So the effective
    offsets of a plan are after every batch that was bound before. Until the first :meth:`replace`, the plan has no
    query. Cost: the running plan and the plan of the last batch, which are the same unless the plan was replaced.
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
        """Return whether no batch is unfinished: Spark has committed the last bound batch, or no batch was bound."""
        bound = self._bound
        return bound is None or self._bindings.is_committed(bound.batch_id)

    @property
    def version_to_replay(self) -> int | None:
        """Return the version of the queries with which a batch was started that is not committed. Return None if there
        is no such batch.
        """
        return None if self._bound is None or self.is_settled else self._bound.version

    def replay_with(self, plan: Plan) -> None:
        """Store the plan of :attr:`version_to_replay` for the replay, as another plan may run by then."""
        with self._lock:
            self._bound_plan = plan

    def unfinished(self) -> UnfinishedBatch | None:
        """Return the batch that was started and not committed.

        Return None if there is no such batch or its plan is unknown.

        Raise BrokerError if its binding or Spark's log cannot be read.
        """
        with self._lock:
            bound = self._bound
            plan = self._plan_bound_to(bound) if bound is not None and not self.is_settled else None
        if bound is None or plan is None:
            return None
        start_count = self._bindings.start_count(bound.batch_id)
        return UnfinishedBatch(bound.batch_id, plan, self._first_of(bound), bound.end_offsets, start_count)

    def check_folder(self) -> None:
        """Raise BrokerError if another daemon has taken the stream's folder over, so that no batch can be bound."""
        self._bindings.check_folder()

    def excuse(self, times: int = 1) -> None:
        """Subtract ``times`` from the starts of the unfinished batch, because it failed by no fault of its own."""
        bound = self._bound
        if bound is not None and not self.is_settled:
            self._bindings.excuse(bound.batch_id, times)

    def replace(self, plan: Plan, made_from: Plan | None = None) -> Offsets:
        """Replace the running plan by a plan of other queries, and return the first offsets for which it holds.

        ``made_from``: the running plan from which the new plan was derived. The new plan keeps the sequences of the
        current running plan, including sequences that the monitor set since ``made_from`` was read.
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
        """Put new sequences of blocks into the running plan, and return that plan. ``orders``: the new sequences by the
        index of the block in ``measured``. ``measured``: the plan for which the monitor found the sequences. A block
        that has changed since then keeps its sequence.
        """
        with self._lock:
            self._plan = self._plan.with_orders_of(measured, orders)
            return self._plan

    def effective_offsets(self) -> Offsets:
        """Return the first offsets, by source partition, for which the running plan holds."""
        with self._lock:
            return self._effective_offsets()

    def done_offsets(self) -> Offsets:
        """Return the first offsets, by source partition, after all committed batches.

        If Spark's log is unreadable, return the offsets after the last started batch.
        """
        with self._lock:
            bound, offsets = self._bound, self._effective_offsets()
        if bound is None or self.is_settled:
            return offsets
        with suppress(BrokerError):
            return {**self._starting, **self._bindings.first_offsets(bound)}
        return offsets

    def bind(self, batch_id: int) -> BoundBatch:
        """Bind a batch durably, and return it with its plan. A batch with a binding keeps the bound version. Any other
        batch is bound to the running plan.

        Raise BrokerError if the plan of the bound version is unknown, or if a binding cannot be read.
        """
        with self._lock:
            running = self._plan
            if not self._bindings.has(batch_id):
                # Set before the write: if the write fails after the file is in place, the batch is still replayed with
                # this plan.
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
        """Return the first offset of a batch for each of its partitions.

        For a partition that was new in the batch, return its starting offset, or 0.
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
