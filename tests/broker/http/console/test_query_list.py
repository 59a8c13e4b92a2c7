"""The list of queries in a browser: its columns, its orders, its pages."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Browse = Callable[[str], TestClient]


def ids(page: str) -> list[str]:
    return re.findall(r'<th scope="row"[^>]*><a href="[^"]*">([^<]*)</a>', page)


def test_a_row_has_topic_operator_and_labels(browse: Browse, registered: Callable[..., None]) -> None:
    registered({"con-late": "n > 5"}, topic="con-out", labels={"team": "<ops>", "tier": "1"})
    page = browse("all").get("/console/queries", params={"prefix": "con-late"}).text
    for name, text in (("topic", "con-out"), ("labels", "team=&lt;ops&gt;, tier=1")):
        assert f'<td data-label="{name}" class="cut" title="{text}">{text}</td>' in page
    assert '<td data-label="operator">route</td>' in page


def test_a_list_without_a_query_leads_on(browse: Browse, registered: Callable[..., None]) -> None:
    registered({"con-late": "n > 5"})
    page = browse("all").get("/console/queries", params={"prefix": "con-none"}).text
    assert 'No query is like that. <a href="/console/queries">Show all</a>' in page
    # One who sees no query at all.
    own = browse("ops").get("/console/queries").text
    assert '<a href="/console/query/new">Register one</a>' in own
    assert "<code>asc query add ID --where PREDICATE</code>" in own


def test_the_list_is_ordered_by_what_one_clicks(
    browse: Browse, registered: Callable[..., None], resting: Resting
) -> None:
    registered({f"con-{name}": "n > 5" for name in "abc"})
    errors = resting.streams()[resting.stream("json")].evaluation_errors
    errors.count(10**9, {"con-b": 3, "con-c": 4})
    page = browse("all").get("/console/queries", params={"prefix": "con-"}).text
    assert ids(page) == ["con-a", "con-b", "con-c"]
    assert re.findall(r'aria-sort="(\w+)"><a href="[^"]*">(.*?)</a>', page) == [("ascending", "id")]
    links = dict(re.findall(r'<th scope="col"[^>]*><a href="([^"]*)">([^<]*)</a>', page))
    assert list(links.values()) == ["id", "accepted", "last minute", "errors"]
    by_errors = next(link for link, name in links.items() if name == "errors")
    page = browse("all").get(html.unescape(by_errors)).text
    assert ids(page) == ["con-c", "con-b", "con-a"]
    assert re.findall(r'aria-sort="(\w+)"><a href="[^"]*">(.*?)</a>', page) == [("descending", "errors")]
    assert '<option value="errors" selected>most errors</option>' in page
    refused = browse("all").get("/console/queries", params={"order": "size"})
    assert (refused.status_code, "order" in refused.text) == (400, True)


def test_pages_of_an_order_follow_each_other(browse: Browse, registered: Callable[..., None], resting: Resting) -> None:
    registered({f"con-{number:03}": f"n = {number}" for number in range(60)})
    errors = resting.streams()[resting.stream("json")].evaluation_errors
    errors.count(10**9, {f"con-{number:03}": number // 2 + 1 for number in range(55)})
    wanted = sorted((-(number // 2 + 1) if number < 55 else 0, f"con-{number:03}") for number in range(60))
    page = browse("all").get("/console/queries", params={"prefix": "con-", "order": "errors"}).text
    assert "50 of 60 queries" in page
    following = browse("all").get(html.unescape(re.findall(r'<a href="([^"]*)">Next page', page)[0])).text
    assert ids(page) + ids(following) == [query_id for _, query_id in wanted]
    assert "51 to 60 of 60 queries" in following
    assert "Next page" not in following
