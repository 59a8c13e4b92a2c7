"""Group commit of changes: changes that wait while another change is applied are applied together if possible."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from asc.errors import AscError
from broker.access.scope import Scope
from broker.queries.change import Alter, Change, Outcome
from broker.queries.load_progress import LoadProgress
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery

_FEW = 100
"""The largest number of changes in a request that can be applied together with other requests."""

_T = TypeVar("_T")


@dataclass(eq=False, slots=True)
class PendingChange:
    """The changes of one request, validated against the standing queries, and their answer.

    The answer is an outcome, an error, or ``is_stale``: the changes must be validated anew.
    """

    changes: Sequence[Change | AscError]
    candidates: dict[int, ValidatedQuery]
    refused: dict[int, AscError]
    standing: QuerySet
    load: LoadProgress
    scope: Scope
    keep_going: bool
    outcome: Outcome | None = None
    error: BaseException | None = None
    is_stale: bool = field(default=False)

    @property
    def is_answered(self) -> bool:
        """Return whether the changes have an answer."""
        return self.is_stale or self.outcome is not None or self.error is not None

    def is_of(self, standing: QuerySet) -> bool:
        """Return whether the validation still holds for ``standing``: the altered queries, and the shapes that
        predicates name, have not changed since. If so, the changes undo no other change.
        """
        is_reshaped = standing.shapes is not self.standing.shapes
        if is_reshaped and any(one.predicate.shapes or one.computes_by_row for one in self.candidates.values()):
            return False
        altered = (change.query_id for change in self.changes if isinstance(change, Alter))
        return all(standing.queries.get(name) is self.standing.queries.get(name) for name in altered)

    def is_plain(self, standing: QuerySet) -> bool:
        """Return whether this request permits that its changes are applied together with other requests.

        There must be few changes, none of them refused, no limit on the number of queries, and no ``keep_going``. All
        standing queries with these ids must belong to the caller.
        """
        if self.refused or self.keep_going or self.scope.max_queries is not None or len(self.changes) > _FEW:
            return False
        registered = (standing.queries.get(query_id) for query_id in self.ids())
        return all(query is None or self.scope.owns(query.id, query.stream) for query in registered)

    def ids(self) -> list[str]:
        """Return the ids of the queries to be changed."""
        return [change.query_id for change in self.changes if not isinstance(change, AscError)]

    def answer(self) -> Outcome:
        """Return the outcome of the changes, or raise their error."""
        if self.error is not None:
            raise self.error
        assert self.outcome is not None
        return self.outcome


class GroupCommit:
    """The queue of pending changes, in order of arrival. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[PendingChange] = []

    def add(self, pending_change: PendingChange) -> None:
        """Add a pending change to the queue."""
        with self._lock:
            self._waiting.append(pending_change)

    def take(self) -> list[PendingChange]:
        """Return all pending changes, and empty the queue."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken


def companions(pending_changes: Sequence[PendingChange], standing: QuerySet) -> list[PendingChange]:
    """Return the pending changes that can be applied in one step: they are plain (:meth:`PendingChange.is_plain`), and
    no two of them change the same query.
    """
    taken: set[str] = set()
    together: list[PendingChange] = []
    for pending_change in pending_changes:
        ids = pending_change.ids()
        if pending_change.is_plain(standing) and taken.isdisjoint(ids):
            together.append(pending_change)
        # A change waits if an earlier pending change of the same query does.
        taken.update(ids)
    return together


def joined(pending_changes: Sequence[PendingChange]) -> tuple[list[Change | AscError], dict[int, ValidatedQuery]]:
    """Return the changes of all pending changes in one sequence, and the validated queries of these changes by the
    index of the change in the sequence.
    """
    changes: list[Change | AscError] = []
    candidates: dict[int, ValidatedQuery] = {}
    for pending_change in pending_changes:
        candidates.update((len(changes) + position, one) for position, one in pending_change.candidates.items())
        changes += pending_change.changes
    return changes, candidates


def unrefused(pending_changes: Sequence[PendingChange], refused: Collection[int]) -> list[PendingChange]:
    """Return the pending changes that contain no refused change.

    ``refused``: indexes in the result of :func:`joined`.
    """
    accepted, low = [], 0
    for pending_change in pending_changes:
        high = low + len(pending_change.changes)
        if not any(low <= position < high for position in refused):
            accepted.append(pending_change)
        low = high
    return accepted


def part(pending_changes: Sequence[PendingChange], outcome: Outcome, before: QuerySet) -> None:
    """Set the outcome of each pending change to its part of ``outcome``, the outcome of the step that applied them all.
    ``before``: the standing queries before this step.
    """
    low = 0
    for pending_change in pending_changes:
        high = low + len(pending_change.changes)
        registered = _in_range(outcome.registered, low, high)
        removed = _in_range(outcome.removed, low, high)
        replaced = (before.queries.get(query_id) for query_id in pending_change.ids())
        streams = {one.query.stream for one in registered.values()} | {
            one.stream for one in replaced if one is not None
        }
        offsets = {name: found for name, found in outcome.effective_offsets.items() if name in streams}
        pending_change.outcome = Outcome(outcome.version, registered, removed, {}, offsets)
        low = high


def _in_range(all_of: Mapping[int, _T], low: int, high: int) -> dict[int, _T]:
    return {position - low: all_of[position] for position in range(low, high) if position in all_of}
