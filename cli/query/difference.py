"""Differences between the queries in files and the registered queries, by query and by field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from asc.errors import AscError
from broker.errors import QueryError
from broker.visible_text import visible
from cli.query.desired_queries import DesiredQueries, Selector

Json = Mapping[str, Any]

FIELDS = ("stream", "where", "topic", "labels", "paused", "expires_at", "join", "operator")

_LINE_CHARS = 80
"""The most characters that an old and a new value may have together to be printed on one line."""

_MARKS = {"add": ("+", "green"), "change": ("~", "yellow"), "remove": ("-", "red")}


@dataclass(frozen=True, slots=True)
class Difference:
    """A query to add, change or remove: the fields that differ, each with its old and new value.

    ``place``: the query's location in the files, or empty if the query is to be removed. ``fields``: by name, the old
    and the new value. ``reason``: why a query is registered again although no field differs.
    """

    kind: Literal["add", "change", "remove"]
    query_id: str
    fields: Mapping[str, tuple[Any, Any]]
    place: str = ""
    reason: str = ""

    def plain(self) -> Json:
        """Return the difference as a JSON object."""
        fields = {name: {"old": old, "new": new} for name, (old, new) in self.fields.items()}
        return {"id": self.query_id, "place": self.place, "fields": fields, "reason": self.reason or None}


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences, the number of unchanged queries, and the queries that are not removed because their records are
    unreadable.

    Cost: an added query takes only its id, because a first load may add a million queries.
    """

    wanted: DesiredQueries
    only_stream: str | None
    added: list[str]
    others: dict[str, Difference]
    unchanged: int
    kept: list[str]

    def __len__(self) -> int:
        return len(self.added) + len(self.others)

    def __iter__(self) -> Iterator[Difference]:
        for query_id in sorted([*self.added, *self.others]):
            yield self.others.get(query_id) or self._addition(query_id)

    def of(self, kind: str) -> list[Difference]:
        """Return the differences of one kind, ordered by id."""
        return [one for one in self if one.kind == kind]

    def removed(self) -> list[str]:
        """Return the ids of the queries that would be removed."""
        return [query_id for query_id, one in self.others.items() if one.kind == "remove"]

    def summary(self) -> str:
        """Return the number of differences of each kind, in words."""
        removed = len(self.removed())
        changed = len(self.others) - removed
        return f"{len(self.added):,} to add, {changed:,} to change, {removed:,} to remove, {self.unchanged:,} unchanged"

    def _addition(self, query_id: str) -> Difference:
        fields = _compared_fields(settled(self.wanted.body(query_id), self.only_stream), is_old=False)
        return Difference("add", query_id, fields, self.wanted.place(query_id))


def differences(
    wanted: DesiredQueries, standing: Iterable[Json], only_stream: str | None, pruned: Selector | None
) -> Differences:
    """Return the changes that make the registered queries ``standing`` equal to the queries of files. If ``pruned`` is
    not None, remove the queries that it selects and that are in no file. ``standing`` is read once and not stored.
    """
    others: dict[str, Difference] = {}
    kept: list[str] = []
    unseen = dict.fromkeys(wanted.line_of)
    unchanged = 0
    for query in standing:
        query_id = query["id"]
        if query_id not in wanted.line_of:
            if pruned is not None and pruned.takes(query):
                if is_unreadable(query):
                    kept.append(query_id)
                else:
                    others[query_id] = Difference("remove", query_id, _compared_fields(query, is_old=True))
            continue
        unseen.pop(query_id, None)
        old = {**query, "operator": _operator(query.get("operator"))}
        new = _completed(settled(wanted.body(query_id), only_stream), old)
        fields = {name: (old.get(name), new[name]) for name in FIELDS if old.get(name) != new[name]}
        reason = "" if fields or query.get("served", True) else f"is not served, and registered anew: {query['reason']}"
        if fields or reason:
            others[query_id] = Difference("change", query_id, fields, wanted.place(query_id), reason)
        else:
            unchanged += 1
    return Differences(wanted, only_stream, list(unseen), others, unchanged, kept)


