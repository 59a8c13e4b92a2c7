"""Bulk load: one query a line, all of them or none, or as many as are valid."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import Any

from asc.errors import AscError
from broker.errors import BulkRefusedError, QueryError
from broker.http.models import new_query, parse_line, plain_error, plain_offsets
from broker.queries.change import Outcome, Put
from broker.queries.registrar import Registrar
from broker.runtime import collector

_LARGE_BYTES = 1 << 20
"""Of a load for which the cyclic collector is held off; to settle it afterwards takes some tenths of a second."""


def load_lines(registrar: Registrar, content: bytes, *, keep_going: bool, replaces: bool = True) -> dict[str, Any]:
    """Register the queries of NDJSON lines in one step; blank lines count but mean nothing. Without ``replaces`` a line
    is refused whose id a query has.

    Raises BulkRefusedError when a line is refused (``keep_going``: when every line is), and registers nothing then.
    """
    with collector.paused() if len(content) > _LARGE_BYTES else nullcontext():
        lines = _Lines(registrar, content, replaces=replaces)
        return lines.answer(registrar.apply(lines.puts, keep_going=keep_going))


class _Lines:
    """The lines of a load as changes, each with its number and, where it could be read, its id."""

    def __init__(self, registrar: Registrar, content: bytes, *, replaces: bool) -> None:
        self.puts: list[Put | AscError] = []
        self._numbers: list[int] = []
        self._ids: list[str | None] = []
        first_lines: dict[str, int] = {}
        for number, line in enumerate(content.split(b"\n"), start=1):
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
                self.puts.append(Put(new_query(body, registrar.stream_of(body.stream).name), replaces))
            except AscError as error:
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
            raise BulkRefusedError("refused lines", f"{len(errors)} of {len(self.puts)}", remedy, errors)
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
