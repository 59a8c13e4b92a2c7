"""What a stream cannot go on with is parked, through a running daemon, and the stream goes on."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from asc.keys.attribute import PAttribute
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.runtime import python_worker
from broker.stream.analyser import StreamAnalyser
from broker.stream.batch_runner import BatchRunner
from broker.stream.metrics.phases import PHASES
from tools.faults.processes import descendants, kill

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]
FORMATS = ("json", "csv")

UNLUCKY = "if(n = 13, CAST(raise_error('unlucky') AS INT), 1)"


@pytest.fixture
def rigged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has ``length(s) = 4711`` mean what no predicate can: an expression that fails on a record."""
    honest = StreamAnalyser.normalise

    def normalise(self: StreamAnalyser, where: str, *given: Any, **more: Any) -> Predicate:
        found = honest(self, where, *given, **more)
        if "4711" not in where:
            return found
        conjuncts = tuple(
            tuple((replace(attribute, sql=UNLUCKY, written=""), constraint) for attribute, constraint in conjunct)
            for conjunct in found.conjuncts
        )
        return replace(found, conjuncts=conjuncts)

    monkeypatch.setattr(StreamAnalyser, "normalise", normalise)


RIGGED = {
    "'4721'": ("sql", "if(n = 21, CAST(raise_error('unlucky') AS STRING), s)"),
    "n = 4722": ("sql", "if(n = 22, CAST(raise_error('unlucky') AS BIGINT), unix_micros(t))"),
    "d + 4723": ("part", "if(n = 23, CAST(raise_error('unlucky') AS DOUBLE), d)"),
}
"""By what an operator's expression has in it: what it means instead, an expression that fails on a record."""