def is_unreadable(query: Json) -> bool:
    """Return whether the daemon cannot decode the record of a query in the registry."""
    return not query.get("stream") and not query.get("served", True)


def settled(body: Json, only_stream: str | None) -> Json:
    """Return the fields of a query as the daemon will show them. Fields that a file omits get their defaults.

    >>> settled({"id": "late", "where": "delay > 60", "expires_at": "2030-01-31 13:00:00+01:00"}, "flights")["topic"]
    'asc.late'
    """
    from broker.queries.query import default_topic

    return {
        "stream": body.get("stream") or only_stream,
        "where": body.get("where"),
        "topic": body.get("topic") or default_topic(str(body.get("id"))),
        "labels": body.get("labels") or {},
        "paused": body.get("paused") or False,
        "expires_at": _time(body.get("expires_at")),
        "join": {"per_shape": False, **body["join"]} if isinstance(body.get("join"), dict) else body.get("join"),
        "operator": _operator(body.get("operator")),
    }


def difference_lines(difference: Difference) -> Iterator[str]:
    """Yield the lines of a difference for people, coloured."""
    mark, colour = _MARKS[difference.kind]
    place = f"  ({difference.place})" if difference.place else ""
    yield click.style(f"{mark} {visible(difference.query_id)}", fg=colour, bold=True) + visible(place)
    if difference.reason:
        yield f"    {visible(difference.reason)}"
    for name, (old, new) in difference.fields.items():
        if difference.kind != "change":
            yield f"    {name}: {_shown(old if difference.kind == 'remove' else new)}"
        elif len(_shown(old)) + len(_shown(new)) <= _LINE_CHARS:
            yield f"    {name}: {_shown(old)} -> {_shown(new)}"
        else:
            yield f"    {name}:"
            yield click.style(f"      - {_shown(old)}", fg="red")
            yield click.style(f"      + {_shown(new)}", fg="green")


def _compared_fields(query: Json, *, is_old: bool) -> dict[str, tuple[Any, Any]]:
    """Return the non-empty fields of an added or removed query, each with its old and its new value. One of the two
    values is None.
    """
    settable_query = {**query, "operator": _operator(query.get("operator"))}
    fields = {name: settable_query.get(name) for name in FIELDS if settable_query.get(name)}
    return {name: (value, None) if is_old else (None, value) for name, value in fields.items()}


def _operator(value: Any) -> Any:
    from broker.operators.kinds import definition_of, settable

    if not isinstance(value, dict):
        return value
    try:
        definition = definition_of(settable(value))
    except AscError:
        # The daemon refuses it.
        return value
    return None if definition is None else definition.plain()


def _completed(new: Json, old: Json) -> Json:
    """Return the fields of a query with the parameters that the registered query keeps, such as the edges of bins."""
    from broker.operators.kinds import definition_of, fold_kinds

    was, wanted = old["operator"], new["operator"]
    if not (isinstance(was, dict) and isinstance(wanted, dict) and was.get("name") == wanted.get("name")):
        return new
    kind = fold_kinds().get(str(wanted.get("name")))
    if kind is None or any(old.get(name) != new[name] for name in ("stream", "where")):
        return new
    try:
        definition = kind.completed(definition_of(wanted), definition_of(was), _no_sample)
    except AscError:
        # The daemon refuses it, or decides by a sample.
        return new
    return {**new, "operator": definition.plain()}


def _no_sample(_texts: Sequence[str]) -> Mapping[str, Any]:
    raise QueryError("sample", None, "is decided by the daemon: apply the queries")


def _time(value: Any) -> Any:
    from broker.queries.query import parse_time

    if not isinstance(value, str):
        return value
    try:
        return parse_time(value).isoformat().replace("+00:00", "Z")
    except AscError:
        # The daemon refuses it.
        return value


def _shown(value: object) -> str:
    return visible(json.dumps(value, ensure_ascii=False))
