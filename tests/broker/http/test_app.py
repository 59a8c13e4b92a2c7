"""What the API refuses, by one clear line that changes nothing, and its pages; over HTTP, on a real daemon."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
FORMATS = ("json", "csv")

GOOD = {"id": "refused", "where": "n > 1"}
REFUSED = {
    "unknown column": ({"where": "nn > 1"}, "unknown column 'nn': did you mean 'n'?"),
    "type mismatch": ({"where": "place > 1"}, "place"),
    "syntax": ({"where": "n > > 1"}, "syntax error at '>'"),
    "unknown function": ({"where": "launch(n) = 1"}, "launch"),
    "non-deterministic": ({"where": "rand() > n"}, "rand"),
    "reflect": ({"where": "reflect('java.lang.System', 'exit', 0) IS NULL"}, "reflect"),
    "java_method": ({"where": "java_method('java.lang.System', 'exit', 0) IS NULL"}, "java_method"),
    "aggregate": ({"where": "max(n) > 1"}, "max"),
    "subquery": ({"where": "n IN (SELECT 1)"}, "subquery"),
    "too long": ({"where": "n > 1 AND " * 5_000 + "n > 1"}, "at most 20000 characters"),
    "too nested": ({"where": "(" * 300 + "n > 1" + ")" * 300}, "nested too deeply"),
    "NUL": ({"where": "s = 'a\0b'"}, "NUL"),
    "half a character": ({"where": "s = '\ud800'"}, "surrogate"),
    "empty": ({"where": ""}, "predicate '': write a Spark SQL"),
    "id": ({"id": "no spaces"}, "query id 'no spaces': use 1 to 200 of A-Z a-z 0-9 . _ -"),
    "long id": ({"id": "x" * 201}, "use 1 to 200"),
    "topic": ({"topic": "a/b"}, "destination topic 'a/b': use 1 to 249 of"),
    "dots": ({"topic": ".."}, "destination topic '..'"),
    "internal topic": ({"topic": "__consumer_offsets"}, "is internal to Kafka"),
    "unknown stream": ({"stream": "none"}, "unknown stream 'none': configured: "),
    "no stream of two": ({"stream": None}, "stream: name one of "),
    "label": ({"labels": {"a=b": "c"}}, "use a key without '='"),
    "label of a number": ({"labels": {"a": 1}}, "field labels.a 1: give a text"),
    "expires_at": ({"expires_at": "tomorrow"}, "expires_at 'tomorrow': write an ISO 8601 time"),
    "expires_at without a zone": ({"expires_at": "2090-01-01T00:00:00"}, "with its offset"),
    "past": ({"expires_at": "2020-01-01T00:00:00Z"}, "is in the past"),
    "unknown field": ({"wear": "n > 1"}, "unknown field 'wear': did you mean 'where'?"),
    "field of another body": ({"tuple": {}}, "unknown field 'tuple': known: id, stream, where, topic, labels, "),
    "field that is no text": ({"\ud800": 1}, "unknown field '?': known: "),
    "paused": ({"paused": "yes"}, "field paused 'yes': give true or false"),
    "argument of another type": ({"where": "array_contains(s, 1)"}, "argument 1 of array_contains is STRING"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_one_clear_line_and_changes_nothing(case: str, site: Site) -> None:
    change, said = REFUSED[case]
    before = site.client.get("/v1/plan").json()
    body = {**GOOD, "stream": site.stream("json"), "topic": site.topic("refused"), **change}
    answer = site.client.post("/v1/queries", content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert said in error["message"]
    assert "\n" not in error["message"]
    assert error["remedy"]
    assert site.client.get("/v1/queries/refused").status_code == 404
    assert site.client.get("/v1/plan").json() == before


def test_a_parameter_that_an_endpoint_does_not_have_is_refused(site: Site) -> None:
    answer = site.client.get("/v1/queries", params={"kind": "events"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("parameter 'kind': is not known: known are ")
    assert "operator" in answer.json()["error"]["message"]
    answer = site.client.get("/v1/streams", params={"a": 1})
    assert answer.json()["error"]["message"] == "parameter 'a': is not known: this endpoint has none"
    assert site.client.get("/v1/queries", params={"operator": "events", "limit": 1}).status_code == 200


@pytest.mark.parametrize("forbidden", ["source", "registry", "dead letters"])
def test_a_destination_cannot_make_a_loop(forbidden: str, site: Site) -> None:
    stream = site.stream("json")
    topic = {
        "source": site.config.streams[stream].topic,
        "registry": site.config.kafka.registry_topic,
        "dead letters": site.config.dead_letter_topic(stream),
    }[forbidden]
    answer = site.client.post("/v1/queries", json={**GOOD, "stream": stream, "topic": topic})
    assert answer.status_code == 400
    assert f"destination topic '{topic}'" in answer.json()["error"]["message"]


def test_the_source_of_another_stream_may_be_a_destination(site: Site) -> None:
    topic = site.config.streams[site.stream("csv")].topic
    site.register("chained", "n = 12345", topic)
    assert site.client.delete("/v1/queries/chained").status_code == 200


def test_streams_cannot_feed_each_other_in_a_loop(site: Site) -> None:
    json_source, csv_source = (site.config.streams[site.stream(kind)].topic for kind in ("json", "csv"))
    site.register("there", "n = 12345", csv_source)
    back = {"id": "back", "where": "n = 12345", "topic": json_source, "stream": site.stream("csv")}
    answer = site.client.post("/v1/queries", json=back)
    assert answer.status_code == 400
    assert f"leads back to the source '{csv_source}' of the query's own stream" in answer.json()["error"]["message"]
    assert site.client.delete("/v1/queries/there").status_code == 200
    there = {"id": "there", "where": "n = 12345", "topic": csv_source, "stream": site.stream("json")}
    both = site.bulk([there, back], keep_going="true")
    assert (both.json()["registered"], [error["id"] for error in both.json()["errors"]]) == (1, ["back"])
    # The one that stands in the way is replaced in the same step.
    turned = site.bulk([{**there, "topic": site.topic("there")}, back])
    assert (turned.json()["registered"], turned.json()["replaced"]) == (1, 1), turned.text
    for query_id in ("there", "back"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200


def test_a_topic_that_kafka_refuses_beside_another_is_refused(site: Site) -> None:
    name = site.topic("colliding")
    site.register("dotted", "n > 1", f"a.{name}")
    answer = site.client.post("/v1/queries", json={**GOOD, "stream": site.stream("json"), "topic": f"a_{name}"})
    assert answer.status_code == 400
    assert f"topic 'a_{name}': cannot be created: " in answer.json()["error"]["message"]
    assert site.client.get("/v1/queries/refused").status_code == 404


def test_a_topic_that_takes_no_record_without_a_key_is_refused(site: Site) -> None:
    assert site.daemon is not None
    name = site.topic("compacted")
    site.daemon.cluster.ensure_topics([name], {"cleanup.policy": "compact"})
    body = {**GOOD, "stream": site.stream("json"), "topic": name}
    answer = site.bulk([{**body, "id": "other", "topic": f"{name}-other"}, body])
    assert answer.status_code == 400
    assert f"destination topic '{name}': is compacted" in answer.json()["error"]["message"]
    # Nothing is made for what is refused.
    assert f"{name}-other" not in site.daemon.cluster.topics()


def test_a_topic_that_may_not_be_made_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    assert site.daemon is not None
    kafka = site.config.kafka.model_copy(update={"allow_topic_creation": False})
    monkeypatch.setattr(site.daemon.cluster, "_config", kafka)
    answer = site.client.post("/v1/queries", json={**GOOD, "stream": site.stream("json"), "topic": "never-made"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("missing topic 'never-made': create it")


def test_an_error_of_a_predicate_has_a_caret(site: Site) -> None:
    body = {**GOOD, "where": "n > 1 AND nn = 2", "stream": site.stream("json")}
    error = site.client.post("/v1/queries", json=body).json()["error"]
    assert error["start"] == 10
    assert error["caret"].splitlines()[1].index("^") == 10


def test_an_error_for_a_missing_stream_has_those_that_may_be_named(site: Site) -> None:
    error = site.client.post("/v1/check", json={"where": "n > 1"}).json()["error"]
    assert error["streams"] == sorted(site.config.streams)
    assert error["message"] == f"stream: name one of {', '.join(error['streams'])}"
    other = site.client.post("/v1/check", json={"where": "n > 1", "stream": "nowhere"}).json()["error"]
    assert other["streams"] is None


def test_the_limit_of_expressions(site: Site) -> None:
    limit = site.config.limits.spark_attributes
    topic = site.topic("expressions")
    lines = [
        {"id": f"expression-{i}", "where": f"n % {i + 1000} = 0", "topic": topic, "stream": site.stream("json")}
        for i in range(limit + 1)
    ]
    refused = site.bulk(lines)
    assert refused.status_code == 400
    assert f"more than {limit} expressions" in refused.json()["error"]["message"]
    assert site.client.get("/v1/queries", params={"prefix": "expression-"}).json()["queries"] == []


def test_unknown_paths_and_methods_are_one_line(site: Site) -> None:
    assert site.client.get("/v1/none").json()["error"]["subject"] == "request"
    assert site.client.patch("/v1/queries").status_code == 405
    assert site.client.get("/v1/queries", params={"limit": "many"}).status_code == 400
    assert site.client.get("/v1/queries", params={"limit": 0}).status_code == 400
    assert site.client.get("/v1/queries", params={"limit": 1_001}).status_code == 400
    assert site.client.get("/healthz").json() == {"status": "ok"}
    assert site.client.get("/readyz").json() == {"ready": True, "reason": None}
    assert "/v1/queries" in site.client.get("/openapi.json").json()["paths"]


def test_the_default_topic_and_the_pages(site: Site) -> None:
    for i in range(3):
        body = {"id": f"page-{i}", "where": "n = 1", "stream": site.stream("json")}
        answer = site.client.post("/v1/queries", json=body)
        assert answer.status_code == 201
        assert answer.json()["query"]["topic"] == f"asc.page-{i}"
    first = site.client.get("/v1/queries", params={"prefix": "page-", "limit": 2}).json()
    assert [query["id"] for query in first["queries"]] == ["page-0", "page-1"]
    unknown = site.client.get("/v1/queries", params={"stream": "no-such"})
    assert (unknown.status_code, unknown.json()["error"]["subject"]) == (400, "unknown stream")
    rest = site.client.get("/v1/queries", params={"prefix": "page-", "limit": 2, "cursor": first["cursor"]}).json()
    assert ([query["id"] for query in rest["queries"]], rest["cursor"]) == (["page-2"], None)


def test_each_body_knows_its_own_fields(site: Site) -> None:
    for path, body, said in (
        ("/v1/check", {"where": "n > 1", "tuple": {}}, "unknown field 'tuple': known: stream, where, join, operator"),
        ("/v1/check", {"wher": "n > 1"}, "unknown field 'wher': did you mean 'where'?"),
        ("/v1/queries/absent/explain", {"tupel": {}}, "unknown field 'tupel': did you mean 'tuple'?"),
        ("/v1/queries/absent/explain", {"labels": {}}, "unknown field 'labels': known: tuple, with_sequence"),
    ):
        answer = site.client.post(path, json=body)
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, said)


def test_every_request_that_is_answered_is_documented_and_no_other(site: Site) -> None:
    named = re.compile(r"`(GET|POST|PUT|DELETE) (/[^`? ]*)")
    text = (Path(__file__).parents[3] / "docs" / "http-api.md").read_text(encoding="utf-8")
    documented = {(verb, re.sub(r"{\w+}", "{}", path)) for verb, path in named.findall(text)}
    paths = site.client.get("/openapi.json").json()["paths"]
    answered = {(verb.upper(), re.sub(r"{\w+}", "{}", path)) for path, verbs in paths.items() for verb in verbs}
    assert documented == answered


def test_what_is_answered_of_a_query_can_be_sent_again(site: Site) -> None:
    made = site.register("again", "n > 1", labels={"team": "ops"}, expires_at="2099-01-31T12:00:00+01:00")
    assert (made["change"], made["previous"]) == ("registered", None)
    shown = site.client.get("/v1/queries/again").json()
    for again in (site.client.put("/v1/queries/again", json=shown), site.client.post("/v1/queries", json=shown)):
        assert (again.status_code, again.json()["change"]) == (200, "unchanged")
    assert site.client.get("/v1/queries/again").json() == shown
    changed = site.client.put("/v1/queries/again", json={**shown, "where": "n > 2", "version": 0})
    assert (changed.status_code, changed.json()["change"]) == (200, "replaced")
    assert changed.json()["previous"] == {name: shown[name] for name in ("stream", "where", "topic")}
    assert changed.json()["version"] > shown["version"]
    answer = site.client.post("/v1/queries", json={**shown, "effective_offsets": {}})
    assert answer.json()["error"]["subject"] == "unknown field"
    assert site.client.delete("/v1/queries/again").status_code == 200


def test_if_none_match_replaces_nothing(site: Site) -> None:
    body = {"id": "once", "where": "n > 1", "stream": site.stream("json"), "topic": site.topic("once")}
    condition = {"If-None-Match": "*"}
    assert site.client.put("/v1/queries/once", json=body, headers=condition).status_code == 201
    other = {**body, "where": "n > 2"}
    for answer in (
        site.client.put("/v1/queries/once", json=other, headers=condition),
        site.client.put("/v1/queries/once", json={"paused": True}, headers=condition),
        site.client.post("/v1/queries", json=other, headers=condition),
    ):
        assert answer.status_code == 412
        said = "query 'once': is registered already, and is not to be replaced: "
        remedy = "take another id, or leave out --no-replace (If-None-Match)"
        assert answer.json()["error"]["message"] == said + remedy
    assert site.client.get("/v1/queries/once").json()["where"] == "n > 1"
    tagged = site.client.put("/v1/queries/once", json=other, headers={"If-None-Match": '"7"'})
    assert (tagged.status_code, tagged.json()["error"]["subject"]) == (400, "header If-None-Match")
    missing = site.client.put("/v1/queries/absent", json={"paused": True}, headers=condition)
    assert missing.status_code == 404
    assert site.client.delete("/v1/queries/once").status_code == 200


def test_a_key_with_a_slash_is_removed_by_it(site: Site) -> None:
    answer = site.client.delete("/v1/queries/a%2Fb")
    assert (answer.status_code, answer.json()["error"]["value"]) == (404, "a/b")
    assert set(site.client.get("/openapi.json").json()["paths"]["/v1/queries/{query_id}"]) == {"get", "put", "delete"}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["id", "where", "stream", "topic", "labels", "paused", "expires_at", "x"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(FIELDS, JSON_VALUES, max_size=7).map(lambda b: json.dumps(b).encode()) | st.binary(max_size=80)
)
def test_any_body_is_answered_without_a_failure(body: bytes, site: Site) -> None:
    for path, method in (("/v1/queries", "POST"), ("/v1/check", "POST"), ("/v1/queries/absent", "PUT")):
        answer = site.client.request(method, path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 404), (path, body, answer.text)
        assert "\n" not in answer.json()["error"]["message"]
