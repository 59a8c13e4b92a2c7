"""A batch that ends the whole daemon, twice, is looked into at the third start; one that takes long, while it runs."""

from __future__ import annotations

import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaProducer

from asc.operators.feed import QuerySettings
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.config.config import parse_config
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_destination import FeedDestination, Track
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan, UnfinishedBatch
from broker.stream.diagnosis.batch_diagnosis import BatchDiagnosis

if TYPE_CHECKING:
    from conftest import Process, Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(900)]

RIG = """
from dataclasses import replace
from broker.stream.analyser import StreamAnalyser

honest = StreamAnalyser.normalise

def normalise(self, where, *given, **more):
    found = honest(self, where, *given, **more)
    for marked, computed in {computed}.items():
        if marked in where:
            return replace(found, conjuncts=tuple(
                tuple((replace(attribute, sql=computed), constraint) for attribute, constraint in conjunct)
                for conjunct in found.conjuncts
            ))
    return found

StreamAnalyser.normalise = normalise
"""
EXITS = "if(n = 13, CAST(reflect('java.lang.System', 'exit', 3) AS INT), 1)"
SLEEPS = "if(n = 14, length(reflect('java.lang.Thread', 'sleep', 600000L)), 1)"
SEARCHES = "if(n = 15 AND rlike(repeat('x', n + 9000), '^x*x*x*x*x*x*y'), 0, 1)"
SCHEMA = Schema.from_ddl("n INT, s STRING, t TIMESTAMP")
TOO_LONG = "takes too long for a batch (it does not end in 4 s)"


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_ends_a_daemon_twice_is_parked_at_the_third_start_and_what_takes_too_long_while_its_batch_runs(
    process: Process, reader: Site, kafka: EmbeddedKafka
) -> None:
    """Spark's thread hears that its batch is to stop where it sleeps, and not where it searches: then the daemon ends
    once what its batch delivers without the query is written, or before; the next one has the query parked.
    """
    process.prelude = RIG.replace("{computed}", repr({"4713": EXITS, "4714": SLEEPS, "4715": SEARCHES}))
    text = process.file.read_text("utf-8")
    process.file.write_text(text.replace("warm_up_s = 0", "warm_up_s = 0\nexpression_timeout_s = 4"), "utf-8")
    process.start()
    out = f"out-{uuid.uuid4().hex[:12]}"
    register(process, "fine", "abs(n) > 0", out)
    register(process, "plain", "n >= 0", out)

    register(process, "exits", "abs(n) = 4713", out)
    send(process, kafka, 13)
    assert process.child is not None
    assert process.child.wait(timeout=60) == 1
    assert process.launch().wait(timeout=120) == 1
    assert reader.read(out) == []
    process.start()
    await_parked(process, reader, out, "exits", "ends a batch (the process that computes it ends)", records=1)
    assert process.log.read_text("utf-8").count("looks for the expression that ended batch") == 1

    register(process, "sleeps", "abs(n) = 4714", out)
    send(process, kafka, 14)
    await_parked(process, reader, out, "sleeps", TOO_LONG, records=2)
    assert process.child.poll() is None

    register(process, "searches", "abs(n) = 4715", out)
    send(process, kafka, 15)
    assert process.child.wait(timeout=240) == 1
    process.start()
    await_parked(process, reader, out, "searches", TOO_LONG, records=3)


UNLUCKY = "CAST(raise_error('unlucky') AS STRING)"


def track(name: str, key: str, time_us: str, *position: str, **more: Any) -> Track:
    return Track(name, "events", key, time_us, position, more.get("carried"), observes_all=True, by_key=True)


EVENTS = track("t1", "upper(s)", "unix_micros(_timestamp)")
BAD_KEY = track("t2", f"if(n = 13, {UNLUCKY}, s)", "unix_micros(_timestamp)")
BAD_PLACE = track(
    "t3", "lower(s)", "unix_micros(t)", "CAST((n) AS DOUBLE)", f"CAST(if(n = 14, {UNLUCKY}, n) AS DOUBLE)"
)
BAD_TIME = track("t4", "s", f"if(n = 15, CAST({UNLUCKY} AS BIGINT), 1L)", carried=(("`n`", "`n`"),))


def fed(query_id: str, track: Track) -> Query:
    """A query whose records go to the feed."""
    own = QuerySettings(query_id, "out", track.name, track.time_name, ("s1",), {})
    return Query(query_id, normalise("n > 0", SCHEMA), "out", FeedDestination(track, own).in_plan())


@pytest.mark.nightly
def test_expressions_of_operators_are_found_among_p_attributes(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    """By bisection, in a child process, over the records of a batch that is not done."""
    own = uuid.uuid4().hex[:12]
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "spark": {"checkpoint_dir": str(tmp_path), "master": "local[1]", "driver_memory": "512m"},
            "streams": {"s": {"topic": f"source-{own}", "format": "json", "schema": "n INT, s STRING, t TIMESTAMP"}},
        }
    )
    stream = config.streams["s"]
    wheres = ("length(s) >= 0", "n + 1 > 0", "abs(n) = 4")
    plan = compile_plan(
        [
            *(Query(f"r{number}", normalise(where, SCHEMA), "out") for number, where in enumerate(wheres)),
            *(fed(track.name, track) for track in (EVENTS, BAD_KEY, BAD_PLACE, BAD_TIME)),
        ]
    )
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    cluster.ensure_topics([stream.topic])
    with closing(KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)) as producer:
        for n in (1, 13, 14, 15):
            producer.send(stream.topic, b'{"n": %d, "s": "a"}' % n)
    decoder = stream.decoder(stream.fields(), "UTC")
    running = RunningPlan("s", BatchBindings(tmp_path / "bindings", tmp_path / "spark"), {0: 0})
    diagnosis = BatchDiagnosis("s", config, cluster, decoder, running)
    found = diagnosis.of_batch(UnfinishedBatch(7, plan, {0: 0}, {0: 4}, 2), lambda: True)
    cluster.close()
    assert found is not None
    assert set(found.expressions) == {BAD_KEY.key, BAD_PLACE.position[1], BAD_TIME.time_us}
    for reason in found.expressions.values():
        assert "ends a batch ([USER_RAISED_EXCEPTION] unlucky" in reason
    assert (found.topics, found.conditions) == ({}, {})


def register(process: Process, query_id: str, where: str, topic: str) -> None:
    body = {"id": query_id, "where": where, "topic": topic}
    assert process.client.post("/v1/queries", json=body).status_code == 201


def send(process: Process, kafka: EmbeddedKafka, n: int) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    producer.send(process.topic, b'{"n": %d}' % n)
    producer.close()


def await_parked(process: Process, reader: Site, out: str, query_id: str, reason: str, *, records: int) -> None:
    """Wait until the queries beside it have that many records, and the other one is not served for a reason."""
    deadline = time.monotonic() + 420
    while len(reader.read(out)) < records:
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.2)
    assert [record.queries for record in reader.read(out)] == [["fine", "plain"]] * records
    found: Any = process.client.get(f"/v1/queries/{query_id}").json()
    assert found["served"] is False
    assert reason in found["reason"]
