"""The registered predicates as a table."""

from __future__ import annotations

from collections.abc import Sequence

from cli.client import Json
from cli.operator_state import kept_columns
from cli.output import table_text

_ERRORS = "errors"
_WHERE_CHARS = 20
"""The number of characters of each predicate that should be visible. If fewer would be visible, the column of
evaluation errors is omitted.
"""


def list_text(queries: Sequence[Json], width: int | None, *, operators: bool = False, joins: bool = False) -> str:
    """Return the table of queries, cut to ``width``. It has a column of evaluation errors if there are errors and the
    width permits.
    """
    columns: dict[str, list[object]] = {
        "id": [query["id"] for query in queries],
        "stream": [query["stream"] for query in queries],
        "topic": [query["topic"] for query in queries],
        "state": [_state(query) for query in queries],
        "accepted": [query.get("delivered", 0) for query in queries],
        _ERRORS: [query.get("evaluation_errors", 0) for query in queries],
        "labels": [labels_text(query.get("labels") or {}) for query in queries],
    }
    if joins:
        columns["layer"] = [(query.get("join") or {}).get("layer", "") for query in queries]
        columns["shapes"] = [_shapes(query) for query in queries]
    if operators:
        columns |= kept_columns(queries)
        columns["operator"] = [(query.get("operator") or {}).get("summary") or "route" for query in queries]
    elif any(query.get("operator") for query in queries):
        columns["operator"] = [(query.get("operator") or {}).get("name", "route") for query in queries]
    if not any(columns[_ERRORS]) or (width is not None and _widest(columns) + 2 + _WHERE_CHARS > width):
        del columns[_ERRORS]
    columns["where"] = [query["where"] for query in queries]
    return table_text(list(columns), list(zip(*columns.values(), strict=True)), width)


def labels_text(labels: Json) -> str:
    """Return labels as one line of text."""
    return " ".join(f"{name}={value}" for name, value in sorted(labels.items()))


def _widest(columns: dict[str, list[object]]) -> int:
    """Return the length of the longest line of a table, including trailing blanks."""
    marked = {**columns, ".": ["."] * len(columns["id"])}
    return max(map(len, table_text(list(marked), list(zip(*marked.values(), strict=True))).splitlines())) - 3


def _shapes(query: Json) -> str:
    if query.get("shapes") is None:
        return ""
    return f"{query['shapes']:,}" + (f", {query['excluded_shapes']:,} excluded" if query["excluded_shapes"] else "")


def _state(registered: Json) -> str:
    if not registered.get("served", True):
        return "not served"
    if registered.get("pending_shapes") and not registered["paused"]:
        return "waits"
    return "paused" if registered["paused"] else "running"
