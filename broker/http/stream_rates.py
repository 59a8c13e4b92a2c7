"""Rates in the API: records, lag and latency of streams, and the records that each query received."""

from __future__ import annotations

from typing import Any

from asc.operators.times import FIRST_US, time_text
from broker.http.scoped_service import ScopedService
from broker.operators.kinds import OPERATORS
from broker.queries.query import RegisteredQuery
from broker.stream.metrics.timeline import MOMENT_S, Moment
from broker.stream.stream import Stream

_LISTED_COUNT = 5

_OF_OTHERS = ("accepted_per_s", "written_per_s")
"""The rates that all queries of a stream determine, so that a caller who does not see all queries must not get them."""


def described_flow(stream: Stream, *, whole: bool) -> dict[str, Any]:
    """Return the rates per second and the latencies of the last minute, and the number of records that are not
    processed yet.

    ``whole``: whether the caller sees all queries of the stream. If not, the rates of accepted and written records are
    omitted.
    """
    rates = stream.figures.rates()
    shown_rates = rates if whole else {name: rate for name, rate in rates.items() if name not in _OF_OTHERS}
    return {"lag_records": stream.figures.lag.records(), **shown_rates}


def described_operators(stream: Stream) -> dict[str, Any]:
    """Return the figures of a stream's operators, by kind: the size of the state, the numbers of outputs and
    exclusions, and the watermarks. Times are texts in ISO 8601.
    """
    return {
        op: {
            "queries": status.queries,
            "held": status.held,
            "held_noun": OPERATORS[op].held_noun,
            "observations": status.observations,
            "outputs": status.outputs,
            "excluded": status.excluded,
            "lateness_s": stream.config.lateness_s,
            "watermarks": {time: time_text(max(us, FIRST_US)) for time, us in status.watermarks_us.items()},
            "lag_records": status.lag_records,
            "failures": status.failures,
            "problem": status.problem,
        }
        for op, status in stream.operators().items()
    }


def described_delivered(stream: Stream) -> dict[str, Any]:
    """Return the number of records delivered to the queries of a stream since the daemon started, and the five queries
    that received the most.
    """
    counts = stream.figures.delivered
    most = [{"query": query_id, "records": records} for query_id, records in counts.most(_LISTED_COUNT)]
    return {"total": counts.total, "most": most}


def described_timeline(permitted: ScopedService, stream: Stream) -> dict[str, Any]:
    """Return the counts and latencies of a stream in the last hour, by intervals of MOMENT_S seconds. An interval in
    which no batch finished is omitted.

    Raise ForbiddenError if the caller does not see all queries.
    """
    permitted.check_sees_whole_streams("timeline", "use a token without id_prefix")
    return {"moment_s": MOMENT_S, "moments": [_moment(each) for each in stream.figures.moments()]}


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "at_s": moment.at_s,
        "batches": moment.batches,
        "records": moment.records,
        "accepted": moment.accepted,
        "written": moment.written,
        "dead_letters": moment.dead_letters,
        "latency_p50_s": moment.latency.quantile_s(0.5),
        "latency_p99_s": moment.latency.quantile_s(0.99),
    }


def delivered(permitted: ScopedService, query: RegisteredQuery) -> int:
    """Return the number of records that a query received since the daemon began."""
    stream = permitted.streams().get(query.stream)
    return 0 if stream is None else stream.figures.delivered.of(query.id)


def described_deliveries(permitted: ScopedService, query: RegisteredQuery) -> dict[str, Any]:
    """Return the number of records that a query received since the daemon began. Return also the number in each minute
    of the last hour.
    """
    stream = permitted.streams().get(query.stream)
    minutes = [] if stream is None else stream.figures.minutes_of(query.id)
    return {
        "delivered": delivered(permitted, query),
        "minutes": [{"at_s": at_s, "records": records} for at_s, records in minutes],
    }
