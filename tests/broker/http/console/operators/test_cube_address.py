"""Addresses of views: each field is there and back, and what makes no sense is settled."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from broker.http.console.operators.cube_address import View

DEFINITION = CubeDefinition.parse(
    {"dimensions": [["a", "b"], ["c"]], "measures": ["count(*) AS n"], "time": "t", "grain_s": 60}
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def parsed(address: str) -> View:
    fields = parse_qs(urlsplit(address).query, keep_blank_values=True)
    several = ("by", "where")
    return View.model_validate({name: own if name in several else own[-1] for name, own in fields.items()})


@given(
    st.lists(TEXT, min_size=1),
    st.lists(TEXT),
    st.tuples(st.booleans(), st.booleans()),
    st.lists(TEXT, min_size=6, max_size=6),
    st.integers(0, 99),
)
def test_an_address_is_the_view(
    by: list[str], where: list[str], flags: tuple[bool, bool], texts: list[str], columns: int
) -> None:
    across, begin, end, hours, measure, order = texts
    rest = {"across": across, "begin": begin, "end": end, "hours": hours, "measure": measure, "order": order}
    view = View(by=by, where=where[:32], live=flags[0], late=flags[1], columns=columns, cursor="7-50", **rest)
    assert parsed(view.address("x/y ?", columns=columns)) == view
    assert view.address("x/y ?").startswith("/console/cubes/x%2Fy%20%3F?by=")


def test_another_view_begins_with_its_first_page() -> None:
    view = View(by=["a"], cursor="7-50", columns=12)
    assert (parsed(view.address("q", live=True)).cursor, parsed(view.address("q", live=True)).columns) == ("", 0)
    assert parsed(view.address("q", cursor="8-100")).columns == 12
    assert parsed(view.address("q", columns=24)).cursor == "7-50"


def test_defaults_are_the_first_level_and_nothing_is_said_by_an_empty_text() -> None:
    assert View().settled(DEFINITION).by == ["a"]
    assert View(by=["", "c"]).settled(DEFINITION).by == ["c"]
    assert View(by=[""]).settled(DEFINITION).by == []
    assert View(by=[""]).settled(DEFINITION).address("q") == "/console/cubes/q?by="
    assert View(by=["a", "b", "c"], across="a").settled(DEFINITION).by == ["c"]
    assert View(by=["a"], across="x").settled(DEFINITION).by == ["a"]
    assert View(where=["c = 1", " ", "c = 1"]).settled(DEFINITION).where == ["c = 1"]


@pytest.mark.parametrize(
    ("kept", "by"), [((2, 1), ["a"]), ((1, 1), ["a"]), ((0, 1), ["c"]), ((1, 0), ["a"]), ((0, 0), [])]
)
def test_the_default_is_a_level_that_older_panes_have_too(kept: tuple[int, int], by: list[str]) -> None:
    assert View().settled(DEFINITION, kept).by == by
    assert View(by=["b"]).settled(DEFINITION, kept).by == ["b"]
    assert View(by=[""]).settled(DEFINITION, kept).by == []


def test_slices_all_hold_whatever_is_in_them() -> None:
    wanted = View(by=["a"], where=["c = 1 OR c = 2", "a IS NULL"]).wanted()
    assert wanted.body["where"] == "(c = 1 OR c = 2) AND (a IS NULL)"
    assert "where" not in View(by=["a"]).wanted().body


def test_hours_are_asked_for_where_they_are_given() -> None:
    assert View(by=["a"], hours="14-16").wanted().body["hours"] == "14-16"
    assert "hours" not in View(by=["a"]).wanted().body


def test_open_panes_and_late_records_are_asked_for_by_name() -> None:
    assert {"live", "late"}.isdisjoint(View(by=["a"]).wanted().body)
    body = View(by=["a"], live=True, late=True).wanted().body
    assert (body["live"], body["late"]) == (True, True)


@pytest.mark.parametrize("cursor", ["7", "-7", "7-", "a-b", "7-1e3", "9" * 16 + "-1"])
def test_a_cursor_is_two_numbers(cursor: str) -> None:
    with pytest.raises(CubeError, match="is no cursor: follow the links of a page"):
        View(cursor=cursor).wanted()
    assert View(cursor="7-50").seen == (7, 50)
