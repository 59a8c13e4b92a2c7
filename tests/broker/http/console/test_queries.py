"""Queries looked for, looked at and changed in a browser, as far as a token goes."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from broker.queries.change import Put, Remove
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery
from tests.broker.http.console.page_text import page_text

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
        found += re.findall(r'<th scope="row"[^>]*><a href="[^"]*">([^<]*)</a>', answer.text)
        more = re.search(r'<a class="button" href="([^"]*)">Next page', answer.text)
        address, params = (html.unescape(more[1]), {}) if more else (None, {})
    return found


def edited(client: TestClient, query_id: str, **fields: str) -> dict[str, str]:
    """What a browser sends of the form of a query with some fields typed over: of a line end two characters."""
    page = client.get(f"/console/query/edit/{query_id}").text
    found = dict(re.findall(r'<input(?: type="hidden")? name="(\w+)" value="([^"]*)"', page))
    found |= {name: text.removeprefix("\n") for name, text in re.findall(r'name="(\w+)"[^>]*>([^<]*)</textarea>', page)}
    shown = {name: html.unescape(text) for name, text in found.items()} | fields
    return {name: re.sub("\r\n|\r|\n", "\r\n", text) for name, text in shown.items()}


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
    assert "50 of 120 queries, in" in page.text
    following = re.findall(r'<a href="([^"]*)">Next page', page.text)[0]
    page = client.get(html.unescape(following))
    assert "51 to 100 of 120 queries, in" in page.text
    last = client.get(html.unescape(re.findall(r'<a href="([^"]*)">Next page', page.text)[0]))
    assert "101 to 120 of 120 queries, in" in last.text
    assert "Next page" not in last.text
    found = client.get("/console/queries", params={"prefix": "con-", "text": "471147"})
    assert "1 found among 122 queries" in found.text
    assert "2 of 2 queries" in client.get("/console/queries", params={"label": "team=con"}).text
    assert f"selected>{resting.stream('json')}" not in page.text
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
    assert "2099-01-01 00:00:00 UTC" in page
    assert "con-late: 1 conjunct in block" in page
    assert 'aria-label="Records accepted a minute' in page
    assert "Remove con-late" in page_text(page)
    unknown = browse("all").get("/console/queries/con-none")
    assert (unknown.status_code, "con-none" in unknown.text) == (404, True)


def test_one_who_may_not_change_is_shown_no_way_to(browse: Browse, registered: Register, resting: Resting) -> None:
    registered({"con-late": "n > 5"})
    client = browse("reader")
    controls = ("New query", "Register", "Pause", "Resume", "Remove", ">Change<", "Send again")
    for path in ("/console/", "/console/queries", "/console/queries/con-late", "/console/query/new"):
        page, own = (browse(token).get(path).text for token in ("reader", "all"))
        assert [control for control in controls if control in page] == []
        assert any(control in own for control in controls) or path == "/console/"
    for path in ("/console/queries", "/console/queries/con-late"):
        assert 'method="post"' not in client.get(path).text.replace('<form method="post" action="/console/logout">', "")
    assert client.get("/console/query/edit/con-late").status_code == 403
    # A predicate is judged for one who reads.
    assert 'hx-post="/console/query/check"' in client.get("/console/query/new").text
    for path in ("pause/con-late", "remove/con-late", "edit/con-late"):
        answer = client.post(f"/console/query/{path}", data={"paused": "yes", "where": "n > 6"})
        assert answer.status_code == 403, answer.text
    new = client.post("/console/query/new", data={"id": "con-new", "where": "n > 6", "stream": resting.stream("json")})
    assert new.status_code == 403
    assert "<title>Not permitted - asc</title>" in new.text
    assert "reader" in re.findall(r'role="alert">(.*?)</div>', new.text)[0]
    assert {query.where for query in resting.registrar().standing if query.id.startswith("con-")} == {"n > 5"}


def test_a_query_is_registered_changed_paused_resumed_and_removed(browse: Browse, resting: Resting) -> None:
    client, stream = browse("all"), resting.stream("json")
    form = {"id": "con-new", "stream": stream, "where": "n > 6", "topic": "con-new", "labels": "team=ops\n\na=b=c"}
    answer = client.post("/console/query/new", data=form)
    assert answer.headers["location"] == "/console/queries/con-new", answer.text

    def standing() -> Any:
        return resting.permitted.get("con-new")

    assert (standing().where, standing().topic) == ("n > 6", "con-new")
    assert dict(standing().labels) == {"team": "ops", "a": "b=c"}
    edit = client.get("/console/query/edit/con-new")
    assert "team=ops\na=b=c</textarea>" in edit.text
    form = edited(client, "con-new", where="n > 7", labels="")
    assert client.post("/console/query/edit/con-new", data=form).status_code == 303
    assert (standing().where, dict(standing().labels)) == ("n > 7", {})
    for paused in (True, False):
        client.post("/console/query/pause/con-new", data={"paused": "yes" if paused else "no"})
        assert standing().paused is paused
        # A query that is paused is in no plan, and begins to be counted anew when it is resumed.
        accepted = "<dt>accepted since start or resumption</dt><dd>{}</dd>".format("-" if paused else "0")
        assert accepted in client.get("/console/queries/con-new").text
    removed = client.post("/console/query/remove/con-new", data={"x": ""})
    assert removed.headers["location"] == "/console/queries"
    assert client.get("/console/queries/con-new").status_code == 404


@pytest.mark.parametrize("where", ["\ns = 'a\nb' AND n > 1", "s = 'a\r\nb'", "s = 'a\rb'\n"], ids=["LF", "CRLF", "CR"])
def test_a_form_that_is_sent_as_it_was_shown_changes_nothing(
    browse: Browse, registered: Register, resting: Resting, where: str
) -> None:
    labels = {"team": " ops ", "note": "a\nb", "c": "x=y"}
    registered({"con-lines": where}, labels=labels)
    before = resting.permitted.get("con-lines")
    client = browse("all")
    assert client.post("/console/query/edit/con-lines", data=edited(client, "con-lines")).status_code == 303
    assert resting.permitted.get("con-lines") == before
    # What is typed has the line ends of those who type.
    client.post("/console/query/edit/con-lines", data=edited(client, "con-lines", where="s = 'a\nc'"))
    changed = resting.permitted.get("con-lines")
    assert (changed.where, dict(changed.labels)) == ("s = 'a\nc'", labels)
    refused = client.post("/console/query/edit/con-lines", data=edited(client, "con-lines", labels="team=dev"))
    assert (refused.status_code, "takes several lines" in refused.text) == (400, True)


def test_a_topic_that_is_cleared_is_that_of_the_id_and_labels_keep_their_spaces(
    browse: Browse, registered: Register, resting: Resting
) -> None:
    registered({"con-moved": "n > 5"}, topic="con-elsewhere")
    client = browse("all")
    form = edited(client, "con-moved", topic="", labels="team= ops \n\n")
    assert 'placeholder="asc.con-moved"' in client.get("/console/query/edit/con-moved").text
    assert client.post("/console/query/edit/con-moved", data=form).status_code == 303
    found = resting.permitted.get("con-moved")
    assert (found.topic, dict(found.labels)) == ("asc.con-moved", {"team": " ops "})


def test_a_form_that_is_out_of_date_undoes_nothing(browse: Browse, registered: Register, resting: Resting) -> None:
    registered({"con-late": "n > 5"})
    client = browse("all")
    stale = edited(client, "con-late", labels="team=ops")
    registered({"con-late": "n > 6"})
    refused = client.post("/console/query/edit/con-late", data=stale)
    assert (refused.status_code, "was changed by another" in refused.text) == (400, True)
    assert "team=ops</textarea>" in refused.text
    # Nor when it is sent again as it is shown.
    assert client.post("/console/query/edit/con-late", data={**stale, "version": ""}).status_code == 400
    assert resting.permitted.get("con-late").where == "n > 6"


def test_a_query_of_any_id_has_a_page(browse: Browse, registered: Register, resting: Resting) -> None:
    # Another program wrote into the registry's topic, under a key that is no id.
    key = "con-a/edit"
    producer = resting.cluster.client.producer()
    producer.send(resting.config.kafka.registry_topic, b"nothing", key=key.encode()).get(timeout=30)
    producer.close()
    resting.registrar()._query_state.relearn()
    registered({"new": "n > 5"})
    client = browse("all")
    try:
        assert "<h1>new</h1>" in client.get("/console/queries/new").text
        assert client.get("/console/queries/").headers["location"] == "/console/queries"
        page = client.get(f"/console/queries/{quote(key, safe='')}")
        assert (page.status_code, "cannot be read" in page.text) == (200, True)
        removed = client.post(f"/console/query/remove/{quote(key, safe='')}", data={"x": ""})
        assert removed.status_code == 303
        assert listed(client, prefix=key) == []
    finally:
        client.post("/console/query/remove/new", data={"x": ""})


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
    answer = browse("all").post("/console/query/new", data={"stream": resting.stream("json"), **form})
    assert 400 <= answer.status_code < 500
    alert = re.search(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)
    assert alert is not None
    assert said in alert[1]
    assert f"{html.escape(form['where'])}</textarea>" in answer.text
    assert resting.permitted.get("con-taken").where == "n > 5"


def test_a_predicate_is_checked_as_it_is_typed(browse: Browse, resting: Resting) -> None:
    def verdict(where: str, token: str = "all") -> str:
        form = {"where": where, "stream": resting.stream("json")}
        answer = browse(token).post("/console/query/check", data=form, headers=PART)
        assert answer.status_code == 200
        return str(answer.text)

    assert "It would be taken." in verdict("n > 1")
    assert 'hx-post="/console/query/try"' in verdict("n > 1")
    assert 'hx-post="/console/query/try"' not in verdict("n > 1", "reader")
    assert "It accepts nothing" in verdict("n > 1 AND n < 1")
    assert "It accepts every record" in verdict("true")
    assert "unknown column &#39;dely&#39;" in verdict("dely > 1")
    assert '<pre tabindex="0"><code>n &gt; 1 AND dely &gt; 2\n          ^^^^</code></pre>' in verdict(
        "n > 1 AND dely > 2"
    )
    assert verdict("  ").strip() == ""
    assert "token &#39;ops&#39; may name &#39;n&#39;" in verdict("s = 'x'", "ops")


def test_it_is_tried_on_the_last_records(browse: Browse, resting: Resting, send_to: Callable[..., str]) -> None:
    stream = resting.stream("csv")
    topic = resting.config.streams[stream].topic
    before = resting.permitted.search("", "", None, stream, None, 50)[0]

    def found(where: str) -> str:
        form = {"where": where, "stream": stream}
        return str(browse("all").post("/console/query/try", data=form, headers=PART).text)

    for n in range(10):
        send_to(topic, f"{n},a".encode())
    send_to(topic, b"x,y,z,\n,")
    assert "accepted <strong>4</strong> of the last 11 records (dead letters among them: 1)" in found("n > 5")
    assert "dely" in found("dely > 5")
    assert resting.permitted.search("", "", None, stream, None, 50)[0] == before


def test_its_last_matches_lead_to_their_traces(
    browse: Browse, registered: Register, send_to: Callable[..., str]
) -> None:
    registered({"con-late": "n > 5"}, topic="con-late")
    client = browse("all")
    empty = client.get("/console/query/matches/con-late", headers=PART).text
    assert "None of the last records" in empty
    (link,) = re.findall(r'<a href="([^"]*)">Follow a record to see why', empty)
    assert "query=con-late" in link
    assert client.get(html.unescape(link)).status_code == 200
    headers = [("asc-query", b"con-late"), ("asc-source", b"flights-0-17"), ("asc-timestamp", b"86400000")]
    send_to("con-late", b'{"n": 6, "s": "<b>"}', headers=headers)
    send_to("con-late", b"\xff", headers=[("asc-query", b"con-other"), *headers[1:]])
    page = client.get("/console/query/matches/con-late", headers=PART).text
    assert '<a href="/console/trace?source=flights-0-17&amp;query=con-late">flights-0-17</a>' in page
    assert "1970-01-02 00:00:00 UTC" in page
    assert "{&#34;n&#34;: 6, &#34;s&#34;: &#34;&lt;b&gt;&#34;}" in page
    assert page.count("<tr>") == 2
    registered({"con-ops-late": "n > 5"}, topic="con-late")
    assert "may not name" in browse("ops").get("/console/query/matches/con-ops-late", headers=PART).text


def test_a_join_has_a_page_and_a_form(browse: Browse, resting: Resting, send_to: Callable[..., str]) -> None:
    client, stream = browse("all"), resting.stream("json")
    registrar = resting.registrar()
    feature = b'{"type":"Feature","geometry":null,"properties":{"high":%d}}'
    registrar.write_layer("zones", {"a": feature % 3, "b": feature % 5}, [])
    where = "n < zones.high AND s = 'joined'"
    join = RegisteredQuery("con-join", stream, where, "out", join=Join("zones", per_shape=True))
    registrar.apply([Put(join)]).raised()
    page = client.get("/console/queries/con-join").text
    assert "<dt>a join over</dt><dd>zones, a record a shape</dd>" in page
    # Of a join a trace says why for one shape: the page leads to one for all queries.
    assert "query=con-join" not in page
    (link,) = re.findall(r'href="(/console/trace[?][^"]*)"', page)
    assert client.get(link.replace("&amp;", "&")).status_code == 200
    send_to("out", b"{}", headers=[("asc-query", b"con-join"), ("asc-source", b"flights-0-17")])
    matches = client.get("/console/query/matches/con-join", headers=PART).text
    assert '<a href="/console/trace?source=flights-0-17">flights-0-17</a>' in matches
    assert "<dt>shapes</dt><dd>2</dd>" in page
    assert "In the plan" not in page
    form = edited(client, "con-join")
    assert form["layer"] == "zones"
    checked = client.post("/console/query/check", data=form)
    assert "It would be taken." in checked.text
    assert "for 2 shapes" in checked.text
    assert "query/try" not in checked.text
    form["where"] = "n < zones.height"
    assert "unknown property" in client.post("/console/query/check", data=form).text
    form["where"] = "n <= zones.high"
    assert client.post("/console/query/edit/con-join", data=form, follow_redirects=False).status_code == 303
    after = registrar.standing.get("con-join")
    assert (after.where, after.join) == ("n <= zones.high", Join("zones", per_shape=True))
    registrar.apply([Remove("con-join")]).raised()
    registrar.write_layer("zones", {}, ["a", "b"])
