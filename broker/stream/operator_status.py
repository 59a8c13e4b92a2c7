"""Status of the operators of a stream, by kind: state, outputs, exclusions, watermarks and lag."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asc.operators.feed import Kind
from asc.plan.plan import Plan
from broker.operators.feed_destination import FeedDestination, destinations_in
from broker.operators.fold_destination import FoldDestination, folds_in
from broker.operators.folder import Folder
from broker.operators.stateful_query import StatefulQuery
from broker.stream.metrics.event_time import Marks


@dataclass(frozen=True, slots=True)
class OperatorStatus:
    """The status of one operator kind in a stream, since the daemon started.

    ``queries``: the queries of the kind in the running plan. ``held``: the number of objects, observations or points
    (the kind's ``held_noun``) in the states; None if no batch has counted them. ``outputs``: outputs by type.
    ``excluded``: excluded observations by reason. ``watermarks_us``: microseconds since 1970 by time expression.

    ``lag_records``: the unprocessed records of the feed; None if the number is unknown, or if the kind has no feed.
    ``failures``: the number of times that the reader of the feed ended with an error. ``problem``: the reason why the
    reader does not run; None if it runs.
    """

    queries: int
    held: int | None
    observations: int
    outputs: Mapping[Kind, int]
    excluded: Mapping[str, int]
    watermarks_us: Mapping[str, int]
    lag_records: int | None
    failures: int
    problem: str | None


_NO_TOPICS: Collection[str] = frozenset()


class _Read(NamedTuple):
    """The destinations of a plan's operators, for feed kinds and for fold kinds, and the topics of its queries by feed
    kind.
    """

    plan: Plan
    fed: Sequence[FeedDestination]
    folded: Sequence[FoldDestination]
    topics: Mapping[str, Collection[str]]


class PlanDestinations:
    """The destinations of the operators in the running plan, computed once for each plan."""

    def __init__(self) -> None:
        self._read: _Read | None = None

    def of(self, plan: Plan) -> Sequence[FeedDestination]:
        """Return the destinations of a plan that use the feed.

        Cost: some microseconds for each query if the plan differs from the previous call; else nothing.
        """
        return self._of(plan).fed

    def folded(self, plan: Plan) -> Sequence[FoldDestination]:
        """Return the destinations of a plan whose records are folded. The cost is that of :meth:`of`."""
        return self._of(plan).folded

    def topics(self, plan: Plan, op: str) -> Collection[str]:
        """Return the topics of the queries of a feed kind. The result is the same object while the plan is the same.
        The cost is that of :meth:`of`.
        """
        return self._of(plan).topics.get(op, _NO_TOPICS)

    def _of(self, plan: Plan) -> _Read:
        read = self._read
        if read is None or read.plan is not plan:
            fed = destinations_in(plan)
            topics: defaultdict[str, set[str]] = defaultdict(set)
            for each in fed:
                topics[each.track.op].add(each.query.topic)
            self._read = read = _Read(plan, fed, folds_in(plan), dict(topics))
        return read


def operator_statuses(
    destinations: Sequence[FeedDestination],
    feed_queries: Mapping[str, StatefulQuery],
    lags: Mapping[str, int | None],
    marks: Marks,
    lateness_us: int,
) -> dict[str, OperatorStatus]:
    """Return the status of each feed kind in use. A kind is in use if the plan has a query of the kind, or if the
    kind's reader has started.
    """
    queries = Counter(each.track.op for each in destinations)
    times: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for each in destinations:
        mark = marks.get(each.track.time_name)
        if mark is not None:
            times[each.track.op][each.track.time_us] = mark - lateness_us
    statuses = {}
    for op, query in feed_queries.items():
        tally = query.tally
        if tally is None and not queries[op]:
            continue
        statuses[op] = OperatorStatus(
            queries[op],
            query.held,
            0 if tally is None else tally.observations,
            {} if tally is None else dict(tally.outputs),
            {} if tally is None else dict(tally.excluded),
            dict(times[op]),
            lags[op],
            query.failures,
            query.problem,
        )
    return statuses


def fold_statuses(destinations: Sequence[FoldDestination], folders: Mapping[str, Folder]) -> dict[str, OperatorStatus]:
    """Return the status of each fold kind in use. A kind is in use if the plan has a query of the kind, or if the kind
    has counted records.

    Folded states are committed with their batch, so they never lag.
    """
    queries = Counter(each.op for each in destinations)
    return {
        op: OperatorStatus(
            queries[op],
            folder.held,
            folder.totals.counted,
            folder.outputs,
            folder.totals.excluded,
            folder.watermarks_us,
            lag_records=None,
            failures=0,
            problem=None,
        )
        for op, folder in folders.items()
        if queries[op] or folder.totals.counted
    }
