"""What files would change: field by field, with what is excluded of a file filled in as the daemon does."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest

from cli.query.desired_queries import Selector, desired_queries
from cli.query.difference import Difference, Differences, difference_lines, differences

EVENTS = {
    **{"name": "events", "events": ["enter", "exit", "lost"], "key": "k", "time": "_timestamp"},
    **{"dwell_s": 3, "lost_after_s": 3600},
}


def standing(query_id: str, **fields: Any) -> dict[str, Any]:
    """A query as the daemon shows it."""
    plain = {"id": query_id, "stream": "s", "where": "n > 1", "topic": f"asc.{query_id}", "labels": {}}
    own = {"paused": False, "expires_at": None, "version": 3, "served": True, "reason": None, "evaluation_errors": 0}
    return {**plain, **own, **fields}


def found_of(
    bodies: list[dict[str, Any]], registered: list[dict[str, Any]], pruned: Selector | None = None
) -> Differences:
    text = "\n".join(json.dumps(body) for body in bodies)
    return differences(desired_queries([("q.ndjson", text.encode())]), iter(registered), "s", pruned)


@pytest.mark.parametrize(
    ("body", "registered"),
    [
        ({}, {}),
        ({"stream": "s", "topic": "asc.late", "labels": {}, "paused": False, "expires_at": None}, {}),
        ({"version": 9, "served": False, "reason": "x", "evaluation_errors": 4}, {}),
        ({"expires_at": "2030-01-31 13:00:00+01:00"}, {"expires_at": "2030-01-31T12:00:00Z"}),
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": "2", "a": "1"}}),
        ({"operator": {"name": "events", "key": "k", "dwell_s": 3.0}}, {"operator": EVENTS}),
        ({"operator": None}, {}),
    ],
    ids=["short", "whole", "answered", "time", "labels", "events", "route"],
)
def test_what_stands_just_so_is_unchanged(body: dict[str, Any], registered: dict[str, Any]) -> None:
    found = found_of([{"id": "late", "where": "n > 1", **body}], [standing("late", **registered)])
    assert (list(found), found.unchanged) == ([], 1)


@pytest.mark.parametrize(
    ("body", "registered", "field"),
    [
        ({"where": "n > 2"}, {}, {"where": ("n > 1", "n > 2")}),
        ({}, {"topic": "t"}, {"topic": ("t", "asc.late")}),
        ({}, {"paused": True}, {"paused": (True, False)}),
        ({}, {"stream": "other"}, {"stream": ("other", "s")}),
        ({}, {"labels": {"a": "1"}}, {"labels": ({"a": "1"}, {})}),
        ({}, {"expires_at": "2030-01-31T12:00:00Z"}, {"expires_at": ("2030-01-31T12:00:00Z", None)}),
        ({}, {"operator": EVENTS}, {"operator": (EVENTS, None)}),
    ],
    ids=["where", "topic", "paused", "stream", "labels", "time", "operator"],
)
def test_each_field_that_differs_is_told_old_and_new(
    body: dict[str, Any], registered: dict[str, Any], field: dict[str, Any]
) -> None:
    found = found_of([{"id": "late", "where": "n > 1", **body}], [standing("late", **registered)])
    assert list(found) == [Difference("change", "late", field, "q.ndjson line 1")]


def test_one_that_is_not_served_is_registered_anew() -> None:
    registered = standing("late", served=False, reason="it was parked")
    (one,) = found_of([{"id": "late", "where": "n > 1"}], [registered])
    assert (one.kind, one.fields, one.reason) == ("change", {}, "is not served, and registered anew: it was parked")


def test_only_what_is_pruned_is_removed_and_nothing_that_cannot_be_read() -> None:
    bodies = [{"id": "ops-2", "where": "n > 1"}, {"id": "ops-1", "where": "n > 1"}]
    unreadable = standing("ops-8", stream="", topic="", served=False, reason="of form 9")
    registered = [standing("air-1"), standing("ops-1"), unreadable, standing("ops-9")]
    found = found_of(bodies, registered, Selector("ops-"))
    assert [(one.kind, one.query_id) for one in found] == [("add", "ops-2"), ("remove", "ops-9")]
    assert (found.unchanged, found.kept) == (1, ["ops-8"])
    assert found.summary() == "1 to add, 0 to change, 1 to remove, 1 unchanged"
    assert [one.kind for one in found_of(bodies, registered)] == ["add"]


@pytest.mark.parametrize(
    ("one", "lines"),
    [
        (
            Difference("add", "late", {"where": (None, "n > 1\n\x1b[31m")}, "q.toml query 1"),
            ["+ late  (q.toml query 1)", '    where: "n > 1\\n\\u001b[31m"'],
        ),
        (Difference("remove", "late", {"labels": ({"team": "ops"}, None)}), ["- late", '    labels: {"team": "ops"}']),
        (
            Difference("change", "late", {"where": ("n > 1", "n > 2"), "topic": ("t" * 50, "u" * 50)}, "q"),
            [
                "~ late  (q)",
                '    where: "n > 1" -> "n > 2"',
                "    topic:",
                f'      - "{"t" * 50}"',
                f'      + "{"u" * 50}"',
            ],
        ),
        (Difference("change", "late", {}, "q", "is not served"), ["~ late  (q)", "    is not served"]),
    ],
    ids=["add", "remove", "change", "anew"],
)
def test_a_difference_is_told_in_lines(one: Difference, lines: list[str]) -> None:
    assert [click.unstyle(line) for line in difference_lines(one)] == lines


def test_a_difference_is_coloured_by_its_kind() -> None:
    kinds = (Difference(kind, "x", {}) for kind in ("add", "change", "remove"))
    assert [next(difference_lines(one)).split("m")[0] for one in kinds] == ["\x1b[32", "\x1b[33", "\x1b[31"]
