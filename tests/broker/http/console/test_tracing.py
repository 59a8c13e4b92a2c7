"""A record followed in a browser: typed, picked, or by an address."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Browse = Callable[[str], TestClient]


def test_a_record_is_picked_and_followed(
    browse: Browse, registered: Callable[..., None], resting: Resting, send_to: Callable[..., str]
) -> None:
    registered({"con-late": "n > 60 AND s = 'Oslo'", "con-early": "n < 0"})
    client, stream = browse("all"), resting.stream("json")
    topic = resting.config.streams[stream].topic
    send_to(topic, b'{"n": 70, "s": "Oslo"}')
    hostile = send_to(topic, b'{"n": 70, "s": "<script>"}')
    form = client.get("/console/trace", params={"stream": stream, "query": "con-late"}).text
    assert f'<option value="{stream}" selected>{stream}</option>' in form
    (part,) = re.findall(r'hx-get="([^"]*)"', form)

    def picked(**asked: str) -> str:
        return str(client.get(part, params=asked, headers={"HX-Request": "true"}).text)

    assert f'href="/console/trace?source={hostile}">' in picked(stream=stream)
    # Where a query is named, its stream is meant, and the record is followed to it.
    other = resting.stream("csv")
    assert f'href="/console/trace?source={hostile}&amp;query=con-late">' in picked(stream=other, query=" con-late ")
    assert f"Topic {resting.config.streams[other].topic}" in page_text(picked(stream=other, query="con-none"))
    assert f"asc publish FILE --stream {other}." in page_text(picked(stream=other))
    assert (
        f'<option value="{stream}" selected>{stream}</option>'
        in client.get("/console/trace", params={"query": "con-late"}).text
    )
    page = client.get("/console/trace", params={"source": hostile, "query": "con-late"}).text
    assert f"{hostile} at con-late" in page_text(page)
    assert "con-late: " in page_text(page)
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert 'rel="stylesheet" href="/console/static/trace.css"' in page
    assert "style=" not in page


def test_a_record_is_made_up(browse: Browse, registered: Callable[..., None], resting: Resting) -> None:
    registered({"con-late": "n > 60"})
    form = {"stream": resting.stream("json"), "tuple": '{"n": 61}', "query": " con-late ", "source": ""}
    page = browse("all").post("/console/trace", data=form).text
    assert re.search(r'class="good">(<[^>]*>)?con-late:', page)
    assert "{&#34;n&#34;: 61}</textarea>" in page
    # The form names a stream whether one was meant or not.
    other = browse("all").post("/console/trace", data={**form, "stream": resting.stream("csv")}).text
    assert re.search(r'class="good">(<[^>]*>)?con-late:', other)
    # One who does not see the stream as a whole is told of an own query alone.
    registered({"con-ops-late": "n > 60"})
    own = browse("ops").post("/console/trace", data={**form, "query": "con-ops-late"})
    assert own.status_code == 200
    assert "con-late" not in own.text
    assert browse("ops").post("/console/trace", data=form).status_code in (403, 404)
    assert browse("ops").post("/console/trace", data={**form, "query": ""}).status_code == 403
    assert browse("ops").get("/console/trace/records").status_code == 403
    assert "/console/trace/records" not in browse("ops").get("/console/trace").text


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"tuple": "{"}, "record &#39;{&#39;: is no JSON"),
        ({"tuple": "[" * 100_000}, "is no JSON"),
        ({"tuple": "1"}, "field tuple"),
        ({"tuple": '{"n": "x"}', "source": "a-0-1"}, "one of the two"),
        ({"source": "nowhere"}, "write TOPIC-PARTITION-OFFSET"),
        ({"source": "nowhere-0-1"}, "nowhere"),
        ({"tuple": "{}", "query": "con-none"}, "con-none"),
        ({"tuple": "{}", "stream": "none"}, "none"),
    ],
    ids=["json", "deep", "number", "both", "source", "topic", "query", "stream"],
)
def test_what_cannot_be_followed_is_said(browse: Browse, resting: Resting, form: dict[str, str], said: str) -> None:
    answer = browse("all").post("/console/trace", data={"stream": resting.stream("json"), **form})
    assert 400 <= answer.status_code < 500
    assert html.unescape(said) in page_text(re.findall(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)[0])
    # What was typed stands in the form again.
    assert "Follow it" in answer.text
    assert (form.get("source", "") in answer.text) is True


def test_the_style_is_a_file_for_the_page_allows_none_within(browse: Browse) -> None:
    answer = browse("all").get("/console/static/trace.css")
    assert answer.headers["content-type"].startswith("text/css")
    assert ".asc .region" in answer.text