@pytest.fixture
def rigged_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the expressions of RIGGED mean what no expression of an operator can."""
    honest = StreamAnalyser.normalise

    def worse(attribute: PAttribute, kind: str, sql: str) -> PAttribute:
        if kind == "sql":
            return replace(attribute, sql=sql, written="")
        assert attribute.like is not None
        first, second = attribute.like.subject.parts
        subject = replace(attribute.like.subject, parts=(replace(first, sql=sql, path=None), second))
        return replace(attribute, like=replace(attribute.like, subject=subject))

    def normalise(self: StreamAnalyser, where: str, *given: Any, **more: Any) -> Predicate:
        found = honest(self, where, *given, **more)
        for marked, (kind, sql) in RIGGED.items():
            if marked in where:
                conjuncts = tuple(
                    tuple((worse(attribute, kind, sql), constraint) for attribute, constraint in conjunct)
                    for conjunct in found.conjuncts
                )
                return replace(found, conjuncts=conjuncts)
        return found

    monkeypatch.setattr(StreamAnalyser, "normalise", normalise)


def awaited(said: Callable[[], Any], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not said():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def shown(site: Site, query_id: str) -> Any:
    return site.client.get(f"/v1/queries/{query_id}").json()


@pytest.mark.slow
def test_an_expression_that_ends_a_batch_twice_is_parked_and_the_stream_goes_on(site: Site, rigged: None) -> None:
    where = "length(s) = 4711"
    guilty = site.register("guilty", where)["query"]
    site.register("accomplice", f"n > 5 AND {where}", guilty["topic"])
    fine = site.register("fine", "n > 5 AND length(s) >= 0")["query"]["topic"]
    offsets = site.publish([b'{"n": 7, "s": ""}', b'{"n": 13, "s": ""}'])
    awaited(lambda: len(site.read(fine)) >= 2)
    assert {record.offset for record in site.read(fine)} == set(offsets)
    for query_id in ("guilty", "accomplice"):
        found = shown(site, query_id)
        assert (found["served"], found["where"].endswith(where)) == (False, True)
        assert f'its expression "{UNLUCKY}" ends a batch (' in found["reason"]
        assert "unlucky" in found["reason"]
    assert shown(site, "fine")["served"]
    # What comes later is delivered once, and neither a restart nor another's change serves what is parked.
    (later,) = site.publish([b'{"n": 13, "s": "x"}'])
    site.drain()
    assert [record.offset for record in site.read(fine)].count(later) == 1
    assert site.daemon is not None
    site.daemon.stop()
    site.daemon = site.start()
    site.register("another", "length(s) > 3", fine)
    assert not shown(site, "guilty")["served"]
    (last,) = site.publish([b'{"n": 13, "s": "xy"}'])
    site.drain()
    assert [record.offset for record in site.read(fine)].count(last) == 1
    # Registered anew, it is served again.
    site.register("guilty", "length(s) = 2", guilty["topic"])
    assert shown(site, "guilty")["served"]
    (served,) = site.publish([b'{"n": 13, "s": "zz"}'])
    site.drain()
    assert served in {record.offset for record in site.read(guilty["topic"]) if record.queries == ["guilty"]}
    for query_id in ("guilty", "accomplice", "fine", "another"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200


NEAR = {"name": "near", "key": "s", "time": "t", "distance_m": 5, "window_s": 30, "every_s": 10}


@pytest.mark.nightly
def test_python_workers_that_were_killed_while_idle_cost_no_search(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "asc.job")
    topic = site.register("fine", "n > 5 AND length(s) >= 0")["query"]["topic"]
    count = 0
    for _ in range(3):
        site.publish([b'{"n": 7, "s": ""}'] * 200)
        site.drain()
        count += 200
        # With the process that they are forked from: Spark itself notices where one of them alone is gone.
        for worker in descendants(os.getpid(), python_worker.__name__):
            kill(worker)
        site.publish([b'{"n": 7, "s": ""}'])
        count += 1
        awaited(lambda: len(site.read(topic)) >= count)  # noqa: B023
    assert any("is run again at once: java.io." in line for line in caplog.messages)
    assert not any("looks for the expression" in line for line in caplog.messages)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "n", "expression"),
    [
        pytest.param(
            *({"name": "events", "key": "concat(s, '4721')"}, 21, RIGGED["'4721'"][1]),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            *({"name": "events", "key": "s", "time": "if(n = 4722, t, _timestamp)"}, 22, RIGGED["n = 4722"][1]),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            *({**NEAR, "position": "ST_Point(d + 4723, n)"}, 23, f"CAST(({RIGGED['d + 4723'][1]}) AS DOUBLE)"),
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["key", "time", "position"],
)
def test_an_expression_of_an_operator_that_ends_batches_is_parked_as_well(
    site: Site, rigged_operators: None, operator: dict[str, Any], n: int, expression: str
) -> None:
    # Ids of its own: what is registered again before a batch came goes on with the state of its objects.
    beside, others, guilty = (f"{name}-{n}" for name in ("beside", "others", "guilty"))
    fine = site.register(beside, "n > 5 AND length(s) > 0")["query"]["topic"]
    events = site.register(others, "n > 5", operator={"name": "events", "key": "upper(s)"})["query"]["topic"]
    site.register(guilty, "n > 5", operator=operator)
    offsets = site.publish([b'{"n": 7, "s": "a", "d": 1}', b'{"n": %d, "s": "b", "d": 1}' % n])
    awaited(lambda: len(site.read(fine)) >= 2)
    assert {record.offset for record in site.read(fine)} == set(offsets)
    found = shown(site, guilty)
    assert not found["served"]
    assert f'its expression "{expression}" ends a batch (' in found["reason"]
    assert "unlucky" in found["reason"]
    assert [shown(site, query_id)["served"] for query_id in (beside, others)] == [True, True]
    awaited(lambda: {record.key for record in site.read(events)} >= {b"A", b"B"})
    for query_id in (beside, others, guilty):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200


@pytest.mark.nightly
@pytest.mark.slow
def test_a_destination_that_was_compacted_later_parks_its_queries(site: Site) -> None:
    from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

    topic = site.register("into-compacted", "n > 0")["query"]["topic"]
    site.register("too", "n > 1", topic)
    fine = site.register("beside", "n > 0")["query"]["topic"]
    offsets = site.publish([b'{"n": 3}'], keys=[None])
    site.drain()
    assert len(site.read(topic)) == 1

    def set_policy(policy: str) -> None:
        admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {"cleanup.policy": policy})])
        admin.close()

    set_policy("compact")
    offsets += site.publish([b'{"n": 4}', b'{"n": 5}'], keys=[b"k", None])
    site.drain()
    assert {record.offset for record in site.read(fine)} == set(offsets)
    for query_id in ("into-compacted", "too"):
        found = shown(site, query_id)
        assert not found["served"]
        assert f"destination topic '{topic}': is compacted, so it takes no record without a key" in found["reason"]
    # Mended, and registered anew, they are served.
    set_policy("delete")
    site.client.put("/v1/queries/too", json={"labels": {"mended": "yes"}}).raise_for_status()
    assert (shown(site, "too")["served"], shown(site, "into-compacted")["served"]) == (True, False)
    (last,) = site.publish([b'{"n": 6}'], keys=[None])
    site.drain()
    assert [(r.offset, r.queries) for r in site.read(topic)][-1] == (last, ["too"])
    for query_id in ("into-compacted", "too", "beside"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200


def test_dead_letters_are_counted_by_reason_and_column(site: Site) -> None:
    name = site.stream("csv")

    def counted() -> dict[tuple[str, str | None], int]:
        found = site.client.get("/v1/plan").json()["streams"][name]["dead_letters"]
        assert found["total"] == sum(one["count"] for one in found["reasons"])
        return {(one["reason"], one["column"]): one["count"] for one in found["reasons"]}

    site.register("csv-any", "n > 0 OR s = 'x'", stream="csv")
    site.publish([b"x,y", b"1,a", b"z,", b"1,2,3", b"", b"2,b"], "csv")
    site.drain("csv")
    malformed = "value is not a CSV record of the stream's schema"
    # Those of a batch are counted after it is written.
    awaited(lambda: counted().get((f"{malformed}: it has fewer or more columns than 2", None)) == 1)
    found = counted()
    assert found[malformed, "n"] == 2
    assert found["value is empty", None] == 1
    metrics = site.client.get("/metrics").text
    labels = f'column="n",reason="{malformed}",stream="{name}"'
    assert f"asc_dead_letters_total{{{labels}}} 2.0" in metrics


@pytest.mark.slow
def test_a_start_that_ended_in_the_warm_up_is_followed_by_a_cold_one(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert site.daemon is not None
    name = site.stream("json")
    job = site.daemon.streams()[name].job
    marker = site.config.spark.checkpoint_dir / name / "warming-up"
    seen: list[bool] = []
    monkeypatch.setattr(BatchRunner, "warm_up", lambda *_: seen.append(marker.exists()))
    job.warm_up(0)
    # While it is warmed up this is noted, and afterwards no more.
    assert (seen, marker.exists()) == ([True], False)
    marker.touch()
    job.warm_up(0)
    assert (seen, marker.exists()) == ([True], False)
    assert "starts cold" in caplog.text
    job.warm_up(0)
    assert seen == [True, True]


def test_a_batch_that_stands_still_is_told_until_it_is_done(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    run, goes_on = BatchRunner.run, threading.Event()

    def standing_still(self: BatchRunner, *given: Any) -> Any:
        assert goes_on.wait(300)
        return run(self, *given)

    def reason() -> Any:
        return site.client.get("/readyz").json()["reason"]

    site.drain()
    monkeypatch.setattr("broker.stream.job._LONG_S", 0.5)
    monkeypatch.setattr(BatchRunner, "run", standing_still)
    site.publish([b'{"n": 1}'])
    try:
        awaited(lambda: "runs one batch for more than 0 s, and delivers nothing until" in (reason() or ""))
    finally:
        goes_on.set()
    awaited(lambda: reason() is None)


def test_the_phases_of_the_last_batches_are_told(site: Site) -> None:
    assert site.daemon is not None
    site.publish([b'{"n": 1}'])
    site.drain()
    stream = site.daemon.streams()[site.stream("json")]
    awaited(lambda: stream.phases().keys() == PHASES.keys() - {"keep"})
    assert all(0 < seconds < 60 for seconds in stream.phases().values())


@pytest.mark.nightly
def test_a_source_topic_that_was_made_again_keeps_its_stream_from_running(site: Site) -> None:
    """The last of the module: its stream does not run any more."""
    from kafka.admin import KafkaAdminClient

    source = site.config.streams[site.stream("json")].topic
    site.drain()
    before = site.publish([b'{"n": 1}'])
    site.drain()
    assert site.daemon is not None
    cluster = site.daemon.cluster
    site.daemon.stop()
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    admin.delete_topics([source])
    awaited(lambda: source not in set(admin.list_topics()))
    admin.create_topics({source: {"num_partitions": 1, "replication_factor": 1}})
    admin.close()
    # More records than were read of the old one: by its offsets it cannot be told from that.
    assert site.publish([b'{"n": 2}'] * (before[0] + 10))[-1] > before[0] + 4
    cluster.close()
    site.daemon = site.start()
    awaited(lambda: "was deleted and made again (its id was" in str(site.client.get("/readyz").json()["reason"]))
    reason = str(site.client.get("/readyz").json()["reason"])
    assert f"source topic '{source}'" in reason
    assert f"stop the daemon and remove {site.config.spark.checkpoint_dir / site.stream('json')}" in reason
    # The other stream runs.
    site.publish([b"1,a"], "csv")
    site.drain("csv")
