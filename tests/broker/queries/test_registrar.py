"""The registrar of a real daemon: changes in one step, all or none, whoever makes others at the same time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from asc.errors import AscError
from broker.access.scope import Scope
from broker.errors import ForbiddenError, QueryError, UnknownQueryError
from broker.queries.change import Alter, Change, Outcome, Put, Remove
from broker.queries.query import RegisteredQuery

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
FORMATS = ("json", "csv")

Apply = Callable[..., Outcome]
Held = tuple[int, dict[str, RegisteredQuery], dict[str, RegisteredQuery], dict[str, list[str]], dict[str, int]]


def held(site: Site) -> Held:
    """Version, standing set, registry, and the ids and versions of the running plans."""
    assert site.daemon is not None
    registrar, streams = site.daemon.registrar(), site.daemon.streams()
    return (
        registrar.standing.version,
        dict(registrar.standing.queries),
        dict(registrar._registry.load().queries),
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


def test_a_rehearsal_tells_what_apply_does_and_changes_nothing(site: Site, apply: Apply) -> None:
    assert site.daemon is not None
    registrar = site.daemon.registrar()
    initial = apply([Put(query_of(site, f"dry-{name}")) for name in ("same", "put", "removed")])
    before = held(site)
    changes: list[Change] = [
        Put(query_of(site, "dry-same")),
        Put(query_of(site, "dry-put", "n > 2")),
        Put(query_of(site, "dry-new", "n > 3")),
        Remove("dry-removed"),
    ]
    rehearsed = registrar.rehearsed(changes)
    wrong = registrar.rehearsed([*changes, Put(query_of(site, "dry-wrong", "nn > 3")), Remove("dry-none")])
    unwanted = registrar.rehearsed([replace(put, replaces=False) for put in changes[:3] if isinstance(put, Put)])
    kept = registrar.rehearsed([*changes, Remove("dry-none")], keep_going=True)
    assert held(site) == before
    assert (wrong.version, set(wrong.refused)) == (None, {4, 5})
    assert set(unwanted.refused) == {0, 1}
    assert (set(kept.registered), set(kept.removed), set(kept.refused)) == ({0, 1, 2}, {3}, {4})
    made = apply(changes)
    assert {i: one.became for i, one in rehearsed.registered.items()} == {
        i: one.became for i, one in made.registered.items()
    }
    assert rehearsed.removed == made.removed
    assert [rehearsed.registered[i].query.version for i in range(3)] == [
        initial.registered[0].query.version,
        initial.registered[1].query.version,
        -1,
    ]
    with pytest.raises(ForbiddenError, match="may only read"):
        registrar.rehearsed(changes, scope=Scope("reader", read_only=True))


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

    def is_changed(outcome: Outcome) -> bool:
        return bool(outcome.removed) or any(one.became != "unchanged" for one in outcome.registered.values())

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
        outcomes = (one for many in pool.map(change, range(3)) for one in many)
        # What changed nothing has the version of what it found.
        made = sorted(outcomes, key=lambda one: (one[0], not is_changed(one[1])))
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
    before = site.register("before-loss", "n = 1")["query"] | {"delivered": 0}
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


def test_while_spark_is_asked_about_one_query_others_are_registered(
    site: Site, apply: Apply, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert site.daemon is not None
    analyser = site.daemon.streams()[site.stream("json")].analyser
    asked, answered = threading.Event(), threading.Event()
    whole = analyser.refusals

    def slow(attributes: Any, **how: Any) -> Any:
        attributes = list(attributes)
        if any("1234" in attribute.sql for attribute in attributes) and not answered.is_set():
            asked.set()
            assert answered.wait(60)
        return whole(attributes, **how)

    monkeypatch.setattr(analyser, "refusals", slow)
    with ThreadPoolExecutor(1) as pool:
        slow_one = pool.submit(apply, [Put(query_of(site, "asked", "n + 1234 > 5"))])
        assert asked.wait(60)
        assert apply([Put(query_of(site, "quick"))]).registered
        assert not slow_one.done()
        answered.set()
        assert slow_one.result(60).registered
    assert_consistent(site)


def test_a_query_altered_while_it_is_judged_is_judged_anew(site: Site, apply: Apply) -> None:
    apply([Put(query_of(site, "both"))])
    seen: list[str] = []

    def fields_of(standing: RegisteredQuery) -> dict[str, Any]:
        seen.append(standing.where)
        if len(seen) == 1:
            apply([altered("both", where="n > 77")])
        return {"labels": {"by": "me"}}

    apply([altered("both", fields_of)])
    query = held(site)[1]["both"]
    assert (query.where, dict(query.labels)) == ("n > 77", {"by": "me"})
    assert seen == ["n > 1", "n > 77"]
