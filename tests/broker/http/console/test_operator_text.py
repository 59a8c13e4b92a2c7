"""The pages of queries with an operator show its definition, and the list and the page its state."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from broker.http.console.operator_text import definition_rows
from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Resting

POSITION = "ST_Point(d, d / 2)"
NEAR = {"name": "near", "key": "s", "time": "t", "position": POSITION, "distance_m": 9260.5, "window_s": 30}
NEAR = {**NEAR, "every_s": 10, "on": "abs(a.n - b.n) < 7", "events": ["near", "apart"]}
EVENTS = {"name": "events", "key": "concat(s, 'x')", "time": "t", "events": ["enter", "lost"], "dwell_s": 45}


def test_a_list_of_objects_is_shown_as_json() -> None:
    assert definition_rows({"name": "cube", "by": [{"sql": "n"}], "top": 3}) == [("by", '[{"sql": "n"}]'), ("top", "3")]


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.parametrize(
    "case",
    [
        (
            NEAR,
            {"observations": 1200},
            {"key": "s", "time": "t", "position": POSITION, "distance_m": "9260.5", "window_s": "30"}
            | {"every_s": "10", "on": "abs(a.n - b.n) < 7", "events": "near, apart"},
            "observations 1,200",
        ),
        (
            EVENTS,
            {"objects_inside": 12},
            {"key": "concat(s, 'x')", "time": "t", "events": "enter, lost", "dwell_s": "45", "lost_after_s": "3600"},
            "objects inside 12",
        ),
    ],
    ids=["near", "events"],
)
def test_the_page_shows_the_whole_definition_and_page_and_list_the_state(
    browse: Callable[[str], TestClient],
    registered: Callable[..., None],
    resting: Resting,
    case: tuple[dict[str, object], dict[str, object], dict[str, str], str],
) -> None:
    operator, kept, definition, state = case
    registered({"con-seen": "n > 0"}, operator=operator)
    client, name = browse("all"), str(operator["name"])
    figures = resting.streams()[resting.stream("json")].feed_queries[name]._latest

    def listed() -> str:
        rows = client.get("/console/queries", params={"prefix": "con-seen"}).text
        (cell,) = re.findall(r'<td data-label="operator"[^>]*>([^<]*)</td>', rows)
        return str(cell)

    def shown() -> dict[str, str]:
        page = client.get("/console/queries/con-seen").text
        pairs = re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", page, re.DOTALL)
        return {page_text(term).strip(): page_text(text).strip() for term, text in pairs}

    assert (listed(), "state of its operator" in shown()) == (name, False)
    assert {field: shown()[field] for field in definition} == definition
    figures.keep({3: {"con-seen": kept}})
    try:
        assert listed() == f"{name}: {state}"
        assert shown()["state of its operator"] == state
    finally:
        figures.keep({3: {}})
