"""Traces over the API: tuples and records of a real topic, and what a limited token is told of either."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.config.sections import ApiConfig
from broker.http.app import create_app

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

QUERIES = {"tr-own-late": "n > 60", "tr-other-oslo": "s = 'Oslo' AND d < 5", "tr-own-head": "_headers['h'] = 'x'"}


@pytest.fixture(scope="module", autouse=True)
def registered(resting: Resting) -> Iterator[None]:
    lines = [
        json.dumps({"id": name, "where": where, "stream": resting.stream("json")}) for name, where in QUERIES.items()
    ]
    lines.append(json.dumps({"id": "tr-own-csv", "where": "n > 1", "stream": resting.stream("csv")}))
    from broker.http.bulk import load_lines
    from broker.queries.change import Remove

    load_lines(resting.permitted, "\n".join(lines).encode(), keep_going=False)
    yield
    # Other modules of the run have the same registry, and look at all of a stream.
    left = [Remove(query.id) for query in resting.registrar().standing if query.id.startswith("tr-")]
    resting.permitted.apply(left, "remove").raised()


Send = Callable[..., str]


@pytest.fixture(scope="module")
def send(resting: Resting, send_to: Callable[..., str]) -> Send:
    """Sends a record to a stream's topic; its place."""

    def sent(value: bytes | None, kind: str = "json", **more: Any) -> str:
        return send_to(resting.config.streams[resting.stream(kind)].topic, value, **more)

    return sent


@pytest.fixture(scope="module")
def as_token(resting: Resting) -> Iterator[Callable[[str], TestClient]]:
    """The API with the token of a name: all; ids (own ids alone); column (reads n alone); column-ids (both)."""
    scopes = [
        Scope("ids", id_prefix="tr-own-"),
        Scope("column", columns=frozenset({("n",)})),
        Scope("column-ids", id_prefix="tr-", columns=frozenset({("n",)})),
        Scope("csv", streams=frozenset({resting.stream("csv")})),
    ]
    access = Access("all" * 10, {digest(scope.name): scope for scope in scopes})
    with TestClient(create_app(resting, access, ApiConfig(requests_per_s=1e6), Audit())) as client:

        def of(name: str) -> TestClient:
            client.headers = {"Authorization": f"Bearer {'all' * 10 if name == 'all' else name}"}
            return client

        yield of


def trace(client: TestClient, **body: Any) -> Any:
    answer = client.post("/v1/trace", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, status: int, **body: Any) -> str:
    answer = client.post("/v1/trace", json=body)
    assert answer.status_code == status, answer.text
    message = answer.json()["error"]["message"]
    assert "\n" not in message
    return str(message)


def constraints(verdict: Any) -> Sequence[tuple[str, str, bool]]:
    return [(term["constraint"], term["value"], term["holds"]) for one in verdict["conjuncts"] for term in one["terms"]]


def test_a_tuple_through_the_plan(as_token: Callable[[str], TestClient], resting: Resting) -> None:
    stream = resting.stream("json")
    found = trace(as_token("all"), stream=stream, tuple={"n": 75, "s": "Oslo", "d": 9.0, "nn": 1}, query="tr-own-late")
    assert (found["stream"], found["source"], found["record"], found["dead_letter"]) == (stream, None, None, None)
    assert "tr-own-late" in found["trace"]["accepted"]
    assert "tr-other-oslo" not in found["trace"]["accepted"]
    assert found["verdict"]["accepted"] is True
    assert constraints(found["verdict"]) == [("n > 60", "n = 75", True)]
    assert found["version"] == resting.streams()[stream].running.plan.version
    assert "field 'nn': not in the stream's schema, excluded: did you mean 'n'?" in found["warnings"]
    fallen = [
        (one["query"], one["term"])
        for block in found["trace"]["blocks_shown"]
        for visit in block["visits"]
        for one in visit["eliminated"]["examples"]
    ]
    assert ("tr-other-oslo", "d < 5.0") in [(query, term.replace("5e0", "5.0")) for query, term in fallen]


def test_a_record_is_decoded_as_the_stream_does(
    as_token: Callable[[str], TestClient], resting: Resting, send: Send
) -> None:
    value = '{"n": 61, "s": "Zürich", "d": "NaN"}'.encode()
    source = send(value, key=b"k1", headers=[("h", b"x"), ("raw", b"\xff")], timestamp_ms=1_500_000_000_123)
    found = trace(as_token("all"), source=source, query="tr-own-head")
    assert constraints(found["verdict"]) == [("_headers['h'] = 'x'", "_headers['h'] = 'x'", True)]
    assert {"tr-own-late", "tr-own-head"} <= set(found["trace"]["accepted"])
    record = found["record"]
    assert record["key"] == {"text": "k1", "truncated": False}
    assert record["value"] == {"text": value.decode(), "truncated": False}
    assert record["headers"] == [
        {"name": "h", "text": "x", "truncated": False},
        {"name": "raw", "base64": "/w==", "truncated": False},
    ]
    assert record["timestamp_ms"] == 1_500_000_000_123
    (warning,) = found["warnings"]
    assert warning.startswith(f"{source} is not read yet, and will be judged by the plan of then: it is followed")
    assert f"version {found['version']}, which runs now" in warning


