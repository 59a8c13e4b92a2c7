"""The table of the registered predicates: evaluation errors where there are any, and where they have room."""

from __future__ import annotations

from typing import Any

import pytest

from cli.query.list_text import labels_text, list_text


def query(name: str, errors: int = 0, **more: Any) -> dict[str, Any]:
    common = {"stream": "s", "topic": f"asc.{name}", "paused": False, "delivered": 7, "where": "delay > 60 AND " * 9}
    return {"id": name, **common, "evaluation_errors": errors, **more}


def test_errors_have_a_column_where_there_are_any() -> None:
    quiet = list_text([query("late"), query("early")], None)
    assert quiet.splitlines()[0].split() == ["id", "stream", "topic", "state", "accepted", "labels", "where"]
    lines = list_text([query("late", 1_200), query("early", labels={"team": "ops"})], None).splitlines()
    assert lines[0].split() == ["id", "stream", "topic", "state", "accepted", "errors", "labels", "where"]
    assert [line.split()[4:7] for line in lines[1:]] == [["7", "1,200", "delay"], ["7", "0", "team=ops"]]


@pytest.mark.parametrize(("width", "shown"), [(78, False), (79, True), (200, True)])
def test_errors_leave_room_for_predicates(width: int, shown: bool) -> None:
    lines = list_text([query("late", 5)], width).splitlines()
    assert ("errors" in lines[0]) == shown
    assert "delay > 60 AND" in lines[1]
    assert max(map(len, lines)) <= width


def test_of_an_older_daemon_and_of_nothing() -> None:
    older = query("late")
    del older["evaluation_errors"], older["delivered"]
    assert list_text([older], 80).splitlines()[1].split()[:5] == ["late", "s", "asc.late", "running", "0"]
    assert list_text([], 80) == "id  stream  topic  state  accepted  labels  where"


def test_labels_are_in_order() -> None:
    assert labels_text({"team": "ops", "at": "night"}) == "at=night team=ops"
