"""Bulk load: one query a line, all of them or none, or those that are valid; each refused line by its number."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from broker.errors import BulkRefusedError, QueryError
from broker.http.bulk import load_lines
from broker.queries.change import Put
from broker.queries.load_progress import STEPS, LoadProgress, Step
from broker.queries.validated_query import ValidatedQuery
from broker.queries.validation import Validator

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient
    from httpx import Response

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def content_of(lines: Sequence[Any]) -> bytes:
    """Queries as dictionaries, or lines as they are."""
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()


def bulk(api: TestClient, lines: Sequence[Any], **params: str) -> Response:
    headers = {"content-type": "application/x-ndjson; charset=utf-8"}
    return api.post("/v1/queries", content=content_of(lines), headers=headers, params=params)


def test_a_bulk_load_is_all_or_nothing(api: TestClient, resting: Resting) -> None:
    stream = resting.stream("json")
    good = [{"id": f"bulk-{i}", "where": f"n = {i}", "topic": "bulk", "stream": stream} for i in range(200)]
    bad = {"id": "bulk-bad", "where": "nn = 1", "topic": "bulk", "stream": stream}
    refused = bulk(api, [good[0], "", bad, "{", good[0], *good[1:]])
    assert refused.status_code == 400
    assert [(error["line"], error["id"]) for error in refused.json()["errors"]] == [
        (3, "bulk-bad"),
        (4, None),
        (5, "bulk-0"),
    ]
    assert "duplicate id 'bulk-0': line 1 has it already" in refused.json()["errors"][2]["error"]["message"]
    assert "line 3: unknown column 'nn'" in refused.json()["error"]["message"]
    assert api.get("/v1/queries/bulk-0").status_code == 404
    loaded = bulk(api, good)
    assert loaded.status_code == 200, loaded.text
    assert (loaded.json()["registered"], loaded.json()["errors"]) == (200, [])
    assert api.get("/v1/queries/bulk-199").json()["version"] <= loaded.json()["version"]


def test_what_is_no_list_of_queries_is_not_read_to_its_end(api: TestClient, resting: Resting) -> None:
    long = {"id": "long", "where": "n = 1", "stream": resting.stream("json"), "labels": {"k": "v" * (2 << 20)}}
    (error,) = bulk(api, [long]).json()["errors"]
    assert error["error"]["message"].endswith("is too long for a query: 2097152 bytes at most")
    refused = bulk(api, ["1"] * 20_000, keep_going="true")
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "bulk load 'line 10001': is the 10,001th that is no query"


def test_a_bulk_load_can_keep_going(api: TestClient, resting: Resting) -> None:
    stream, topic = resting.stream("json"), "going"
    lines = [
        {"id": "going-1", "where": "n = 1", "topic": topic, "stream": stream},
        {"id": "going-2", "where": "n = ", "topic": topic, "stream": stream},
        {"id": "going 3", "where": "n = 3", "topic": topic, "stream": stream},
        {"id": "going-4", "where": "n = 4", "topic": topic, "stream": "none"},
        {"id": "going-5", "where": "n > 5 OR s RLIKE 'a|b'", "topic": topic, "stream": stream},
    ]
    answer = bulk(api, lines, keep_going="true")
    assert answer.status_code == 200, answer.text
    assert answer.json()["registered"] == 2
    assert [error["line"] for error in answer.json()["errors"]] == [2, 3, 4]
    assert api.get("/v1/queries/going-5").status_code == 200
    assert api.get("/v1/queries/going-2").status_code == 404


def test_a_bulk_load_of_nothing_valid_is_refused(api: TestClient) -> None:
    assert bulk(api, []).status_code == 400
    assert bulk(api, ["{}"], keep_going="true").status_code == 400


def test_new_replaced_and_unchanged_queries_are_counted(resting: Resting) -> None:
    def load(lines: Sequence[dict[str, Any]], **how: bool) -> dict[str, Any]:
        return load_lines(resting.permitted, content_of(lines), **{"keep_going": False, **how})

    lines = [{"id": f"count-{i}", "where": f"n = {i}", "stream": resting.stream("json")} for i in range(3)]
    counts = ("registered", "replaced", "unchanged")
    first = load(lines[:2])
    assert [first[count] for count in counts] == [2, 0, 0]
    again = load(lines[:2])
    assert [again[count] for count in counts] == [0, 0, 2]
    # Nothing is written for what stands.
    assert again["version"] == first["version"] == resting.registrar().standing.version
    assert again["effective_offsets"] == first["effective_offsets"]
    mixed = load([lines[0], {**lines[1], "where": "n > 1"}, lines[2]])
    assert [mixed[count] for count in counts] == [1, 1, 1]
    assert resting.registrar().standing.get("count-0").version < mixed["version"]
    with pytest.raises(BulkRefusedError, match="line 1: query 'count-2': is registered already"):
        load([lines[2], {**lines[2], "id": "count-3"}], replaces=False)
    kept = load([lines[2], {**lines[2], "id": "count-3"}], replaces=False, keep_going=True)
    assert ([kept[count] for count in counts], [error["line"] for error in kept["errors"]]) == ([1, 0, 0], [1])


def test_lines_remove_in_the_step_in_which_others_register(api: TestClient, resting: Resting) -> None:
    stream = resting.stream("json")
    lines: list[dict[str, Any]] = [{"id": f"step-{i}", "where": f"n = {i}", "stream": stream} for i in range(3)]
    assert bulk(api, lines[:2]).json()["registered"] == 2
    changed = {**lines[0], "where": "n > 0"}
    refused = bulk(api, [changed, {"remove": "step-1"}, {"remove": "step-9"}, {"remove": "step-0"}, {"remove": 7}])
    assert [(error["line"], error["id"]) for error in refused.json()["errors"]] == [
        (3, "step-9"),
        (4, "step-0"),
        (5, None),
    ]
    assert [error["error"]["subject"] for error in refused.json()["errors"]] == [
        "unknown query",
        "duplicate id",
        "field remove",
    ]
    assert [api.get(f"/v1/queries/step-{i}").status_code for i in range(3)] == [200, 200, 404]
    made = bulk(api, [changed, {"remove": "step-1"}, lines[2]]).json()
    assert [made[count] for count in ("registered", "replaced", "removed")] == [1, 1, 1]
    assert [api.get(f"/v1/queries/step-{i}").status_code for i in range(3)] == [200, 404, 200]
    gone = bulk(api, [{"remove": "step-0"}, {"remove": "step-2"}]).json()
    assert (gone["removed"], gone["version"]) == (2, resting.registrar().standing.version)


def test_a_dry_run_answers_as_the_load_would_and_changes_nothing(api: TestClient, resting: Resting) -> None:
    stream = resting.stream("json")
    lines: list[dict[str, Any]] = [{"id": f"dry-{i}", "where": f"n = {i}", "stream": stream} for i in range(4)]
    bulk(api, lines[:3])
    before = resting.registrar().standing
    mixed = [lines[0], {**lines[1], "where": "n > 1 AND n < 1"}, {"remove": "dry-2"}, lines[3]]
    rehearsed = bulk(api, mixed, dry_run="true").json()
    refused = bulk(api, [*mixed, {"id": "dry-4", "where": "nn = 1", "stream": stream}], dry_run="true")
    assert (refused.status_code, [error["line"] for error in refused.json()["errors"]]) == (400, [5])
    assert resting.registrar().standing is before
    made = bulk(api, mixed).json()
    fields = ("registered", "replaced", "unchanged", "removed", "warnings", "errors")
    assert [rehearsed[name] for name in fields] == [made[name] for name in fields]
    assert [made[name] for name in fields[:4]] == [1, 1, 1, 1]
    assert list(made["warnings"]) == ["dry-1"]
    assert rehearsed["version"] == before.version < made["version"]
    one = api.post("/v1/queries", json=lines[0], params={"dry_run": "true"})
    assert (one.status_code, one.json()["error"]["subject"]) == (400, "parameter dry_run")


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n\t\n"])
def test_a_load_without_a_line_is_told_so(resting: Resting, content: bytes) -> None:
    for keep_going in (False, True):
        with pytest.raises(QueryError, match="bulk load 'no lines': send one query a line"):
            load_lines(resting.permitted, content, keep_going=keep_going)


def test_lines_end_as_they_like_and_blank_ones_count(resting: Resting) -> None:
    query = json.dumps({"id": "ended", "where": "n = 1", "stream": resting.stream("json"), "paused": True}).encode()
    with pytest.raises(BulkRefusedError) as caught:
        load_lines(resting.permitted, b"\r\n" + query + b"\r\n\r\n[]\r\n\xff", keep_going=False)
    assert [(error["line"], error["id"]) for error in caught.value.errors] == [(4, None), (5, None)]
    assert caught.value.value == "2 of 3"
    assert "nothing was registered; line 4: " in str(caught.value)
    answer = load_lines(resting.permitted, query + b"\r\n", keep_going=False)
    assert (answer["registered"], answer["errors"]) == (1, [])


def test_the_first_line_of_an_id_is_kept_even_where_it_is_refused(resting: Resting) -> None:
    lines = [
        {"id": "twice", "where": "nn = 1", "stream": resting.stream("json")},
        {"id": "twice", "where": "n = 1", "stream": resting.stream("json")},
        {"id": "once", "where": "n = 1", "stream": resting.stream("json")},
    ]
    answer = load_lines(resting.permitted, content_of(lines), keep_going=True)
    assert (answer["registered"], [error["line"] for error in answer["errors"]]) == (1, [1, 2])
    assert "twice" not in resting.registrar().standing


def test_the_answer_has_offsets_by_stream_and_the_warnings_of_each_query(resting: Resting) -> None:
    lines = [
        {"id": "plain", "where": "n = 1", "stream": resting.stream("json")},
        {"id": "never", "where": "n > 1 AND n < 1", "stream": resting.stream("csv")},
    ]
    answer = load_lines(resting.permitted, content_of(lines), keep_going=False)
    assert answer["version"] == resting.registrar().standing.version
    assert answer["effective_offsets"] == {name: {"0": 0} for name in resting.config.streams}
    assert list(answer["warnings"]) == ["never"]
    assert answer["warnings"]["never"]


def test_a_large_load_that_is_refused_leaves_nothing_behind(resting: Resting) -> None:
    one = {"where": "n > 1 AND n < 9", "topic": "large", "stream": resting.stream("json")}
    lines = [json.dumps({"id": f"large-{i}", **one}) for i in range(20_000)]
    content = "\n".join([*lines, "{bad"]).encode()
    frozen = gc.get_freeze_count()
    for _ in range(3):
        with pytest.raises(BulkRefusedError):
            load_lines(resting.permitted, content, keep_going=False)
    assert gc.get_freeze_count() <= frozen
    gc.collect()
    assert sum(type(each) is Put for each in gc.get_objects()) < 20_000


def test_the_log_tells_how_far_a_long_load_is(
    resting: Resting, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.queries.load_progress._LOGGED_QUERIES", 3)
    stream = resting.stream("json")
    lines = [json.dumps({"id": f"told-{i}", "where": "n = 1", "topic": "told", "stream": stream}) for i in range(3)]
    with caplog.at_level("INFO", "asc.registration"):
        load_lines(resting.permitted, "\n".join(lines).encode(), keep_going=False)
    stages = [line.rpartition("queries are ")[2] for line in caplog.messages if line.startswith("bulk load: 3")]
    assert stages == ["read", "validated", "compiled", "written"]
    caplog.clear()
    with caplog.at_level("INFO", "asc.registration"):
        load_lines(resting.permitted, "\n".join(lines).encode(), keep_going=False)
    # They stand just so: nothing was compiled or written.
    stages = [line.rpartition("queries are ")[2] for line in caplog.messages if line.startswith("bulk load")]
    assert stages == ["read", "validated"]


def test_others_see_how_far_a_load_is(api: TestClient, resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.stream("json")
    lines = [json.dumps({"id": f"seen-{i}", "where": "n = 1", "topic": "seen", "stream": stream}) for i in range(3)]
    seen: list[dict[str, Any]] = []
    note_done, candidate = LoadProgress.note_done, Validator._candidate

    def looked() -> None:
        seen.extend(api.get("/v1/loads").json()["loads"])

    def read(judge: Validator, *arguments: Any) -> ValidatedQuery:
        looked()
        return candidate(judge, *arguments)

    def noted(load: LoadProgress, done: Step, queries: int | None = None) -> None:
        note_done(load, done, queries)
        looked()

    monkeypatch.setattr(Validator, "_candidate", read)
    monkeypatch.setattr(LoadProgress, "note_done", noted)
    load_lines(resting.permitted, "\n".join(lines).encode(), keep_going=False)
    assert seen == [
        *({"queries": 3, "read": i, "last_step": None} for i in range(3)),
        *({"queries": 3, "read": 3, "last_step": done} for done in STEPS),
    ]
    assert api.get("/v1/loads").json() == {"loads": []}
    with pytest.raises(BulkRefusedError):
        load_lines(resting.permitted, "\n".join([*lines, "{bad"]).encode(), keep_going=False)
    assert api.get("/v1/loads").json() == {"loads": []}