def test_a_csv_record_and_its_query_s_own_stream(as_token: Callable[[str], TestClient], send: Send) -> None:
    found = trace(as_token("all"), source=send(b"7,x", "csv"), query="tr-own-csv")
    assert constraints(found["verdict"]) == [("n > 1", "n = 7", True)]


def test_the_record_s_own_attributes(as_token: Callable[[str], TestClient], resting: Resting, send: Send) -> None:
    source = send(b'{"n": 1}', key=b"the key", timestamp_ms=1_500_000_000_123)
    own = {
        "id": "tr-own-attributes",
        "stream": resting.stream("json"),
        "where": f"_key = 'the key' AND _partition = 0 AND _offset = {source.rpartition('-')[2]} AND _headers IS NULL "
        "AND _timestamp = TIMESTAMP '2017-07-14 02:40:00.123Z'",
    }
    client = as_token("all")
    assert client.post("/v1/queries", json=own).status_code == 201
    found = trace(client, source=source, query="tr-own-attributes")
    assert found["verdict"]["accepted"] is True, constraints(found["verdict"])
    client.delete("/v1/queries/tr-own-attributes")


def test_what_could_not_be_evaluated_is_said(
    as_token: Callable[[str], TestClient], resting: Resting, send: Send
) -> None:
    client = as_token("all")
    own = {"id": "tr-own-error", "stream": resting.stream("json"), "where": "n / (n - 1) > 1"}
    assert client.post("/v1/queries", json=own).status_code == 201
    source = send(b'{"n": 1}')
    said = "'n / (n - 1)' could not be evaluated, and counts as NULL"
    for name in ("all", "column"):
        found = trace(as_token(name), source=source, query="tr-own-error")
        assert found["verdict"]["accepted"] is False
        assert said in found["warnings"]
    assert said in trace(client, tuple={"n": 1}, query="tr-own-error")["warnings"]
    assert said in client.post("/v1/queries/tr-own-error/explain", json={"tuple": {"n": 1}}).json()["warnings"]
    assert said not in trace(client, tuple={"n": None}, query="tr-own-error")["warnings"]
    as_token("all").delete("/v1/queries/tr-own-error")


@pytest.mark.parametrize(
    ("value", "said"),
    [(b"{", "value is not a JSON record"), (None, "value is null"), (b'{"n": "x"}', "column 'n' holds no INT")],
    ids=["malformed", "null", "of another type"],
)
def test_a_record_that_cannot_be_decoded_has_a_reason(
    as_token: Callable[[str], TestClient], resting: Resting, send: Send, value: bytes | None, said: str
) -> None:
    source = send(value, key=b"k")
    found = trace(as_token("all"), source=source)
    assert said in found["dead_letter"]["reason"]
    assert found["dead_letter"]["topic"] == resting.config.dead_letter_topic(resting.stream("json"))
    assert (found["trace"], found["verdict"]) == (None, None)
    # Whoever may name some columns alone is not told which of the others is at fault.
    limited = trace(as_token("column"), source=source, query="tr-own-late")
    assert (limited["dead_letter"]["column"], "column" in limited["dead_letter"]["reason"]) == (None, False)


def test_what_is_refused(as_token: Callable[[str], TestClient], resting: Resting, send: Send) -> None:
    client, stream = as_token("all"), resting.stream("json")
    topic = resting.config.streams[stream].topic
    source = send(b'{"n": 1}')
    end = int(source.rpartition("-")[2]) + 1
    letters = resting.config.dead_letter_topic(stream)
    assert "give a tuple or a source" in refused(client, 400, stream=stream)
    assert "give a tuple or a source" in refused(client, 400, stream=stream, tuple={}, source=source)
    assert "write TOPIC-PARTITION-OFFSET" in refused(client, 400, source="flights")
    assert "is not there yet" in refused(client, 404, source=f"{topic}-0-{end}")
    assert "has partitions [0]" in refused(client, 404, source=f"{topic}-5-0")
    assert f"is not of stream '{stream}'" in refused(client, 400, stream=stream, source="elsewhere-0-0")
    assert "is a dead letter: name the record" in refused(client, 400, stream=stream, source=f"{letters}-0-0")
    assert "is of no stream: they read " in refused(client, 400, source="elsewhere-0-0")
    assert "unknown query 'nobody'" in refused(client, 404, stream=stream, tuple={}, query="nobody")
    wrong = refused(client, 400, stream=resting.stream("csv"), tuple={}, query="tr-own-late")
    assert f"is of stream '{stream}'" in wrong
    assert "max_blocks" in refused(client, 400, stream=stream, tuple={}, max_blocks=17)
    assert "max_ids" in refused(client, 400, stream=stream, tuple={}, max_ids=-1)
    assert "unknown field 'lists'" in refused(client, 400, stream=stream, tuple={}, lists=1)
    assert "give one of 1048576 bytes at most" in refused(client, 400, stream=stream, tuple={"s": "x" * (1 << 20)})


