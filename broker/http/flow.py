"""What the API shows of what flows: rates, lag and latency of streams, and what each query was given."""

from __future__ import annotations

from typing import Any

from asc.operators.times import FIRST_US, time_text
from broker.http.permitted import Permitted
from broker.queries.query import RegisteredQuery
from broker.stream.stream import Stream
from broker.stream.timeline import MOMENT_S, Moment

_MOST_TOLD = 5

_OF_OTHERS = ("accepted_per_s", "written_per_s")
"""Rates that tell of what queries accept, which are not all seen."""


def described_flow(stream: Stream, *, whole: bool) -> dict[str, Any]:
    """Rates a second and latencies of the last minute, and the records that are not done; without those that tell of
    queries where not the ``whole`` stream is seen.
    """
    rates = stream.figures.rates()
    told = rates if whole else {name: rate for name, rate in rates.items() if name not in _OF_OTHERS}
    return {"lag_records": stream.figures.lag.records(), **told}


def described_operators(stream: Stream) -> dict[str, Any]:
    """Return what the operators of a stream hold, put out and exclude, by kind; times are ISO 8601."""
    return {
        op: {
            "queries": status.queries,
            "held": status.held,
            "observations": status.observations,
            "outputs": status.outputs,
            "excluded": status.excluded,
            "watermarks": {time: time_text(max(us, FIRST_US)) for time, us in status.watermarks_us.items()},
            "lag_records": status.lag_records,
            "failures": status.failures,
            "problem": status.problem,
        }
        for op, status in stream.operators().items()
    }


def described_delivered(stream: Stream) -> dict[str, Any]:
    """How many records the queries of a stream were given since the daemon began, and which were given most."""
    counts = stream.figures.delivered
    most = [{"query": query_id, "records": records} for query_id, records in counts.most(_MOST_TOLD)]
    return {"total": counts.total, "most": most}


def described_timeline(permitted: Permitted, stream: Stream) -> dict[str, Any]:
    """The moments of the last hour in which batches were done. ForbiddenError where not all queries are seen."""
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


def delivered(permitted: Permitted, query: RegisteredQuery) -> int:
    """The records that a query was given since the daemon began."""
    stream = permitted.streams().get(query.stream)
    return 0 if stream is None else stream.figures.delivered.of(query.id)


def described_deliveries(permitted: Permitted, query: RegisteredQuery) -> dict[str, Any]:
    """How many records a query was given since the daemon began, and in which minutes of the last hour."""
    stream = permitted.streams().get(query.stream)
    minutes = [] if stream is None else stream.figures.minutes_of(query.id)
    return {
        "delivered": delivered(permitted, query),
        "minutes": [{"at_s": at_s, "records": records} for at_s, records in minutes],
    }
