"""Entries of the audit log for changes of queries, each with the outcome of the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from asc.errors import AscError
from broker.errors import http_status
from broker.failure import one_line
from broker.queries.change import Change, Outcome, Remove

_ID_CHARS = 250


def audited(
    verb: str, changes: Sequence[Change | AscError], outcome: Outcome | Exception
) -> Iterator[Mapping[str, object]]:
    """Yield an audit entry for each change: the ``verb``, the id of the query, and the outcome. ``outcome``: the result
    of all changes, or the exception that ended the request.

    The outcome of an entry is ``registered``, ``replaced``, ``unchanged``, ``removed`` or ``refused``. It is ``not
    made`` if another change of the same request was refused, and ``failed`` if an exception ended the request.
    """
    for position, change in enumerate(changes):
        query_id = None if isinstance(change, AscError) else change.query_id[:_ID_CHARS]
        # A bulk load with the verb ``register`` may also contain removals.
        entry: dict[str, object] = {"verb": "remove" if isinstance(change, Remove) else verb, "id": query_id}
        if isinstance(outcome, Exception):
            is_refusal = isinstance(outcome, AscError) and http_status(outcome) < 500
            entry |= {"outcome": "refused" if is_refusal else "failed", "error": one_line(outcome)}
        elif position in outcome.refused:
            entry |= {"outcome": "refused", "error": one_line(outcome.refused[position])}
        elif position in outcome.registered:
            made = outcome.registered[position]
            query = made.query
            entry |= {"outcome": made.became, "stream": query.stream, "topic": query.topic, "version": query.version}
        elif position in outcome.removed:
            query = outcome.removed[position]
            entry |= {"outcome": "removed", "stream": query.stream, "topic": query.topic, "version": outcome.version}
        else:
            entry["outcome"] = "not made"
        yield entry