def test_a_record_is_followed_that_is_as_long_as_the_limit_and_no_longer(
    as_token: Callable[[str], TestClient], send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = send(b'{"n": 1}')
    monkeypatch.setattr("broker.http.traces._RECORD_BYTES", 8)
    assert as_token("all").post("/v1/trace", json={"source": source}).status_code == 200
    monkeypatch.setattr("broker.http.traces._RECORD_BYTES", 7)
    assert "has 8 bytes: 7 at most are followed" in refused(as_token("all"), 400, source=source)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (rb'{"s": "\ud800a", "\udc00": 1, "n": 75}', {"s": "?a", "?": 1, "n": 75}),
        (rb'{"s": "\u0000\u001b", "n": 75}', {"s": "\0\x1b", "n": 75}),
        (rb'{"d": NaN, "n": 75}', {"d": None, "n": 75}),
    ],
    ids=["half a pair", "control characters", "no number"],
)
def test_a_tuple_is_told_as_it_is_followed(
    as_token: Callable[[str], TestClient], resting: Resting, body: bytes, shown: dict[str, Any]
) -> None:
    client, headers = as_token("all"), {"Content-Type": "application/json"}
    stream = json.dumps(resting.stream("json")).encode()
    answer = client.post("/v1/trace", content=b'{"stream": %s, "tuple": %s}' % (stream, body), headers=headers)
    assert (answer.status_code, answer.json()["tuple"]) == (200, shown)
    explained = client.post("/v1/queries/tr-own-late/explain", content=b'{"tuple": %s}' % body, headers=headers)
    assert (explained.status_code, explained.json()["accepted"]) == (200, True)


def test_one_who_sees_own_queries_is_told_the_terms_of_those_alone(
    as_token: Callable[[str], TestClient], resting: Resting, send: Send
) -> None:
    client, stream, source = as_token("ids"), resting.stream("json"), send(b'{"n": 75, "s": "Oslo", "d": 1}')
    assert "name a query" in refused(client, 403, stream=stream, tuple={"n": 1})
    assert "name a query" in refused(client, 403, source=source)
    for given in ({"tuple": {"n": 75, "s": "Oslo", "d": 1}}, {"source": source}):
        found = trace(client, query="tr-own-late", **given)
        assert (found["trace"], found["verdict"]["accepted"]) == (None, True)
        assert "Oslo" not in json.dumps({**found, "record": None, "tuple": None})
        assert "tr-other" not in json.dumps(found)
        assert "begin with 'tr-own-'" in refused(client, 403, query="tr-other-oslo", **given)


def test_one_who_may_name_some_columns_reads_no_others(
    as_token: Callable[[str], TestClient], resting: Resting, send: Send
) -> None:
    source = send(b'{"n": 75, "s": "secret", "d": 1}', key=b"secret", headers=[("h", b"secret")])
    for name in ("column", "column-ids"):
        client = as_token(name)
        assert "name a query" in refused(client, 403, source=source)
        found = trace(client, source=source, query="tr-own-late")
        assert constraints(found["verdict"]) == [("n > 60", "n = 75", True)]
        assert (found["trace"], found["record"]) == (None, None)
        assert "secret" not in json.dumps(found)
        for other in ("tr-other-oslo", "tr-own-head"):
            assert "may name 'n'" in refused(client, 403, source=source, query=other)
    # Of a tuple that it gives itself nothing is read.
    whole = trace(as_token("column"), stream=resting.stream("json"), tuple={"n": 75, "s": "mine"})
    assert whole["trace"] is not None


def test_a_stream_that_is_not_seen_is_not_read(
    as_token: Callable[[str], TestClient], resting: Resting, send: Send
) -> None:
    client, stream, source = as_token("csv"), resting.stream("json"), send(b'{"n": 75}')
    assert "the streams of token 'csv' are" in refused(client, 403, stream=stream, source=source)
    # Without a name it is the only stream that is seen, of which that topic is none.
    assert f"is not of stream '{resting.stream('csv')}'" in refused(client, 400, source=source)
    assert "unknown query" in refused(client, 404, source=source, query="tr-own-late")


def test_what_is_shown_of_a_record_is_bounded(as_token: Callable[[str], TestClient], send: Send) -> None:
    value = json.dumps({"n": 1, "s": "é" * 20_000}, ensure_ascii=False).encode()
    found = trace(as_token("all"), source=send(value, headers=[(f"h{i}", b"") for i in range(60)]))
    record = found["record"]
    assert record["value"]["truncated"] is True
    assert len(record["value"]["text"].encode()) <= 16 << 10
    assert (len(record["headers"]), record["header_count"]) == (50, 60)
    assert len(json.dumps(found)) < 200_000
