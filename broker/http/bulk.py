"""Bulk load: one query a line, all of them or none, or as many as are valid."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from asc.errors import AscError
from broker.http.models import new_query, parse_line, plain_error, plain_offsets
from broker.queries.planning import Candidate
from broker.queries.query import QueryError
from broker.queries.registration import StandingQueries


class BulkRefusedError(QueryError):
    """A bulk load of which nothing was registered; ``errors`` holds line, id and error of each refused line."""

    def __init__(self, subject: str, value: object, remedy: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(subject, value, remedy)
        self.errors = errors


def load_lines(standing: StandingQueries, content: bytes, *, keep_going: bool) -> dict[str, Any]:
    """Register the queries of NDJSON lines in one step; blank lines count but mean nothing.

    Raises BulkRefusedError when a line is refused (``keep_going``: when every line is), and registers nothing then.
    """
    judged, errors = _judged(standing, content)
    with standing.changing():
        refused = standing.refusals([candidate for _, candidate in judged])
        errors += [_refusal(judged[i][0], judged[i][1].query.id, error) for i, error in refused.items()]
        errors.sort(key=lambda error: error["line"])
        taken = [candidate for i, (_, candidate) in enumerate(judged) if i not in refused]
        if errors and not (keep_going and taken):
            first = errors[0]
            remedy = f"nothing was registered; line {first['line']}: {first['error']['message']}"
            raise BulkRefusedError("refused lines", f"{len(errors)} of {len(errors) + len(taken)}", remedy, errors)
        if not taken:
            raise QueryError("bulk load", "no lines", "send one query a line, as JSON")
        change = standing.register(taken)
    return {
        "registered": len(taken),
        "version": change.version,
        "effective_offsets": {stream: plain_offsets(offsets) for stream, offsets in change.offsets.items()},
        "warnings": {c.query.id: list(c.predicate.warnings) for c in taken if c.predicate.warnings},
        "errors": errors,
    }


def _judged(standing: StandingQueries, content: bytes) -> tuple[list[tuple[int, Candidate]], list[dict[str, Any]]]:
    now = datetime.now(timezone.utc)
    judged: list[tuple[int, Candidate]] = []
    errors: list[dict[str, Any]] = []
    first_lines: dict[str, int] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        query_id = None
        try:
            body = parse_line(line)
            query_id = body.id
            earlier = first_lines.setdefault(query_id, number)
            if earlier != number:
                raise QueryError("duplicate id", query_id[:250], f"line {earlier} has it already: keep one of them")
            judged.append((number, standing.judge(new_query(body, standing), now)))
        except AscError as error:
            errors.append(_refusal(number, query_id, error))
    return judged, errors


def _refusal(line: int, query_id: str | None, error: AscError) -> dict[str, Any]:
    return {"line": line, "id": query_id, "error": plain_error(error)}
