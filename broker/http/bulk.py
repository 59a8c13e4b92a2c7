"""Bulk load: one query a line, all of them or none, or as many as are valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from asc.errors import AscError
from broker.errors import BulkRefusedError, ForbiddenBulkError, ForbiddenError, QueryError
from broker.http.models import new_query, parse_line, plain_error, plain_offsets
from broker.http.permitted import Permitted
from broker.queries.change import Outcome, Put
from broker.runtime import collector

_LARGE_BYTES = 1 << 20
"""Of a load for which the cyclic collector is held off; to settle it afterwards takes some tenths of a second."""

_UNREAD_LINES_MAX = 10_000
"""Lines of a load that are no queries: what has more is no list of queries, and each is kept with what is wrong."""


def load_lines(permitted: Permitted, content: bytes, *, keep_going: bool, replaces: bool = True) -> dict[str, Any]:
    """Register the queries of NDJSON lines in one step; blank lines count but mean nothing. Without ``replaces`` a line
    is refused whose id a query has. QueryError where more than 10,000 lines are no queries.

    Raises BulkRefusedError when a line is refused (``keep_going``: when every line is), and registers nothing then;
    ForbiddenBulkError where a line is outside the caller's scope.
    """
    with collector.paused() if len(content) > _LARGE_BYTES else nullcontext():
        lines = _Lines(permitted, content, replaces=replaces)
        return lines.answer(permitted.apply(lines.puts, "register", keep_going=keep_going))


class _Lines:
    """The lines of a load as changes, each with its number and, where it could be read, its id."""

    def __init__(self, permitted: Permitted, content: bytes, *, replaces: bool) -> None:
        self.puts: list[Put | AscError] = []
        self._numbers: list[int] = []
        self._ids: list[str | None] = []
        first_lines: dict[str, int] = {}
        unread = 0
        for number, line in enumerate(_split(content), start=1):
            if not line.strip():
                continue
            self._numbers.append(number)
            self._ids.append(None)
            try:
                body = parse_line(line)
                self._ids[-1] = body.id
                earlier = first_lines.setdefault(body.id, number)
                if earlier != number:
                    raise QueryError("duplicate id", body.id[:250], f"line {earlier} has it already: keep one of them")
                self.puts.append(Put(new_query(body, permitted.stream_name(body.stream)), replaces))
            except AscError as error:
                unread += 1
                if unread > _UNREAD_LINES_MAX:
                    raise QueryError("bulk load", f"line {number}", f"is the {unread:,}th that is no query") from error
                self.puts.append(error)

    def answer(self, outcome: Outcome) -> dict[str, Any]:
        """What became of the lines; BulkRefusedError, QueryError."""
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
            raise kind("refused lines", f"{len(errors)} of {len(self.puts)}", remedy, errors)
        registered = outcome.registered.values()
        became = Counter(one.became for one in registered)
        return {
            "registered": became["registered"],
            "replaced": became["replaced"],
            "unchanged": became["unchanged"],
            "version": outcome.version,
            "effective_offsets": {name: plain_offsets(found) for name, found in outcome.effective_offsets.items()},
            "warnings": {one.query.id: list(one.warnings) for one in registered if one.warnings},
            "errors": errors,
        }


def _split(content: bytes) -> Iterator[bytes]:
    """The lines, one at a time: a list of them may be many times as large as what is split."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield content[start:end]
        start = end + 1
    yield content[start:]
