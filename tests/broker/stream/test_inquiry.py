"""A batch that ends the whole daemon, twice, is looked into at the third start."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaProducer

if TYPE_CHECKING:
    from conftest import Process, Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(900)]

RIG = """
from dataclasses import replace
from broker.stream.analyser import StreamAnalyser

honest = StreamAnalyser.normalise

def normalise(self, where):
    found = honest(self, where)
    if "4711" not in where:
        return found
    ends = "if(n = 13, CAST(reflect('java.lang.System', 'exit', 3) AS INT), 1)"
    return replace(found, conjuncts=tuple(
        tuple((replace(attribute, sql=ends), constraint) for attribute, constraint in conjunct)
        for conjunct in found.conjuncts
    ))

StreamAnalyser.normalise = normalise
"""


@pytest.mark.slow
def test_an_expression_that_ends_the_daemon_twice_is_parked_at_the_third_start(
    process: Process, reader: Site, kafka: EmbeddedKafka
) -> None:
    process.prelude = RIG
    process.start()
    out = f"out-{uuid.uuid4().hex[:12]}"
    for query_id, where in (("guilty", "abs(n) = 4711"), ("fine", "abs(n) > 0"), ("plain", "n >= 0")):
        body = {"id": query_id, "where": where, "topic": out}
        assert process.client.post("/v1/queries", json=body).status_code == 201
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    producer.send(process.topic, b'{"n": 13}')
    producer.close()
    assert process.child is not None
    assert process.child.wait(timeout=60) == 1
    assert process.launch().wait(timeout=120) == 1
    assert reader.read(out) == []
    process.start()
    deadline = time.monotonic() + 180
    while not reader.read(out):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.2)
    assert [record.queries for record in reader.read(out)] == [["fine", "plain"]]
    found: Any = process.client.get("/v1/queries/guilty").json()
    assert found["served"] is False
    assert "ends a batch (the process that computes it ends)" in found["reason"]
    assert process.log.read_text("utf-8").count("looks for the expression that ended batch") == 1
    process.child.kill()
    process.child.wait()
