"""Bulk loads: each line registers or removes one query. Either all lines are applied or none. With ``keep_going``, all
valid lines are applied, and only the invalid lines are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from asc.errors import AscError
from broker.errors import BulkRefusedError, ForbiddenBulkError, ForbiddenError, QueryError
from broker.http.models import QueryBody, new_query, plain_error, plain_line, plain_offsets, valid_body
from broker.http.scoped_service import ScopedService
from broker.queries.change import Change, Outcome, Put, Remove
from broker.runtime import collector

_LARGE_BYTES = 1 << 20
"""The size in bytes above which a load pauses the cyclic garbage collector. Smaller loads do not pause the collector,
because the pause itself costs some tenths of a second.
"""

_UNREAD_LINES_MAX = 10_000
"""The largest number of lines of one load that cannot be parsed as a query or a removal. A load with more of them is
refused, because it is probably no list of queries, and because each such line occupies memory for its error.
"""


def load_lines(
    permitted: ScopedService, content: bytes, *, keep_going: bool, replaces: bool = True, is_rehearsal: bool = False
) -> dict[str, Any]:
    """Register the queries in NDJSON lines, and remove the queries that lines ``{"remove": ID}`` name, all in one step.

    Blank lines are numbered but ignored. Without ``replaces``, a line is refused if its id is already registered. With
    ``is_rehearsal``, nothing is changed; the answer is the same as if the load were applied. Raise QueryError if more
    than 10,000 lines are not queries.

    Raise BulkRefusedError if a line is refused, or with ``keep_going`` if every line is refused. In this case, nothing
    is registered. Raise ForbiddenBulkError instead if a refused line is outside the caller's scope.
    """
    with collector.paused() if len(content) > _LARGE_BYTES else nullcontext():
        lines = _Lines(permitted, content, replaces=replaces)
        if is_rehearsal:
            return lines.answer(permitted.rehearsed(lines.changes, keep_going=keep_going))
        return lines.answer(permitted.apply(lines.changes, "register", keep_going=keep_going))


class _Lines:
    """The lines of a load as changes: each is a registration, a removal, or the error of an invalid line. Each has its
    line number, and its id if the line could be parsed.
    """

    def __init__(self, permitted: ScopedService, content: bytes, *, replaces: bool) -> None:
        self.changes: list[Change | AscError] = []
        self._numbers: list[int] = []
        self._ids: list[str | None] = []
        first_lines: dict[str, int] = {}
        unread = 0
        for number, line in enumerate(lines_of(content), start=1):
            permitted.cancellation.check()
            if not line.strip():
                continue
            self._numbers.append(number)
            self._ids.append(None)
            try:
                plain = plain_line(line)
                removed = removed_id(plain)
                body = None if removed is not None else valid_body(QueryBody, plain)
                query_id = self._ids[-1] = removed if body is None else body.id
                assert query_id is not None
                earlier = first_lines.setdefault(query_id, number)
                if earlier != number:
                    raise QueryError("duplicate id", query_id[:250], f"line {earlier} has it already: keep one of them")
                if body is None:
                    self.changes.append(Remove(query_id))
                else:
                    self.changes.append(Put(new_query(body, permitted.stream_name(body.stream)), replaces))
            except AscError as error:
                unread += 1
                if unread > _UNREAD_LINES_MAX:
                    raise QueryError("bulk load", f"line {number}", f"is the {unread:,}th that is no query") from error
                self.changes.append(error)

    def answer(self, outcome: Outcome) -> dict[str, Any]:
        """Return the API's answer to the load, from the outcome of its changes. Raise BulkRefusedError if nothing was
        applied because of refused lines. Raise QueryError if there are no lines.
        """
        errors: list[dict[str, Any]] = [
            {"line": self._numbers[position], "id": self._ids[position], "error": plain_error(error)}
            for position, error in sorted(outcome.refused.items())
        ]
        if outcome.version is None:
            if not errors:
                raise QueryError("bulk load", "no lines", "send one query a line, as JSON")
            first = errors[0]
            remedy = f"nothing was registered; line {first['line']}: {first['error']['message']}"
            is_forbidden = any(isinstance(error, ForbiddenError) for error in outcome.refused.values())
            kind = ForbiddenBulkError if is_forbidden else BulkRefusedError
            raise kind("refused lines", f"{len(errors)} of {len(self.changes)}", remedy, errors)
        return applied(outcome, errors)


def applied(outcome: Outcome, errors: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Return the API's answer to changes of which at least one was applied. ``errors``: the refused lines of a bulk
    load, each with its error.
    """
    registered = outcome.registered.values()
    became = Counter(one.became for one in registered)
    return {
        "registered": became["registered"],
        "replaced": became["replaced"],
        "unchanged": became["unchanged"],
        "removed": len(outcome.removed),
        "version": outcome.version,
        "effective_offsets": {name: plain_offsets(found) for name, found in outcome.effective_offsets.items()},
        "warnings": {one.query.id: list(one.warnings) for one in registered if one.warnings},
        "errors": list(errors),
    }


def removed_id(plain: object) -> str | None:
    """Return the id of the query that a line removes. Return None if the line registers a query.

    >>> removed_id({"remove": "late"}), removed_id({"id": "late", "where": "delay > 60"})
    ('late', None)
    """
    if not isinstance(plain, dict) or plain.keys() != {"remove"}:
        return None
    query_id = plain["remove"]
    if not isinstance(query_id, str):
        raise QueryError("field remove", str(query_id)[:200], "name the id of one query, as a text")
    return query_id.encode("utf-8", "replace").decode()


def lines_of(content: bytes) -> Iterator[bytes]:
    """Yield the lines of a load one at a time. A list of all lines could take many times the memory of ``content``."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield content[start:end]
        start = end + 1
    yield content[start:]
