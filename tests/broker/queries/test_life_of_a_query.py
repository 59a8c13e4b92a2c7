"""The life of a query over HTTP, on a real daemon: registered, replaced, paused, expired, removed."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def numbers(count: int) -> list[bytes]:
    return [json.dumps({"n": n}).encode() for n in range(count)]


def test_a_registered_query_is_shown(site: Site) -> None:
    answer = site.register("shown", "n > 1", labels={"team": "ops"}, expires_at="2099-01-01T00:00:00+01:00")
    query = answer["query"]
    assert query == {
        "id": "shown",
        "stream": site.stream("json"),
        "where": "n > 1",
        "topic": site.topic("shown"),
        "labels": {"team": "ops"},
        "paused": False,
        "expires_at": "2098-12-31T23:00:00Z",
        "version": answer["version"],
        "operator": None,
        "join": None,
        "shapes": None,
        "excluded_shapes": None,
        "served": True,
        "reason": None,
        "pending_shapes": [],
        "delivered": None,
        "kept": None,
        "evaluation_errors": 0,
    }
    assert set(answer["effective_offsets"]) == {"0"}
    query |= {"delivered": 0}
    assert site.client.get("/v1/queries/shown").json() == query
    assert query in site.client.get("/v1/queries", params={"prefix": "sho", "label": "team=ops"}).json()["queries"]
    assert site.client.get("/v1/queries", params={"prefix": "sho", "label": "team=x"}).json()["queries"] == []


def test_replacing_is_one_step(site: Site) -> None:
    """While records flow, a query is replaced again and again: each record is judged by exactly one of its forms."""
    topics = [site.topic("form-a"), site.topic("form-b")]
    site.register("moving", "n >= 0", topics[0])
    done = threading.Event()
    published: list[int] = []

    def flow() -> None:
        while not done.is_set():
            published.extend(site.publish(numbers(50)))

    thread = threading.Thread(target=flow)
    thread.start()
    changes: list[tuple[int, str]] = []
    try:
        for turn in range(1, 7):
            time.sleep(0.4)
            answer = site.register("moving", "n >= 0" if turn % 2 else "n > -1", topics[turn % 2])
            changes.append((answer["effective_offsets"]["0"], topics[turn % 2]))
    finally:
        done.set()
        thread.join()
    site.drain()
    found = sorted((record.offset, topic) for topic in topics for record in site.read(topic))
    expected = []
    for offset in published:
        in_place = [topic for effective, topic in changes if effective <= offset]
        expected.append((offset, in_place[-1] if in_place else topics[0]))
    assert found == expected


def test_a_removed_query_gets_no_later_record(site: Site) -> None:
    topic = site.register("removed", "n >= 0")["query"]["topic"]
    before = site.publish(numbers(10))
    answer = site.client.delete("/v1/queries/removed")
    assert answer.status_code == 200
    effective = answer.json()["effective_offsets"]["0"]
    after = site.publish(numbers(10))
    site.drain()
    assert effective <= after[0]
    assert [r.offset for r in site.read(topic)] == [offset for offset in before if offset < effective]
    assert site.client.get("/v1/queries/removed").status_code == 404
    assert site.client.delete("/v1/queries/removed").status_code == 404


def test_a_paused_query_gets_nothing_until_it_is_resumed(site: Site) -> None:
    topic = site.register("paused", "n >= 0")["query"]["topic"]
    first = site.publish(numbers(3))
    site.drain()
    paused = site.client.put("/v1/queries/paused", json={"paused": True})
    assert (paused.status_code, paused.json()["query"]["paused"]) == (200, True)
    site.publish(numbers(3))
    site.drain()
    resumed = site.client.put("/v1/queries/paused", json={"paused": False}).json()
    assert resumed["query"] == {**paused.json()["query"], "paused": False, "version": resumed["version"]}
    last = site.publish(numbers(3))
    site.drain()
    assert [record.offset for record in site.read(topic)] == [*first, *last]


@pytest.mark.parametrize("query_id", ["nulled", "absent"])
@pytest.mark.parametrize("field", ["labels", "paused", "where"])
def test_a_change_to_null_is_refused_where_a_field_needs_a_value(field: str, query_id: str, site: Site) -> None:
    site.register("nulled", "n > 1", labels={"team": "ops"})
    before = site.client.get("/v1/queries/nulled").json()
    body = {"where": "n > 2", "stream": site.stream("json"), field: None}
    answer = site.client.put(f"/v1/queries/{query_id}", json=body)
    assert answer.status_code == (404 if (query_id, field) == ("absent", "where") else 400), answer.text
    message = answer.json()["error"]["message"]
    assert message.startswith("unknown query" if answer.status_code == 404 else f"field {field}: ")
    assert "\n" not in message
    assert site.client.get("/v1/queries/nulled").json() == before


def test_a_change_to_null_gives_an_optional_field_its_default(site: Site) -> None:
    site.register("reset", "n > 1", expires_at="2099-01-01T00:00:00Z")
    query = site.client.put("/v1/queries/reset", json={"expires_at": None, "topic": None}).json()["query"]
    assert (query["expires_at"], query["topic"]) == (None, "asc.reset")


def test_a_query_can_be_registered_paused(site: Site) -> None:
    assert site.register("asleep", "n > 1", paused=True)["query"]["paused"] is True
    assert site.client.delete("/v1/queries/asleep").status_code == 200


def test_an_expired_query_is_removed(site: Site) -> None:
    soon = datetime.now(timezone.utc) + timedelta(seconds=2)
    site.register("short", "n > 1", expires_at=soon.isoformat())
    deadline = time.monotonic() + 120
    while site.client.get("/v1/queries/short").status_code != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_is_loaded_in_bulk_is_delivered(site: Site) -> None:
    stream, topic = site.stream("json"), site.topic("bulk")
    good = [{"id": f"bulk-{i}", "where": f"n = {i}", "topic": topic, "stream": stream} for i in range(200)]
    loaded = site.bulk(good)
    assert loaded.status_code == 200, loaded.text
    assert (loaded.json()["registered"], loaded.json()["errors"]) == (200, [])
    site.publish(numbers(200))
    site.drain()
    assert [record.queries for record in site.read(topic)] == [[f"bulk-{i}"] for i in range(200)]


def test_changes_of_different_fields_at_a_time_all_hold(site: Site) -> None:
    site.register("shared", "n = 1")
    changes: list[dict[str, Any]] = [{"where": "n = 2"}, {"paused": True}, {"labels": {"a": "b"}}]
    url = f"{site.client.base_url}/v1/queries/shared"

    def change(body: dict[str, Any]) -> int:
        return httpx.put(url, json=body, timeout=60).status_code

    for _ in range(5):
        site.register("shared", "n = 1")
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(change, changes)) == [200, 200, 200]
        query = site.client.get("/v1/queries/shared").json()
        assert (query["where"], query["paused"], query["labels"]) == ("n = 2", True, {"a": "b"})
