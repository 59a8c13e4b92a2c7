"""Queries looked for, looked at and changed in a browser, as far as a token goes."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Browse = Callable[[str], TestClient]
Register = Callable[..., None]
PART = {"HX-Request": "true"}


def listed(client: TestClient, **params: Any) -> list[str]:
    """The ids that a search finds, over all its pages."""
    found: list[str] = []
    address: str | None = "/console/queries"
    while address is not None:
        answer = client.get(address, params=params or None, headers=PART)
        assert answer.status_code == 200
        found += re.findall(r'<th scope="row"><a href="[^"]*">([^<]*)</a>', answer.text)
        more = re.search(r'<a class="button" href="([^"]*)">Go on', answer.text)
        address, params = (html.unescape(more[1]), {}) if more else (None, {})
    return found


def test_queries_are_found_by_text_id_label_and_stream(browse: Browse, registered: Register, resting: Resting) -> None:
    client = browse("all")
    registered({"con-late": "n > 471147", "con-oslo": "s = 'Oslo'"}, labels={"team": "con"})
    registered({f"con-many-{n:03}": f"n = {n}" for n in range(120)}, paused=True)
    assert listed(client, text="471147") == ["con-late"]
    assert listed(client, text="OSLO", prefix="con-") == ["con-oslo"]
    assert listed(client, label="team=con") == ["con-late", "con-oslo"]
    assert listed(client, prefix="con-many") == [f"con-many-{n:03}" for n in range(120)]
    assert listed(client, prefix="con-", stream=resting.stream("csv")) == []
    page = client.get("/console/queries", params={"prefix": "con-many"})
    assert page.text.count("paused") == 50
    assert f"<option selected>{resting.stream('json')}" not in page.text
    refused = client.get("/console/queries", params={"label": "team"})
    assert refused.status_code == 400
    assert "write key=value" in refused.text


def test_a_token_finds_what_it_sees(browse: Browse, registered: Register) -> None:
    registered({"con-ops-1": "n > 1", "con-other": "n > 471147"})
    assert listed(browse("ops"), prefix="con-") == ["con-ops-1"]
    assert listed(browse("ops"), text="471147") == []
    assert browse("ops").get("/console/queries/con-other").status_code in (403, 404)
    assert listed(browse("reader"), prefix="con-") == ["con-ops-1", "con-other"]


def test_a_query_has_a_page(browse: Browse, registered: Register) -> None:
    registered({"con-late": "n > 5 AND s = '<b>'"}, labels={"team": "<i>"}, expires_at="2099-01-01T00:00:00Z")
    page = browse("all").get("/console/queries/con-late").text
    assert "<code>n &gt; 5 AND s = &#39;&lt;b&gt;&#39;</code>" in page
    assert "&lt;i&gt;" in page
    assert "2099-01-01T00:00:00Z" in page
    assert "con-late: 1 conjunct in block" in page
    assert 'aria-label="Records accepted a minute' in page
    assert "Remove con-late" in page
    unknown = browse("all").get("/console/queries/con-none")
    assert (unknown.status_code, "con-none" in unknown.text) == (404, True)


def test_one_who_may_not_change_is_shown_no_way_to(browse: Browse, registered: Register, resting: Resting) -> None:
    registered({"con-late": "n > 5"})
    client = browse("reader")
    for path in ("/console/queries", "/console/queries/con-late"):
        page = client.get(path).text
        assert 'method="post"' not in page.replace('<form method="post" action="/console/logout">', "")
        assert "New query" not in page
    for path in ("con-late/pause", "con-late/remove", "con-late/edit"):
        answer = client.post(f"/console/queries/{path}", data={"paused": "yes", "where": "n > 6"})
        assert answer.status_code == 403, answer.text
    new = client.post(
        "/console/queries/new", data={"id": "con-new", "where": "n > 6", "stream": resting.stream("json")}
    )
    assert new.status_code == 403
    assert "reader" in re.findall(r'role="alert">(.*?)</div>', new.text)[0]
    assert {query.where for query in resting.registrar().standing if query.id.startswith("con-")} == {"n > 5"}


def test_a_query_is_registered_changed_paused_resumed_and_removed(browse: Browse, resting: Resting) -> None:
    client, stream = browse("all"), resting.stream("json")
    form = {"id": "con-new", "stream": stream, "where": "n > 6", "topic": "con-new", "labels": "team=ops\n\na=b=c"}
    answer = client.post("/console/queries/new", data=form)
    assert answer.headers["location"] == "/console/queries/con-new", answer.text

    def standing() -> Any:
        return resting.permitted.get("con-new")

    assert (standing().where, standing().topic) == ("n > 6", "con-new")
    assert dict(standing().labels) == {"team": "ops", "a": "b=c"}
    edit = client.get("/console/queries/con-new/edit")
    assert "team=ops\na=b=c</textarea>" in edit.text
    changed = client.post("/console/queries/con-new/edit", data={"where": "n > 7", "labels": "", "topic": "con-new"})
    assert changed.status_code == 303
    assert (standing().where, dict(standing().labels)) == ("n > 7", {})
    for paused in (True, False):
        client.post("/console/queries/con-new/pause", data={"paused": "yes" if paused else "no"})
        assert standing().paused is paused
    removed = client.post("/console/queries/con-new/remove", data={"x": ""})
    assert removed.headers["location"] == "/console/queries"
    assert client.get("/console/queries/con-new").status_code == 404


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"id": "con-new", "where": "dely > 1"}, "unknown column &#39;dely&#39;"),
        ({"id": "con-new", "where": "n >"}, "syntax error"),
        ({"id": "con-new", "where": ""}, "predicate"),
        ({"id": "", "where": "n > 1"}, "id"),
        ({"id": "con-new", "where": "n > 1", "labels": "team"}, "write key=value"),
        ({"id": "con-new", "where": "n > 1", "stream": "none"}, "none"),
        ({"id": "con-taken", "where": "n > 1"}, "con-taken"),
    ],
    ids=["column", "syntax", "empty", "no id", "label", "stream", "taken"],
)
def test_what_is_refused_is_said_and_what_was_typed_is_kept(
    browse: Browse, registered: Register, resting: Resting, form: dict[str, str], said: str
) -> None:
    registered({"con-taken": "n > 5"})
    answer = browse("all").post("/console/queries/new", data={"stream": resting.stream("json"), **form})
    assert 400 <= answer.status_code < 500
    alert = re.search(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)
    assert alert is not None
    assert said in alert[1]
    assert f"{html.escape(form['where'])}</textarea>" in answer.text
    assert resting.permitted.get("con-taken").where == "n > 5"


def test_a_predicate_is_checked_as_it_is_typed(browse: Browse, resting: Resting) -> None:
    def verdict(where: str, token: str = "all") -> str:
        form = {"where": where, "stream": resting.stream("json")}
        answer = browse(token).post("/console/queries/check", data=form, headers=PART)
        assert answer.status_code == 200
        return str(answer.text)

    assert "It would be taken." in verdict("n > 1")
    assert 'hx-post="/console/queries/try"' in verdict("n > 1")
    assert 'hx-post="/console/queries/try"' not in verdict("n > 1", "reader")
    assert "It accepts nothing" in verdict("n > 1 AND n < 1")
    assert "It accepts every record" in verdict("true")
    assert "unknown column &#39;dely&#39;" in verdict("dely > 1")
    assert "<pre><code>n &gt; 1 AND dely &gt; 2\n          ^^^^</code></pre>" in verdict("n > 1 AND dely > 2")
    assert verdict("  ").strip() == ""
    assert "token &#39;ops&#39; may name &#39;n&#39;" in verdict("s = 'x'", "ops")


def test_it_is_tried_on_the_last_records(browse: Browse, resting: Resting, send_to: Callable[..., str]) -> None:
    stream = resting.stream("csv")
    topic = resting.config.streams[stream].topic

    def found(where: str) -> str:
        form = {"where": where, "stream": stream}
        return str(browse("all").post("/console/queries/try", data=form, headers=PART).text)

    for n in range(10):
        send_to(topic, f"{n},a".encode())
    send_to(topic, b"x,y,z,\n,")
    assert "accepted <strong>4</strong> of the last 11 records (dead letters among them: 1)" in found("n > 5")
    assert "dely" in found("dely > 5")
    assert resting.permitted.search("", "", None, stream, None, 50)[0] == []


def test_its_last_matches_lead_to_their_traces(
    browse: Browse, registered: Register, send_to: Callable[..., str]
) -> None:
    registered({"con-late": "n > 5"}, topic="con-late")
    client = browse("all")
    assert "None of the last records" in client.get("/console/queries/con-late/matches", headers=PART).text
    headers = [("asc-query", b"con-late"), ("asc-source", b"flights-0-17"), ("asc-timestamp", b"86400000")]
    send_to("con-late", b'{"n": 6, "s": "<b>"}', headers=headers)
    send_to("con-late", b"\xff", headers=[("asc-query", b"con-other"), *headers[1:]])
    page = client.get("/console/queries/con-late/matches", headers=PART).text
    assert '<a href="/console/trace?source=flights-0-17&amp;query=con-late">flights-0-17</a>' in page
    assert "1970-01-02 00:00:00" in page
    assert "{&#34;n&#34;: 6, &#34;s&#34;: &#34;&lt;b&gt;&#34;}" in page
    assert page.count("<tr>") == 2
    registered({"con-ops-late": "n > 5"}, topic="con-late")
    assert "may not name" in browse("ops").get("/console/queries/con-ops-late/matches", headers=PART).text
