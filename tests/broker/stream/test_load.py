"""A stream whose records come faster than it is asked for: a burst, a hot partition, changes in the middle of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PARTITIONS = 10
CHANGES = 40


def numbers(first: int, count: int) -> list[bytes]:
    return [json.dumps({"n": n}).encode() for n in range(first, first + count)]


def test_a_burst_after_silence_arrives_whole_and_in_order(site: Site) -> None:
    site.register("of-the-burst", "n % 3 = 1")
    site.publish(numbers(0, 2))
    site.drain()
    offsets = site.publish(numbers(2, 15_000))
    site.drain()
    wanted = [offset for n, offset in enumerate(offsets, 2) if n % 3 == 1]
    assert [record.offset for record in site.read(site.topic("of-the-burst"))][1:] == wanted


def test_all_records_of_a_hot_partition_among_ten_arrive_in_order(site: Site) -> None:
    from kafka import KafkaAdminClient, KafkaProducer

    source = site.config.streams[site.stream("json")].topic
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    admin.create_partitions({source: PARTITIONS})
    admin.close()
    site.register("hot", "n >= 0 AND s IS NULL")
    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers)
    values = numbers(0, 5_000)
    for number, value in enumerate(values):
        producer.send(source, value, key=b"hot", partition=3)
        if number % 500 == 0:
            producer.send(source, b'{"n": 7}', key=b"cold", partition=number // 500)
    producer.flush()
    producer.close()
    site.drain()
    found = site.read(site.topic("hot"))
    assert [record.value for record in found if record.key == b"hot"] == values
    assert sum(record.key == b"cold" for record in found) == len(values) // 500


@pytest.mark.nightly
def test_every_effective_offset_is_true_of_changes_in_the_middle_of_a_load(site: Site) -> None:
    """Queries come while records flow, every fourth with an expression that only Spark can judge: each has all of its
    records from its effective offset on, and none before.
    """
    kinds: list[tuple[str, Callable[[int], bool]]] = [
        ("n % 5 = {0}", lambda n: n % 5 == 0),
        ("n BETWEEN {0} AND 90", lambda n: n <= 90),
        ("n > 50 - {0}", lambda n: n > 50),
        ("length(CAST(n + {0} AS STRING)) = 2", lambda n: 10 <= n <= 99),
    ]
    done = threading.Event()
    published: dict[int, int] = {}

    def flow() -> None:
        while not done.is_set():
            published.update((offset, n) for n, offset in enumerate(site.publish(numbers(0, 100))))

    thread = threading.Thread(target=flow)
    thread.start()
    effective = {}
    try:
        for number in range(CHANGES):
            where, _ = kinds[number % len(kinds)]
            answer = site.register(f"amid-{number}", where.format(0), site.topic("amid"))
            effective[f"amid-{number}"] = answer["effective_offsets"]["0"]
            time.sleep(0.05)
    finally:
        done.set()
        thread.join()
    site.drain()
    found: dict[str, list[int]] = {query_id: [] for query_id in effective}
    for record in site.read(site.topic("amid")):
        for query_id in record.queries:
            found[query_id].append(record.offset)
    for number, (query_id, first) in enumerate(effective.items()):
        _, accepts = kinds[number % len(kinds)]
        assert found[query_id] == [offset for offset, n in sorted(published.items()) if offset >= first and accepts(n)]
    # In the middle of it: not all in one batch, and none after the last record.
    assert len(set(effective.values())) > 1
    assert max(effective.values()) < max(published)
