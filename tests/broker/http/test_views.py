"""What the API shows of predicates, streams and plans, and that looking changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from asc.errors import AscError
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.access.scope import Scope
from broker.errors import NotThereError
from broker.http.blocks import described_block
from broker.http.bulk import load_lines
from broker.http.views import checked, described_plans, described_streams, explained, shown
from broker.queries.query import RegisteredQuery
from broker.stream.analyser import StreamAnalyser
from broker.stream.record_values import RecordValues

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def registered(resting: Resting, query_id: str, where: str, stream: str = "json", **more: Any) -> RegisteredQuery:
    line = json.dumps({"id": query_id, "where": where, "stream": resting.stream(stream), **more}).encode()
    load_lines(resting.permitted, line, keep_going=False)
    return resting.registrar().standing.get(query_id)


def test_check_registers_nothing(api: TestClient, resting: Resting) -> None:
    version = resting.registrar().standing.version
    answer = api.post("/v1/check", json={"stream": resting.stream("json"), "where": "n > 1 AND lower(s) = 'x'"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [attribute["spark"] for attribute in found["p_attributes"]] == [False, True]
    assert (found["match_all"], found["contradiction"], len(found["conjuncts"])) == (False, False, 1)
    nothing = api.post("/v1/check", json={"stream": resting.stream("json"), "where": "n > 1 AND n < 1"}).json()
    assert nothing["contradiction"] is True
    assert nothing["warnings"]
    assert resting.registrar().standing.version == version


@pytest.mark.parametrize("where", ["", "nn > 1", "n >", "s > place", "date_format(t, 'yyyy-bbb') = 'x' AND n > 1"])
def test_check_refuses_what_a_registration_refuses(resting: Resting, where: str) -> None:
    with pytest.raises(AscError) as of_check:
        checked(resting.permitted, resting.streams()[resting.stream("json")], where)
    with pytest.raises(AscError) as of_load:
        registered(resting, "checked", where)
    assert str(of_check.value) in str(of_load.value)


def test_streams_and_plan_are_shown(api: TestClient, resting: Resting) -> None:
    registered(resting, "in-plan", "n = 777")
    streams = api.get("/v1/streams").json()
    assert streams["kafka"]["bootstrap_servers"] == resting.bootstrap_servers()
    assert {stream["format"] for stream in streams["streams"]} == {"json", "csv"}
    plan = api.get("/v1/plan").json()["streams"][resting.stream("json")]
    assert plan["queries"] >= 1
    assert "n" in [attribute["sql"] for attribute in plan["p_attributes"]]


def test_a_stream_is_described_by_its_configuration_and_its_queries_paused_ones_included(resting: Resting) -> None:
    name = resting.stream("csv")
    before = {stream["name"]: stream["queries"] for stream in described_streams(resting.permitted)}
    registered(resting, "counted", "n = 1", "csv")
    registered(resting, "counted-asleep", "n = 1", "csv", paused=True)
    found = {stream["name"]: stream for stream in described_streams(resting.permitted)}
    assert list(found) == sorted(resting.config.streams)
    assert found[name] == {
        "name": name,
        "topic": resting.config.streams[name].topic,
        "format": "csv",
        "schema": "n INT, s STRING",
        "options": {},
        "time_zone": "UTC",
        "dead_letter_topic": f"{name}.dead-letter",
        "queries": before[name] + 2,
        "not_served": 0,
    }


def test_a_plan_is_described_as_it_runs(resting: Resting) -> None:
    registered(resting, "all", "true", "csv")
    registered(resting, "two", "n BETWEEN 4 AND 5 OR length(s) > 3", "csv")
    name = resting.stream("csv")
    found, plan = described_plans(resting.permitted)[name], resting.streams()[name].running.plan
    assert (found["version"], found["queries"], found["match_all"]) == (plan.version, len(plan), len(plan.match_all))
    assert found["match_all"] >= 1
    attributes = {attribute["sql"]: attribute for attribute in found["p_attributes"]}
    assert attributes["n"] == {"sql": "n", "type": "int32", "spark": False}
    assert attributes["length(s)"] == {"sql": "length(s)", "type": "int32", "spark": True}
    assert found["conjuncts"] == sum(block["conjuncts"] for block in found["blocks"])
    for block in found["blocks"]:
        assert set(block["sequence"]) <= set(attributes)
        assert len(set(block["sequence"])) == len(block["sequence"])
    view = resting.streams()[name].monitor.view()
    assert found["monitor"] == {**view, "blocks": [None] * len(found["blocks"])}
    # All of it is JSON.
    assert json.loads(json.dumps(found)) == found


def test_blocks_that_list_conjuncts_by_position_are_told(resting: Resting) -> None:
    where = "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(n, n))"
    registered(resting, "fence", where, "csv")
    registered(resting, "fence-low", f"{where} AND n < 3", "csv")
    found = described_plans(resting.permitted)[resting.stream("csv")]
    (listed,) = found["listed_by_position"]
    assert (listed["position"], listed["conjuncts"], listed["shapes"]) == ("ST_Point(n, n)", 2, 1)
    assert 0 < listed["bytes"] < found["bytes"]
    with pytest.raises(NotThereError, match="lists its conjuncts by the shapes"):
        described_block(resting.permitted, resting.streams()[resting.stream("csv")], len(found["blocks"]))


def test_blocks_that_list_conjuncts_by_value_are_told(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.streams()[resting.stream("csv")]
    schema = Schema.from_ddl("n INT")
    queries = [Query(f"q{number}", normalise(f"n = {number // 2}", schema)) for number in range(12)]
    plan = compile_plan(queries, CompileOptions(listed_conjuncts=1))
    monkeypatch.setattr(stream.running, "_plan", plan)
    found = described_plans(resting.permitted)[resting.stream("csv")]
    (listed,) = found["listed_by_value"]
    assert (listed["attribute"], listed["conjuncts"], listed["values"]) == ("n", 12, 6)
    assert found["listed_by_position"] == []
    with pytest.raises(NotThereError, match="lists its conjuncts by the values"):
        described_block(resting.permitted, stream, 0)


def test_a_query_is_shown_with_the_records_that_could_not_be_evaluated(resting: Resting) -> None:
    query = registered(resting, "failing", "1 / n > 1")
    assert shown(resting.permitted, query) == {
        **query.plain(),
        "served": True,
        "reason": None,
        "pending_shapes": [],
        "shapes": None,
        "excluded_shapes": None,
        "delivered": 0,
        "evaluation_errors": 0,
        "kept": None,
    }
    errors = resting.streams()[query.stream].evaluation_errors
    errors.count(query.version, {"failing": 3})
    assert shown(resting.permitted, query)["evaluation_errors"] == 3
    # Its stream is not configured any more.
    assert shown(resting.within(Scope("gone", streams=frozenset())), query)["evaluation_errors"] == 0


def test_explain_follows_a_tuple(api: TestClient, resting: Resting) -> None:
    registered(resting, "explained", "n > 1000 AND s = 'x'")
    plain = api.post("/v1/queries/explained/explain", json={})
    assert plain.status_code == 200, plain.text
    assert plain.json()["text"]
    assert plain.json()["accepted"] is None
    (conjunct,) = plain.json()["conjuncts"]
    terms = [term["constraint"] for term in conjunct]
    assert (sorted(terms), plain.json()["block"]) == (["n > 1000", "s = 'x'"], 0)
    plan = api.get("/v1/plan").json()["streams"][resting.stream("json")]
    assert plain.json()["version"] == plan["version"]
    followed = api.post("/v1/queries/explained/explain", json={"tuple": {"n": 1001, "s": "x"}})
    assert followed.status_code == 200, followed.text
    assert followed.json()["accepted"] is True
    assert followed.json()["text"].splitlines() == [
        "accepted",
        "  holds  n > 1000   (n = 1001)",
        "  holds  s = 'x'   (s = 'x')",
    ]
    refused = api.post("/v1/queries/explained/explain", json={"tuple": {"n": 7}, "with_sequence": True}).json()
    assert refused["accepted"] is False
    assert refused["text"].startswith("not accepted because n > 1000 fails (n = 7)\n")
    assert plain.json()["text"] in refused["text"]
    assert api.post("/v1/queries/explained/explain", json={"tuple": {"n": "x"}}).status_code == 400


def test_a_tuple_costs_no_more_than_a_record(api: TestClient, resting: Resting) -> None:
    registered(resting, "explained-large", "n > 1000 AND lower(s) = 'x'")
    path = "/v1/queries/explained-large/explain"
    answer = api.post(path, json={"tuple": {"n": 2000, "s": "x" * (1 << 20)}})
    assert answer.status_code == 400
    assert "give one of 1048576 bytes at most" in answer.json()["error"]["message"]
    many = {**{f"field-{i}": i for i in range(20_000)}, "n": 2000, "s": "X"}
    found = api.post(path, json={"tuple": many}).json()
    assert found["accepted"] is True
    assert len(found["warnings"]) == 20


def test_what_another_query_computes_is_not_looked_at(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    registered(resting, "explained-other", "length(s) > 5 AND s LIKE '%z%'")
    query = registered(resting, "explained-own", "upper(s) = 'ABC' OR s LIKE '%b%c%' OR n = 7")
    asked: list[str] = []
    values = StreamAnalyser.tuple_values

    def noted(analyser: StreamAnalyser, text: bytes, attributes: Any) -> RecordValues:
        asked.extend(attribute.sql for attribute in attributes)
        return values(analyser, text, attributes)

    monkeypatch.setattr(StreamAnalyser, "tuple_values", noted)
    for tuple_, accepted in (({"s": "abc"}, True), ({"s": "xbxcx"}, True), ({"n": 7}, True), ({"s": "zzzzzz"}, False)):
        assert explained(resting.permitted, query.id, tuple_)["accepted"] is accepted
    assert "length(s)" not in asked
    assert {"upper(s)", "n", "s"} == set(asked)
    explained(resting.permitted, query.id, {"s": "abc"}, whole=True)
    assert "length(s)" in asked


def test_a_paused_query_is_in_no_plan_to_explain(api: TestClient, resting: Resting) -> None:
    registered(resting, "explained-asleep", "n > 1000", paused=True)
    answer = api.post("/v1/queries/explained-asleep/explain", json={})
    assert answer.status_code == 400
    assert "is paused, so no plan holds it: resume it first" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("where", "warned"),
    [
        ("_KEY IS NULL AND n > 1", ["'_key' is followed as NULL"]),
        ("_offset > 1 AND `_Partition` = 0", ["'_partition' is followed as 0", "'_offset' is followed as 0"]),
        ("_topic = 'x'", []),
        ("s = '_key' OR s = \"_offset\" OR s LIKE '%it\\'s _key%'", []),
    ],
)
def test_what_a_tuple_has_no_record_for_is_warned_of(resting: Resting, where: str, warned: list[str]) -> None:
    query = registered(resting, "warned", where)
    found = explained(resting.permitted, query.id, {"n": 2, "s": "x", "more": 1})
    excluded, *others = found["warnings"]
    assert excluded == "field 'more': not in the stream's schema, excluded"
    assert [warning.partition(":")[0] for warning in others] == warned
    assert explained(resting.permitted, query.id, None)["warnings"] == []


def test_what_was_measured_is_told_of_the_block_that_it_was_measured_of(
    resting: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(resting, "measured", "n BETWEEN 4 AND 5", "csv")
    name = resting.stream("csv")
    stream = resting.streams()[name]
    (block,) = stream.running.plan.blocks
    own = {"dropping_ratio": 0.5, "cost": 1.0}
    # The monitor has not seen by now that a block before this one is gone.
    view = {**stream.monitor.view(), "blocks": [{"dropping_ratio": 0.9, "cost": 9.0}, own]}
    monkeypatch.setattr(stream.monitor, "view", lambda: view)
    monkeypatch.setattr(stream.monitor, "measured", lambda one: {**own, "constructs": []} if one is block else None)
    assert described_plans(resting.permitted)[name]["monitor"]["blocks"] == [own]
