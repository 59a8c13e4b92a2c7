"""The last records that a query accepted, read from its destination topic."""

from __future__ import annotations

from typing import Any

from broker.http.record_json import shown_record
from broker.http.scoped_service import ScopedService
from broker.kafka.last_records import last_records
from broker.operators.headers import last_hop, source_timestamp_ms
from broker.queries.query import RegisteredQuery

_LOOKED_AT = 1_000
"""The number of records at the end of the destination topic that are searched. It exceeds the number of records that a
page shows, because other queries may deliver to the same topic.
"""

_BYTES_MAX = 8 << 20
_WITHIN_S = 5.0


def last_matches(permitted: ScopedService, query: RegisteredQuery, show: int) -> list[dict[str, Any]]:
    """Return the latest records that a query accepted, from its destination topic.

    ``show``: the most records to return. Only the last thousand records of the topic are searched. Raise ForbiddenError
    if the caller may not name all columns. Raise KafkaError if the topic cannot be read.
    """
    permitted.check_sees_records("records of query", "ask one who may")
    stream = permitted.streams().get(query.stream)
    if stream is None:
        return []
    records = last_records(stream.kafka, query.topic, _LOOKED_AT, most_bytes=_BYTES_MAX, within_s=_WITHIN_S)
    matches = []
    for record in sorted(records, key=lambda each: (each.timestamp, each.partition, each.offset), reverse=True):
        hop = last_hop(record.headers or ())
        if query.id in hop.queries:
            came_ms = source_timestamp_ms(record.headers or ())
            if came_ms is None:  # an event's: the time of its output
                came_ms = record.timestamp
            matches.append({**shown_record(record), "source": hop.source, "source_timestamp_ms": came_ms})
            if len(matches) == show:
                break
    return matches
