"""The trial of a predicate on a stream's last records, without registration."""

from __future__ import annotations

from typing import Any

from broker.errors import QueryError
from broker.http.record_json import shown_record
from broker.http.scoped_service import ScopedService
from broker.http.views import judged
from broker.stream.recent_records import RECORDS_MAX
from broker.stream.stream import Stream

SHOWN_MAX = 100


def tried(
    permitted: ScopedService, stream: Stream, where: str, last: int, show: int, *, as_typed: bool = False
) -> dict[str, Any]:
    """Return the number of the last records that a predicate would have accepted, and the latest accepted records.

    Nothing is registered. ``last``: the number of records to evaluate. ``show``: the most accepted records to return.
    ``as_typed``: whether a user is still typing the predicate; this trial then replaces a queued trial of the same
    caller. Raise AscError if a registration would refuse the predicate. Raise ForbiddenError if the caller may not
    register queries, or requests records without the permission to name all columns.
    """
    if not 1 <= last <= RECORDS_MAX:
        raise QueryError("last", last, f"use 1 to {RECORDS_MAX}")
    if not 0 <= show <= SHOWN_MAX:
        raise QueryError("show", show, f"use 0 to {SHOWN_MAX}")
    permitted.check_runs_predicates()
    if show:
        permitted.check_sees_records("records of the stream", "use show 0")
    predicate = judged(permitted, stream, where)
    caller = permitted.who if as_typed else None
    found = stream.recent.accepted(predicate, last, show, caller=caller, cancellation=permitted.cancellation)
    return {
        "records": found.records,
        "dead_letters": found.records - found.decoded,
        "accepted": found.accepted,
        "shown": [shown_record(record) for record in found.shown],
    }
