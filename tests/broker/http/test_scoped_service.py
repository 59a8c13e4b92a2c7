"""What a limited token reaches over the API: its own queries, and nothing that tells of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.config.sections import ApiConfig
from broker.http.app import create_app
from broker.queries.change import Remove
from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Api = Callable[[str], TestClient]
MAX = 4


@pytest.fixture(scope="module")
def audit_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def as_token(resting: Resting, audit_file: Path) -> Iterator[Api]:
    """The API with the token of a name: all, ops (own ids, one stream), stream (one stream), reader (reads ids)."""
    own = resting.stream("json")
    scopes = [
        Scope(
            "ops",
            id_prefix="perm-ops-",
            streams=frozenset({own}),
            topic_prefixes=("perm.ops.", "asc.perm-ops-"),
            columns=frozenset({("n",), ("place", "city")}),
            max_queries=MAX,
        ),
        Scope("stream", streams=frozenset({own})),
        Scope("reader", read_only=True, id_prefix="perm-ops-"),
    ]
    access = Access("all" * 10, {digest(scope.name): scope for scope in scopes})
    with TestClient(create_app(resting, access, ApiConfig(requests_per_s=1e6), Audit(audit_file))) as client:

        def of(name: str) -> TestClient:
            client.headers = {"Authorization": f"Bearer {'all' * 10 if name == 'all' else name}"}
            return client

        yield of


@pytest.fixture
def put(as_token: Api, resting: Resting) -> Iterator[Callable[..., Any]]:
    """Registers a query by a token; whatever the test leaves is removed."""

    def registered(token: str, query_id: str, **more: Any) -> Any:
        body = {"id": query_id, "where": "n > 1", "stream": resting.stream("json"), "paused": True, **more}
        return as_token(token).post("/v1/queries", json=body)

    yield registered
    registrar = resting.registrar()
    left = [Remove(query.id) for query in registrar.standing if query.id.startswith("perm-")]
    if left:
        registrar.apply(left).raised()


def refusal(answer: Any) -> str:
    assert answer.status_code == 403, answer.text
    message = answer.json()["error"]["message"]
    assert "\n" not in message
    return str(message)


def test_a_token_registers_within_its_limits_alone(put: Callable[..., Any], resting: Resting) -> None:
    assert put("ops", "perm-ops-1").status_code == 201
    assert put("ops", "perm-ops-1", topic="perm.ops.x", where="n > 2 AND place.city = 'a'").status_code == 200
    version = resting.registrar().standing.version
    assert "query id 'perm-x': the ids of token 'ops' begin" in refusal(put("ops", "perm-x"))
    # Also where it is no id at all, and whatever stands.
    assert "begin with" in refusal(put("ops", "no id"))
    assert "destination topic 'asc.x'" in refusal(put("ops", "perm-ops-1", topic="asc.x"))
    assert "destination topic" in refusal(put("ops", "perm-ops-1", topic=resting.config.kafka.registry_topic))
    assert "column s: token 'ops' may name 'n', 'place.city'" in refusal(
        put("ops", "perm-ops-1", where="s = 'x'")
    ).replace("'s'", "s")
    assert "column" in refusal(put("ops", "perm-ops-1", where="n = 1 OR _headers['x'] IS NULL"))
    foreign = resting.stream("csv")
    for stream in (foreign, "none"):
        message = refusal(put("ops", "perm-ops-1", stream=stream))
        assert message == f"stream '{stream}': the streams of token 'ops' are '{resting.stream('json')}'"
    assert "may only read" in refusal(put("reader", "perm-ops-1"))
    assert resting.registrar().standing.version == version
    # Of two streams it has one, so none has to be named.
    assert put("ops", "perm-ops-2", stream=None).status_code == 201


def test_why_a_query_is_parked_is_told_without_values_of_columns_that_a_token_may_not_name(
    put: Callable[..., Any], as_token: Api, resting: Resting
) -> None:
    assert put("all", "perm-ops-hidden", where="s = 'x'", paused=False).status_code == 201
    assert put("all", "perm-ops-plain", where="n > 1", paused=False).status_code == 201
    stream, registrar = resting.streams()[resting.stream("json")], resting.registrar()
    value = "a piece of the pane of 2013-07-10T00:00:00Z is damaged"
    stream._fold_parks.report(dict.fromkeys(("perm-ops-hidden", "perm-ops-plain"), value), registrar.standing.version)
    registrar.park()

    def explained(token: str, query_id: str) -> list[str]:
        """The reason of its page, of the list, of the console, and of what needs a plan that holds it."""
        api, own = as_token(token), f"/v1/queries/{query_id}"
        (listed,) = api.get(f"/v1/queries?prefix={query_id}").json()["queries"]
        page = page_text(api.get(f"/console/queries/{query_id}").text)
        asked = (api.get(own), api.post(f"{own}/explain", json={"tuple": {"n": 1}}))
        trace = api.post("/v1/trace", json={"query": query_id, "tuple": {"n": 1}})
        assert not listed["served"]
        return [listed["reason"], page, *(answer.text for answer in (*asked, trace))]

    for token, query_id in (("all", "perm-ops-hidden"), ("ops", "perm-ops-plain"), ("reader", "perm-ops-hidden")):
        texts = explained(token, query_id)
        assert [value in text for text in texts] == [True] * len(texts), (token, query_id, texts)
    texts = explained("ops", "perm-ops-hidden")
    assert ["2013" in text for text in texts] == [False] * len(texts)
    assert ["columns that token" in text for text in texts] == [True] * len(texts)


def test_what_another_registered_is_neither_seen_nor_changed(
    put: Callable[..., Any], as_token: Api, resting: Resting
) -> None:
    assert put("all", "perm-other").status_code == 201
    # Its id is such as it may have, its stream is not.
    assert put("all", "perm-ops-taken", stream=resting.stream("csv")).status_code == 201
    before = dict(resting.registrar().standing.queries)
    ops = as_token("ops")
    for query_id in ("perm-other", "perm-none"):
        assert "begin with" in refusal(ops.get(f"/v1/queries/{query_id}"))
        assert "begin with" in refusal(ops.delete(f"/v1/queries/{query_id}"))
        assert "begin with" in refusal(ops.put(f"/v1/queries/{query_id}", json={"paused": False}))
        assert "begin with" in refusal(ops.post(f"/v1/queries/{query_id}/explain", json={"tuple": {"n": 1}}))
    answers = []
    for query_id in ("perm-ops-taken", "perm-ops-none"):
        asked = [
            ops.get(f"/v1/queries/{query_id}"),
            ops.delete(f"/v1/queries/{query_id}"),
            ops.put(f"/v1/queries/{query_id}", json={"paused": False}),
            ops.post(f"/v1/queries/{query_id}/explain", json={"tuple": {"n": 1}}),
        ]
        assert [answer.status_code for answer in asked] == [404] * 4
        answers.append([answer.text.replace(query_id, "") for answer in asked])
    assert answers[0] == answers[1]
    whole = {"where": "n > 1", "stream": resting.stream("json"), "paused": True}
    for answer in (
        ops.put("/v1/queries/perm-ops-taken", json=whole),
        ops.put("/v1/queries/perm-ops-taken", json=whole, headers={"If-None-Match": "*"}),
        put("ops", "perm-ops-taken"),
    ):
        assert "is taken by a query that token 'ops' does not see" in refusal(answer)
    assert dict(resting.registrar().standing.queries) == before


def test_a_change_of_a_part_is_held_to_what_it_leaves(put: Callable[..., Any], as_token: Api) -> None:
    assert put("all", "perm-ops-wide", where="s = 'x'", topic="perm.elsewhere").status_code == 201
    ops = as_token("ops")
    path = "/v1/queries/perm-ops-wide"
    assert "destination topic" in refusal(ops.put(path, json={"labels": {"a": "b"}}))
    assert "column" in refusal(ops.put(path, json={"topic": "perm.ops.x"}))
    assert ops.put(path, json={"topic": "perm.ops.x", "where": "n > 1"}).status_code == 200
    assert "stream" in refusal(ops.put(path, json={"stream": "none"}))
    assert "destination topic" in refusal(ops.put(path, json={"topic": "perm.elsewhere"}))
    assert ops.put(path, json={"paused": True, "labels": {}}).json()["change"] == "unchanged"
    assert ops.delete(path).status_code == 200


def test_one_foreign_line_refuses_a_load(as_token: Api, resting: Resting, put: Callable[..., Any]) -> None:
    def load(lines: list[dict[str, Any]], **params: Any) -> Any:
        common = {"where": "n > 1", "stream": resting.stream("json"), "paused": True}
        content = "\n".join(json.dumps({**common, **line}) for line in lines).encode()
        headers = {"content-type": "application/x-ndjson"}
        return as_token("ops").post("/v1/queries", content=content, headers=headers, params=params)

    lines = [{"id": "perm-ops-a"}, {"id": "perm-b"}, {"id": "perm-ops-c", "where": "s = 'x'"}]
    answer = load(lines)
    assert "nothing was registered; line 2: query id 'perm-b'" in refusal(answer)
    assert [error["line"] for error in answer.json()["errors"]] == [2, 3]
    assert as_token("ops").get("/v1/queries").json()["queries"] == []
    going = load(lines, keep_going=True).json()
    assert (going["registered"], len(going["errors"])) == (1, 2)
    # Of a load that is larger than the number, those that come first are taken.
    many = load([{"id": f"perm-ops-n{i}"} for i in range(MAX + 2)], keep_going=True).json()
    assert (many["registered"], [error["line"] for error in many["errors"]]) == (MAX - 1, [4, 5, 6])
    assert "number of queries" in refusal(load([{"id": "perm-ops-more"}]))
    # To replace one is no more.
    assert load([{"id": "perm-ops-a", "where": "n > 5"}]).json()["replaced"] == 1
    assert as_token("ops").delete("/v1/queries/perm-ops-a").status_code == 200
    assert load([{"id": "perm-ops-more"}]).json()["registered"] == 1


def test_two_at_a_time_do_not_pass_the_number_together(
    resting: Resting, as_token: Api, put: Callable[..., Any]
) -> None:
    as_token("ops")

    def register(number: int) -> int:
        return int(put("ops", f"perm-ops-{number}").status_code)

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(register, range(3 * MAX)))
    assert sorted(statuses) == [201] * MAX + [403] * (2 * MAX)
    assert resting.registrar().standing.count("perm-ops-", None) == MAX


def test_lists_and_views_tell_of_ones_own_alone(put: Callable[..., Any], as_token: Api, resting: Resting) -> None:
    own, foreign = resting.stream("json"), resting.stream("csv")
    assert put("all", "perm-other", where="n = 4711 AND length(s) > 4711", paused=False, topic="t").status_code == 201
    assert put("all", "perm-ops-csv", stream=foreign, labels={"a": "b"}).status_code == 201
    for number in range(3):
        assert put("ops", f"perm-ops-{number}", labels={"a": "b"}, paused=number > 0).status_code == 201
    ids = [f"perm-ops-{number}" for number in range(3)]

    def listed(token: str, **params: Any) -> list[str]:
        found, cursor = [], params.pop("cursor", None)
        while True:
            asked = {**params, **({"cursor": cursor} if cursor else {})}
            page = as_token(token).get("/v1/queries", params=asked).json()
            found += [query["id"] for query in page["queries"]]
            cursor = page["cursor"]
            if cursor is None:
                return found

    for params in (
        {},
        {"limit": 1},
        {"limit": 3},
        {"prefix": "p"},
        {"prefix": "perm-ops-"},
        {"cursor": "a"},
        {"cursor": "perm-o"},
        {"label": "a=b"},
        {"label": "a=b", "limit": 2},
        {"stream": own},
        {"stream": own, "label": "a=b", "prefix": "perm"},
    ):
        assert listed("ops", **params) == ids
    assert listed("ops", prefix="perm-ops-1") == ids[1:2]
    for params in ({"prefix": "perm-other"}, {"prefix": "q"}, {"cursor": "perm-ops-2"}, {"cursor": "zzz"}):
        assert listed("ops", **params) == []
    for stream in (foreign, "none"):
        assert "the streams of token 'ops' are" in refusal(
            as_token("ops").get("/v1/queries", params={"stream": stream})
        )
    assert listed("reader", prefix="perm-") == [*ids, "perm-ops-csv"]
    assert set(listed("stream", prefix="perm-")) == {*ids, "perm-other"}

    ops = as_token("ops")
    (stream,) = ops.get("/v1/streams").json()["streams"]
    assert (stream["name"], stream["queries"], stream["not_served"]) == (own, 3, 0)
    plans = ops.get("/v1/plan").json()["streams"]
    assert set(plans) == {own}
    assert set(plans[own]) == {"version", "dead_letters", "phases", "flow"}
    assert "metrics" in refusal(ops.get("/metrics"))
    explain = f"/v1/queries/{ids[0]}/explain"
    explained = ops.post(explain, json={"tuple": {"n": 5}})
    assert explained.json()["accepted"] is True
    assert "length(s)" not in explained.text
    assert "sequence of constructs" in refusal(ops.post(explain, json={}))
    assert "sequence of constructs" in refusal(ops.post(explain, json={"tuple": {"n": 5}, "with_sequence": True}))
    assert "column" in refusal(ops.post("/v1/check", json={"where": "s = 'x'"}))
    assert ops.post("/v1/check", json={"where": "n > 1"}).status_code == 200
    assert "the streams of token" in refusal(ops.post("/v1/check", json={"where": "n > 1", "stream": foreign}))

    limited = as_token("stream")
    assert set(limited.get("/v1/plan").json()["streams"]) == {own}
    assert "length(s)" in json.dumps(limited.get("/v1/plan").json())
    metrics = limited.get("/metrics").text
    assert own in metrics
    assert foreign not in metrics
    assert limited.post(explain, json={}).status_code == 200
    assert set(as_token("all").get("/v1/plan").json()["streams"]) == {own, foreign}


def test_changes_under_way_are_told_to_their_own_token(resting: Resting, as_token: Api) -> None:
    loads = resting.registrar().loads
    with loads.started(7, "stream"), loads.started(8, "token"):
        assert [load["queries"] for load in as_token("stream").get("/v1/loads").json()["loads"]] == [7]
        assert as_token("ops").get("/v1/loads").json()["loads"] == []
        assert len(as_token("all").get("/v1/loads").json()["loads"]) == 2


def test_every_change_is_in_the_audit_with_who_asked_for_it(
    put: Callable[..., Any], as_token: Api, audit_file: Path, resting: Resting
) -> None:
    started = len(audit_file.read_text().splitlines()) if audit_file.exists() else 0
    put("ops", "perm-ops-1")
    put("ops", "perm-ops-1")
    put("ops", 'perm\n{"who": "token"}')
    put("reader", "perm-ops-1")
    as_token("ops").put("/v1/queries/perm-ops-1", json={"labels": {"a": "b"}})
    as_token("ops").delete("/v1/queries/perm-ops-1")
    as_token("all").delete("/v1/queries/perm-ops-1")
    put("ops", "perm-ops-2", stream=resting.stream("csv"))
    line = json.dumps({"id": "perm-ops-3", "where": "n > 1", "stream": resting.stream("csv")})
    as_token("ops").post("/v1/queries", content=line, headers={"Content-Type": "application/x-ndjson"})
    content = audit_file.read_text("ascii")
    lines = [json.loads(line) for line in content.splitlines()[started:]]
    assert [(line["who"], line["verb"], line["outcome"]) for line in lines] == [
        ("ops@testclient", "register", "registered"),
        ("ops@testclient", "register", "unchanged"),
        ("ops@testclient", "register", "refused"),
        ("reader@testclient", "register", "refused"),
        ("ops@testclient", "change", "replaced"),
        ("ops@testclient", "remove", "removed"),
        ("token@testclient", "remove", "refused"),
        ("ops@testclient", "register", "refused"),
        ("ops@testclient", "register", "refused"),
    ]
    assert [lines[place]["id"] for place in (0, 7, 8)] == ["perm-ops-1", "perm-ops-2", "perm-ops-3"]
    assert lines[0]["version"] < lines[4]["version"] < lines[5]["version"]
    assert "allall" not in content
    assert "Bearer" not in content


IDS = st.sampled_from(["perm-ops-1", "perm-ops-2", "perm-ops-3", "perm-ops-taken", "perm-other", "perm-ops", "x y"])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "where": st.sampled_from(["n > 1", "n > 2", "s = 'x'", "place IS NULL", "n = 1 OR s = s", "n >"]),
    "topic": st.sampled_from(["perm.ops.x", "perm.elsewhere", "asc.perm-ops-1", "asc.perm-x"]),
    "stream": st.sampled_from(["json", "csv", "none"]),
    "labels": st.sampled_from([{}, {"a": "b"}]),
    "paused": st.just(True),
    "expires_at": st.sampled_from(["2090-01-01T00:00:00Z", "2000-01-01T00:00:00Z", None]),
}
BODIES = st.fixed_dictionaries({}, optional=FIELDS)
REQUESTS = st.one_of(
    st.tuples(st.just("POST"), IDS, BODIES),
    st.tuples(st.just("PUT"), IDS, BODIES),
    st.tuples(st.just("DELETE"), IDS, st.just({})),
    st.tuples(st.just("BULK"), IDS, st.lists(st.tuples(IDS, BODIES), min_size=1, max_size=4)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=st.lists(REQUESTS, min_size=1, max_size=8), keep_going=st.booleans(), replaces=st.booleans())
def test_whatever_a_limited_token_asks_for_others_queries_stay(
    *, as_token: Api, put: Callable[..., Any], resting: Resting, requests: list[Any], keep_going: bool, replaces: bool
) -> None:
    """And its own stay within its limits, by number, stream, topic and columns."""
    put("all", "perm-other", topic="perm.elsewhere")
    put("all", "perm-ops-taken", stream=resting.stream("csv"))
    registrar = resting.registrar()

    def is_own(query: Any) -> bool:
        return query.id.startswith("perm-ops-") and query.stream == resting.stream("json")

    others = {query.id: query for query in registrar.standing if not is_own(query)}
    ops = as_token("ops")
    ops.headers.update({} if replaces else {"If-None-Match": "*"})

    def body(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
        stream = fields.get("stream", "json")
        streams = {"stream": stream if stream == "none" else resting.stream(stream)} if "stream" in fields else {}
        return {**fields, **streams, "paused": True, **more}

    for method, query_id, asked in requests:
        if method == "BULK":
            lines = [json.dumps(body({"where": "n > 1", **fields}, id=name)) for name, fields in asked]
            headers = {"content-type": "application/x-ndjson"}
            params = {"keep_going": keep_going}
            answer = ops.post("/v1/queries", content="\n".join(lines).encode(), headers=headers, params=params)
        elif method == "POST":
            answer = ops.post("/v1/queries", json=body({"where": "n > 1", **asked}, id=query_id))
        elif method == "PUT":
            answer = ops.put(f"/v1/queries/{query_id}", json=body(asked))
        else:
            answer = ops.delete(f"/v1/queries/{query_id}")
        assert answer.status_code in (200, 201, 400, 403, 404, 412), answer.text
        assert "perm-other" not in answer.text or query_id == "perm-other" or method == "BULK"
    own = [query for query in registrar.standing if is_own(query)]
    assert {query.id: query for query in registrar.standing if not is_own(query)} == others
    assert len(own) <= MAX
    for query in own:
        assert query.topic.startswith(("perm.ops.", "asc.perm-ops-"))
        assert query.where in ("n > 1", "n > 2")
    if own:
        registrar.apply([Remove(query.id) for query in own]).raised()
