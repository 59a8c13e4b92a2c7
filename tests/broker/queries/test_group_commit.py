"""Changes that arrive together are made in one step, and each is answered as if it had come alone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from asc.errors import AscError
from broker.access.scope import Scope
from broker.config.sections import KafkaConfig
from broker.errors import ForbiddenError, KafkaError, QueryError, RegistryError, UnknownQueryError
from broker.kafka.cluster import KafkaCluster
from broker.queries.change import Alter, Change, Outcome, Put, Remove
from broker.queries.group_commit import PendingChange, companions
from broker.queries.load_progress import LoadProgress
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.registrar import DAEMON, Registrar
from broker.queries.registry import Registry

if TYPE_CHECKING:
    from conftest import Resting

Asked = Callable[..., Outcome]


def pending_change(*changes: Change | AscError, scope: Scope = DAEMON, keep_going: bool = False) -> PendingChange:
    return PendingChange(changes, {}, {}, QuerySet(), LoadProgress(len(changes)), scope, keep_going)


def query(query_id: str, stream: str = "s") -> RegisteredQuery:
    return RegisteredQuery(query_id, stream, "n > 1", "t")


def test_those_that_change_different_queries_go_together() -> None:
    a, b, a2, b2, c = (pending_change(Put(query(name))) for name in ("a", "b", "a", "b", "c"))
    both = pending_change(Put(query("c")), Remove("d"))
    after = pending_change(Remove("d"))
    assert companions([a, b, a2, both, b2, c, after], QuerySet()) == [a, b, both]


def test_what_is_to_be_looked_at_alone_goes_alone() -> None:
    standing = QuerySet({"mine": query("mine"), "other": query("other", "t")})
    scope = Scope("x", streams=frozenset({"s"}))
    refused = pending_change(Put(query("a")))
    refused.refused[0] = QueryError("a", "b", "c")
    alone = [
        refused,
        pending_change(Put(query("b")), keep_going=True),
        pending_change(Put(query("c")), scope=Scope("x", max_queries=9)),
        pending_change(*(Put(query(f"many-{i}")) for i in range(101))),
        pending_change(Put(query("other")), scope=scope),
        pending_change(Remove("other"), scope=scope),
    ]
    for one in alone:
        assert companions([one], standing) == []
    own = pending_change(Put(query("mine")), scope=scope)
    assert companions([*alone[:4], own], standing) == [own]


@pytest.fixture
def together(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[Any]]]:
    """Has changes made by threads that all wait for the registrar's lock at first; the outcome or error of each, and
    how often the registry was written.
    """
    registrar, written = resting.registrar(), []
    write = Registry.write

    def counted(registry: Registry, *arguments: Any) -> dict[str, int]:
        written.append(arguments)
        return write(registry, *arguments)

    monkeypatch.setattr(Registry, "write", counted)

    def made(*requests: list[Change | AscError], scopes: dict[int, Scope] | None = None) -> list[Any]:
        written.clear()
        arrived = threading.Semaphore(0)
        add = registrar._group_commit.add

        def noted(one: PendingChange) -> None:
            add(one)
            arrived.release()

        def ask(place: int, changes: list[Change | AscError]) -> Outcome:
            return registrar.apply(changes, scope=(scopes or {}).get(place, DAEMON))

        with ThreadPoolExecutor(len(requests)) as threads, monkeypatch.context() as patch:
            patch.setattr(registrar._group_commit, "add", noted)
            with registrar._lock:
                futures: list[Future[Outcome]] = []
                for place, changes in enumerate(requests):
                    futures.append(threads.submit(ask, place, changes))
                    assert arrived.acquire(timeout=60)
            done = [future.exception(timeout=60) or future.result() for future in futures]
        return [*done, len(written)]

    yield made
    left = [Remove(one.id) for one in registrar.standing if one.id.startswith("arrive-")]
    if left:
        registrar.apply(left).raised()


@pytest.fixture
def of(resting: Resting) -> Callable[..., RegisteredQuery]:
    def made(name: str, where: str = "n > 1", kind: str = "json", **more: Any) -> RegisteredQuery:
        return RegisteredQuery(f"arrive-{name}", resting.stream(kind), where, "arrive", **more)

    return made


def held(resting: Resting) -> None:
    """Registry, standing set and plans say the same."""
    registrar = resting.registrar()
    standing = dict(registrar.standing.queries)
    assert resting.registry.load().queries == standing
    for name, stream in resting.streams().items():
        planned = sorted(one.id for one in standing.values() if one.stream == name and not one.paused)
        assert sorted(stream.running.plan.query_ids.to_pylist()) == planned


@pytest.mark.kafka
@pytest.mark.spark
def test_many_at_once_are_one_write_and_each_has_its_own_answer(
    resting: Resting, together: Callable[..., list[Any]], of: Callable[..., RegisteredQuery]
) -> None:
    registrar = resting.registrar()
    registrar.apply([Put(of("gone")), Put(of("old"))]).raised()

    def paused(standing: RegisteredQuery | None) -> RegisteredQuery:
        assert standing is not None
        return replace(standing, paused=True)

    *outcomes, writes = together(
        [Put(of("a"))],
        [Put(of("b", "length(s) > 3", "csv"))],
        [Remove("arrive-gone")],
        [Alter("arrive-old", paused)],
        [Put(of("c")), Put(of("d"))],
    )
    assert writes == 1
    a, b, gone, old, both = outcomes
    assert len({outcome.version for outcome in outcomes}) == 1
    assert [one.became for one in a.registered.values()] == ["registered"]
    assert a.registered[0].query.id == "arrive-a"
    assert set(a.effective_offsets) == {resting.stream("json")}
    assert set(b.effective_offsets) == {resting.stream("csv")}
    assert {position: one.id for position, one in gone.removed.items()} == {0: "arrive-gone"}
    assert set(gone.effective_offsets) == {resting.stream("json")}
    assert old.registered[0].became == "replaced"
    assert registrar.standing.get("arrive-old").paused
    assert [both.registered[i].query.id for i in (0, 1)] == ["arrive-c", "arrive-d"]
    versions = [one.query.version for outcome in outcomes for one in outcome.registered.values()]
    assert len(set(versions)) == len(versions)
    held(resting)


@pytest.mark.kafka
@pytest.mark.spark
def test_one_that_is_refused_takes_no_other_with_it(
    resting: Resting, together: Callable[..., list[Any]], of: Callable[..., RegisteredQuery]
) -> None:
    *outcomes, writes = together(
        [Put(of("a"))],
        [Remove("arrive-none")],
        [Put(of("b")), Put(of("never", "zz = 1"))],
        [Put(of("c"))],
        [Put(of("d")), Put(of("d"))],
    )
    assert outcomes[0].registered[0].became == "registered"
    assert isinstance(outcomes[1].refused[0], UnknownQueryError)
    assert set(outcomes[2].refused) == {1}
    assert outcomes[2].version is None
    assert outcomes[3].registered[0].became == "registered"
    assert set(outcomes[4].refused) == {1}
    assert writes == 1
    standing = resting.registrar().standing
    assert [one.id for one in standing.walk("arrive-")] == ["arrive-a", "arrive-c"]
    held(resting)


@pytest.mark.kafka
@pytest.mark.spark
def test_changes_of_one_query_are_made_one_after_the_other(
    resting: Resting, together: Callable[..., list[Any]], of: Callable[..., RegisteredQuery]
) -> None:
    resting.registrar().apply([Put(of("x"))]).raised()

    def labelled(name: str) -> Alter:
        def altered(standing: RegisteredQuery | None) -> RegisteredQuery:
            assert standing is not None
            return replace(standing, labels={**standing.labels, name: "1"})

        return Alter("arrive-x", altered)

    *outcomes, _ = together(*([labelled(f"l{i}")] for i in range(6)), [Put(of("y"))])
    assert all(outcome.registered[0].became in ("replaced", "registered") for outcome in outcomes)
    assert resting.registrar().standing.get("arrive-x").labels == {f"l{i}": "1" for i in range(6)}
    held(resting)


@pytest.mark.kafka
@pytest.mark.spark
def test_a_limited_caller_among_others_is_held_to_its_limits(
    resting: Resting, together: Callable[..., list[Any]], of: Callable[..., RegisteredQuery]
) -> None:
    resting.registrar().apply([Put(of("taken", kind="csv"))]).raised()
    own = Scope("own", streams=frozenset({resting.stream("json")}))
    few = Scope("few", id_prefix="arrive-few-", max_queries=1)
    *outcomes, _ = together(
        [Put(of("a"))],
        [Put(of("taken"))],
        [Remove("arrive-taken")],
        [Put(of("few-1"))],
        [Put(of("few-2"))],
        [Put(of("b"))],
        scopes={1: own, 2: own, 3: few, 4: few},
    )
    assert isinstance(outcomes[1].refused[0], ForbiddenError)
    assert isinstance(outcomes[2].refused[0], UnknownQueryError)
    assert [bool(outcomes[place].registered) for place in (0, 3, 4, 5)] == [True, True, False, True]
    assert resting.registrar().standing.get("arrive-taken").stream == resting.stream("csv")
    held(resting)


@pytest.mark.kafka
@pytest.mark.spark
def test_a_write_that_fails_is_told_to_all_whose_it_was(
    resting: Resting,
    together: Callable[..., list[Any]],
    of: Callable[..., RegisteredQuery],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registrar, write = resting.registrar(), Registrar._written
    failing = [True]

    def failed(one: Registrar, *arguments: Any) -> dict[str, int]:
        if failing.pop():
            failing.append(False)
            one._is_uncertain = True
            raise RegistryError("registry", "r", "is not written")
        failing.append(False)
        return write(one, *arguments)

    monkeypatch.setattr(Registrar, "_written", failed)
    *outcomes, _ = together([Put(of("a"))], [Put(of("b"))], [Put(of("c"))])
    assert [type(outcome) for outcome in outcomes] == [RegistryError] * 3
    assert list(registrar.standing.walk("arrive-")) == []
    registrar.apply([Put(of("a"))]).raised()
    held(resting)


@pytest.mark.kafka
@pytest.mark.spark
def test_a_kafka_that_does_not_answer_is_waited_for_once(
    resting: Resting,
    together: Callable[..., list[Any]],
    of: Callable[..., RegisteredQuery],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    destinations = KafkaCluster.destinations

    def counted(cluster: KafkaCluster, *arguments: Any, **more: Any) -> Any:
        asked.append(arguments)
        return destinations(cluster, *arguments, **more)

    with socket.create_server(("127.0.0.1", 0)) as listener, monkeypatch.context() as patch:
        silent = KafkaCluster(f"127.0.0.1:{listener.getsockname()[1]}", KafkaConfig(timeout_s=0.5))
        patch.setattr(resting.registrar()._validator, "_cluster", silent)
        patch.setattr(KafkaCluster, "destinations", counted)
        # The last one is not made with the others, for it changes what the first one does.
        *outcomes, _ = together([Put(of("a"))], [Put(of("b"))], [Put(of("c"))], [Put(of("a"))])
    assert [(type(one), "does not answer" in str(one)) for one in outcomes] == [(KafkaError, True)] * 4
    assert len(asked) == 1
    held(resting)
