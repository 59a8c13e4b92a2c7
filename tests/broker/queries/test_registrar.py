"""The life of a query: registered, replaced, paused, removed; over HTTP and by its registrar, on a real daemon."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from random import Random
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from asc.errors import AscError
from broker.errors import QueryError, UnknownQueryError
from broker.queries.change import Alter, Change, Outcome, Put, Remove
from broker.queries.query import RegisteredQuery

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Apply = Callable[..., Outcome]


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
        "served": True,
        "reason": None,
        "evaluation_errors": 0,
    }
    assert set(answer["effective_offsets"]) == {"0"}
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
    before = site.register("nulled", "n > 1", labels={"team": "ops"})["query"]
    body = {"where": "n > 2", "stream": site.stream("json"), field: None}
    answer = site.client.put(f"/v1/queries/{query_id}", json=body)
    assert answer.status_code == (404 if (query_id, field) == ("absent", "where") else 400), answer.text
    message = answer.json()["error"]["message"]
    assert message.startswith("unknown query" if answer.status_code == 404 else f"field {field} ")
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
    deadline = time.monotonic() + 20
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


# -- changes of several kinds in one step


Held = tuple[int, dict[str, RegisteredQuery], dict[str, RegisteredQuery], dict[str, list[str]], dict[str, int]]


def held(site: Site) -> Held:
    """Version, standing set, registry, and the ids and versions of the running plans."""
    assert site.daemon is not None
    registrar, streams = site.daemon.registrar(), site.daemon.streams()
    return (
        registrar.standing.version,
        dict(registrar.standing.queries),
        registrar._registry.load()[0],
        {name: sorted(stream.running.plan.query_ids.to_pylist()) for name, stream in streams.items()},
        {name: stream.running.plan.version for name, stream in streams.items()},
    )


def assert_consistent(site: Site) -> None:
    """The registry, the standing set and the running plans say the same."""
    _, standing, registry, plans, _ = held(site)
    assert registry == standing
    for name, ids in plans.items():
        assert ids == sorted(q.id for q in standing.values() if q.stream == name and not q.paused)


@pytest.fixture
def apply(site: Site) -> Apply:
    assert site.daemon is not None
    return site.daemon.registrar().apply


def query_of(site: Site, query_id: str, where: str = "n > 1", kind: str = "json", **more: Any) -> RegisteredQuery:
    return RegisteredQuery(query_id, site.stream(kind), where, site.topic("changes"), **more)


def altered(
    query_id: str, fields_of: Callable[[RegisteredQuery], dict[str, Any]] = lambda standing: {}, **fields: Any
) -> Alter:
    """Other fields for a query that stands."""

    def changed(standing: RegisteredQuery | None) -> RegisteredQuery:
        if standing is None:
            raise UnknownQueryError("unknown query", query_id, "register it first")
        return replace(standing, **fields_of(standing), **fields)

    return Alter(query_id, changed)


def compacted(site: Site) -> str:
    """A topic that takes no record without a key."""
    assert site.daemon is not None
    name = site.topic("compacted")
    site.daemon.cluster.ensure_topics([name], {"cleanup.policy": "compact"})
    return name


def test_changes_of_all_kinds_are_made_in_one_step(site: Site, apply: Apply) -> None:
    before = apply([Put(query_of(site, f"mixed-{name}")) for name in ("altered", "removed", "put", "moved", "left")])
    left = site.client.get("/v1/queries/mixed-left").json()
    outcome = apply(
        [
            altered("mixed-altered", paused=True),
            Remove("mixed-removed"),
            Put(query_of(site, "mixed-put", "n > 2")),
            Put(query_of(site, "mixed-new", "length(s) > 1", "csv")),
            altered("mixed-moved", stream=site.stream("csv")),
        ]
    )
    assert (set(outcome.registered), set(outcome.removed), dict(outcome.refused)) == ({0, 2, 3, 4}, {1}, {})
    assert [outcome.registered[i].is_new for i in (0, 2, 3, 4)] == [False, False, True, False]
    assert outcome.removed[1] == before.registered[1].query
    versions = [found.query.version for found in outcome.registered.values()]
    assert before.version is not None
    assert outcome.version is not None
    assert before.version < min(versions)
    assert max(versions) <= outcome.version
    assert set(outcome.effective_offsets) == set(site.config.streams)
    version, standing, _, plans, plan_versions = held(site)
    assert version == outcome.version
    assert set(plan_versions.values()) == {version}
    mixed = {name: {i for i in ids if i.startswith("mixed-")} for name, ids in plans.items()}
    assert mixed == {
        site.stream("json"): {"mixed-put", "mixed-left"},
        site.stream("csv"): {"mixed-new", "mixed-moved"},
    }
    assert standing["mixed-put"].where == "n > 2"
    assert site.client.get("/v1/queries/mixed-left").json() == left
    assert_consistent(site)


REFUSED: dict[str, Callable[[Site], tuple[list[Change | AscError], list[int]]]] = {
    "an unreadable one": lambda site: ([QueryError("line", "{", "is not JSON"), Put(query_of(site, "fine"))], [0]),
    "an unknown column": lambda site: ([Put(query_of(site, "fine")), Put(query_of(site, "wrong", "nn > 1"))], [1]),
    "what Spark refuses": lambda site: (
        [Remove("kept"), Put(query_of(site, "wrong", "date_format(t, 'yyyy-bbb') = 'x'"))],
        [1],
    ),
    "an unknown query": lambda site: ([Put(query_of(site, "fine")), Remove("absent")], [1]),
    "an unknown query to alter": lambda site: ([Remove("kept"), altered("absent", paused=True)], [1]),
    "an id twice": lambda site: ([Put(query_of(site, "fine")), Remove("kept"), Remove("kept")], [2]),
    "put and removed": lambda site: ([Put(query_of(site, "kept", "n > 5")), Remove("kept")], [1]),
    "altered to what is refused": lambda site: (
        [Put(query_of(site, "fine")), altered("kept", topic="a/b")],
        [1],
    ),
    "a loop": lambda site: (
        [
            Put(replace(query_of(site, "there"), topic=site.config.streams[site.stream("csv")].topic)),
            Put(replace(query_of(site, "back", kind="csv"), topic=site.config.streams[site.stream("json")].topic)),
        ],
        [1],
    ),
    "a topic that cannot be delivered to": lambda site: (
        [Put(query_of(site, "fine")), Put(replace(query_of(site, "kept"), topic=compacted(site)))],
        [1],
    ),
    "several": lambda site: (
        [Remove("absent"), Put(query_of(site, "fine")), Put(query_of(site, "no id")), Remove("kept"), Remove("gone")],
        [0, 2, 4],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_where_one_change_is_refused_none_is_made(case: str, site: Site, apply: Apply) -> None:
    apply([Put(query_of(site, "kept"))]).raised()
    changes, refused = REFUSED[case](site)
    before = held(site)
    outcome = apply(changes)
    assert sorted(outcome.refused) == refused
    assert (outcome.version, outcome.registered, outcome.removed, outcome.effective_offsets) == (None, {}, {}, {})
    assert held(site) == before
    with pytest.raises(AscError) as raised:
        outcome.raised()
    assert raised.value is outcome.refused[refused[0]]


@pytest.mark.parametrize("case", REFUSED)
def test_keeping_on_makes_those_that_are_not_refused(case: str, site: Site, apply: Apply) -> None:
    apply([Put(query_of(site, "kept"))]).raised()
    changes, refused = REFUSED[case](site)
    outcome = apply(changes, keep_going=True)
    assert sorted(outcome.refused) == refused
    made = {*outcome.registered, *outcome.removed}
    assert made == set(range(len(changes))) - set(refused)
    assert_consistent(site)
    standing = held(site)[1]
    for found in outcome.registered.values():
        assert standing[found.query.id] == found.query
    for gone in outcome.removed.values():
        assert gone.id not in standing
    apply([Remove(found.query.id) for found in outcome.registered.values()]).raised()


def test_where_nothing_is_left_to_do_nothing_is_written(site: Site, apply: Apply) -> None:
    before = held(site)
    for changes in ([], [Remove("absent")], [QueryError("line", "{", "is not JSON")]):
        assert apply(changes, keep_going=True).version is None
    assert held(site) == before


def test_where_nothing_stands_altering_may_register(site: Site, apply: Apply) -> None:
    seen: list[RegisteredQuery | None] = []

    def made(standing: RegisteredQuery | None) -> RegisteredQuery:
        seen.append(standing)
        return standing or query_of(site, "made")

    outcomes = [apply([Alter("made", made)]).raised() for _ in range(2)]
    first, second = (outcome.registered[0] for outcome in outcomes)
    assert [first.is_new, second.is_new] == [True, False]
    assert seen == [None, first.query]
    assert_consistent(site)


def test_a_query_altered_by_two_at_a_time_is_what_both_made_of_it(site: Site, apply: Apply) -> None:
    apply([Put(query_of(site, "both"))]).raised()
    start = threading.Barrier(2)

    def relabel(turn: int) -> None:
        apply([altered("both", lambda standing: {"labels": {**standing.labels, f"{turn}": ""}})]).raised()

    def narrow(turn: int) -> None:
        apply([altered("both", lambda standing: {"where": f"{standing.where} AND n <> {turn}"})]).raised()

    def repeat(change: Callable[[int], None]) -> None:
        start.wait()
        for turn in range(10):
            change(turn)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(repeat, [relabel, narrow]))
    standing = held(site)[1]["both"]
    assert set(standing.labels) == {f"{turn}" for turn in range(10)}
    assert standing.where == " AND ".join(["n > 1", *(f"n <> {turn}" for turn in range(10))])
    assert_consistent(site)


def test_whoever_puts_and_removes_at_a_time_registry_set_and_plans_agree(site: Site, apply: Apply) -> None:
    ids = [f"busy-{number}" for number in range(6)]

    def change(seed: int) -> list[tuple[int, Outcome]]:
        random = Random(seed)
        outcomes = []
        for _ in range(12):
            some = random.sample(ids, random.randint(1, 4))
            changes: list[Change] = [
                Put(query_of(site, i, f"n > {random.randint(0, 9)}", random.choice(["json", "csv"])))
                if random.random() < 0.6
                else Remove(i)
                for i in some
            ]
            outcome = apply(changes, keep_going=True)
            if outcome.version is not None:
                outcomes.append((outcome.version, outcome))
        return outcomes

    with ThreadPoolExecutor(3) as pool:
        made = sorted((one for many in pool.map(change, range(3)) for one in many), key=lambda one: one[0])
    # The changes in the order of their versions are what stands.
    expected: dict[str, RegisteredQuery] = {}
    for _, outcome in made:
        for gone in outcome.removed.values():
            assert expected.pop(gone.id) == gone
        for found in outcome.registered.values():
            assert found.is_new == (found.query.id not in expected)
            expected[found.query.id] = found.query
    version, standing, *_ = held(site)
    assert version == made[-1][0]
    assert {i: query for i, query in standing.items() if i in ids} == expected
    assert_consistent(site)


def test_registration_goes_on_after_the_registry_was_lost(site: Site) -> None:
    assert site.daemon is not None
    before = site.register("before-loss", "n = 1")["query"]
    site.daemon.registrar()._registry.close()
    body = {"id": "refused", "where": "n > 1", "stream": site.stream("json"), "topic": site.topic("refused")}
    lost = site.client.post("/v1/queries", json=body)
    assert lost.status_code == 503
    assert "registry topic" in lost.json()["error"]["message"]
    assert site.client.get("/v1/queries/refused").status_code == 404
    unready = site.client.get("/readyz")
    assert unready.status_code == 503
    assert unready.json()["reason"].startswith("no query can be registered: registry topic")
    # Without a further change: the writer is made anew in the background.
    deadline = time.monotonic() + 60
    while site.daemon.registrar()._is_uncertain:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert site.client.get("/readyz").status_code == 200
    site.register("after-loss", "n = 2")
    assert site.client.get("/v1/queries/before-loss").json() == before
