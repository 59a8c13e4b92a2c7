"""Registrations of queries. A query that was removed or paused, and came again under the same id, is another query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from asc.operators.feed import QuerySettings, Settings, whole_between

UNKNOWN = -1
"""The ``since`` of a query in settings of an earlier version, which does not distinguish registrations."""

_SINCE = "since"


def since_of(definition: Mapping[str, Any]) -> int:
    """Return the ``since`` in the definition of a query: a number that another registration of the same id does not
    have. Return UNKNOWN if the definition has no ``since``. Raise ValueError if ``since`` is no integer from UNKNOWN
    on.

    >>> since_of({"eps": 0.1, "since": 7}), since_of({"eps": 0.1})
    (7, -1)
    """
    return whole_between(definition.get(_SINCE, UNKNOWN), UNKNOWN)


def with_since(definition: Mapping[str, Any], since: int) -> dict[str, Any]:
    """Return a copy of a definition with the field ``since``. The copy has no new field if ``since`` is UNKNOWN."""
    return dict(definition) if since < 0 else {**definition, _SINCE: since}


def in_turn(before: Settings, after: Settings) -> Iterator[Settings]:
    """Yield the settings that a part applies one after the other, to replace the settings ``before`` by ``after``.

    If a query has another registration than the query with its id in ``before``, first yield the settings without the
    queries of new registrations. So the part forgets the states of former registrations before it applies ``after``.
    """
    known = {query.id: since_of(query.definition) for query in before.queries}
    continued: list[QuerySettings] = []
    is_another = False
    for query in after.queries:
        if query.id not in known:
            continue
        if _is_same(known[query.id], since_of(query.definition)):
            continued.append(query)
        else:
            is_another = True
    if is_another:
        yield replace(after, queries=tuple(continued))
    yield after


def _is_same(since: int, other: int) -> bool:
    return since == other or UNKNOWN in (since, other)
