"""Backfill through Spark and Kafka: past records are counted once, on both sides of the seam with live batches."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

from broker.config.config import Config, parse_config
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

OPERATOR = {
    "name": "cube",
    "dimensions": [["s"]],
    "measures": ["count(*) AS c", "sum(n) AS total", "max(n) AS most"],
    "time": "t",
    "grain_s": 60,
}
PARTITIONS = 2


class Published:
    """The stream of a site, beside all that was published to it: the minute, text and number of each record."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.source = site.config.streams[site.stream("json")].topic
        self.records: list[list[tuple[int, str, int]]] = [[] for _ in range(PARTITIONS)]

    def publish(self, *minutes: int) -> None:
        """Publish a record of each partition for each minute, and wait until the daemon has read them."""
        for minute in minutes:
            for partition, records in enumerate(self.records):
                records.append((minute, "xy"[minute % 2], 10 * len(records) + partition))
                plain = {"n": records[-1][2], "s": records[-1][1], "t": f"2026-06-01T12:{minute:02}:30Z"}
                self.site.producer.send(self.source, json.dumps(plain).encode(), partition=partition)
        self.site.producer.flush()
        self.site.drain()

    def register(self, query: str, where: str = "n >= 0", **operator: Any) -> None:
        self.site.register(query, where, operator={**OPERATOR, **operator})

    def request(self, query: str) -> dict[str, Any]:
        answer = self.site.client.post(f"/v1/queries/{query}/cube/backfill", json={})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def await_done(self, query: str) -> dict[str, Any]:
        deadline = time.monotonic() + 120
        while True:
            answer = self.site.client.get(f"/v1/queries/{query}/cube/backfill")
            assert answer.status_code == 200, answer.text
            found: dict[str, Any] = answer.json()
            if found["phase"] == "done":
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.1)

    def ask(self, query: str) -> dict[str, Any]:
        body = {"by": ["s"], "grain_s": 60, "live": True}
        found: dict[str, Any] = self.site.client.post(f"/v1/queries/{query}/cube/query", json=body).json()
        return found

    def check(self, query: str, first: int = 0) -> dict[str, Any]:
        """Compare a cube with DuckDB over the records of each partition from offset ``first`` on."""
        own = [record for records in self.records for record in records[first:]]
        minutes, texts, numbers = zip(*own, strict=True)
        records = pa.table({"minute": pa.array(minutes), "s": pa.array(texts), "n": pa.array(numbers)})
        with duckdb.connect() as connection:
            connection.register("records", records)
            sql = "SELECT minute, s, count(*), sum(n), max(n) FROM records GROUP BY 1, 2 ORDER BY 1, 2"
            expected = connection.execute(sql).fetchall()
        answer = self.ask(query)
        assert [
            (int(row["pane"][14:16]), row["group"]["s"], row["c"], row["total"], row["most"]) for row in answer["rows"]
        ] == expected
        kept = self.site.client.get(f"/v1/queries/{query}").json()["kept"]
        assert (kept["accepted"], kept["counted"], kept["late"]) == (len(own), len(own), kept["late"])
        return {**answer, "kept": kept}


@pytest.fixture(scope="module")
def published(
    kafka: EmbeddedKafka, site_of: Callable[[Config], Site], tmp_path_factory: pytest.TempPathFactory
) -> Published:
    own = uuid.uuid4().hex[:12]
    folder = tmp_path_factory.mktemp("backfill")
    stream = {"topic": f"backfilled-{own}", "format": "json", "schema": "n INT, s STRING, t TIMESTAMP", "lateness_s": 0}
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "streams": {f"backfilled-{own}": stream},
        }
    )
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    cluster.ensure_topics([str(stream["topic"])], partitions=PARTITIONS)
    cluster.close()
    return Published(site_of(config))


def test_records_from_before_the_registration_are_counted_once(published: Published) -> None:
    published.publish(1, 2, 2, 3)
    published.register("before")
    published.register("all", **{"from": "earliest"})
    # The records on both sides of the seam have equal times.
    published.publish(3, 3, 4)
    found = published.await_done("all")
    assert [(own["to"], own["folded"], own["expired"]) for own in found["offsets"]] == [(7, 7, 0)] * PARTITIONS
    assert (found["whole"], found["backfilled"], found["whole_from"]) == (True, 8, "2026-06-01T12:01:00Z")
    answer = published.check("all")
    assert (answer["whole"], answer["gaps"], answer["kept"]["backfilled"]) == (True, [], 8)
    # A backfill that is not requested does not begin.
    assert published.check("before", 4)["gaps"][0]["reason"] == "before its first batch"
    assert published.request("before")["phase"] == "running"
    published.await_done("before")
    assert published.check("before")["gaps"] == []
    # It moves no mark.
    assert published.ask("before")["watermark"] == answer["watermark"]


@pytest.mark.nightly
def test_a_pause_is_made_up_for_and_expired_records_are_a_gap(published: Published, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaAdminClient, TopicPartition

    if not published.records[0]:
        published.publish(1, 2, 2, 3, 3, 3, 4)
    client = published.site.client
    published.register("paused", **{"from": "earliest"})
    published.await_done("paused")
    assert client.put("/v1/queries/paused", json={"paused": True}).status_code == 200
    published.publish(5, 6)
    assert client.put("/v1/queries/paused", json={"paused": False}).status_code == 200
    published.publish(7)
    published.await_done("paused")
    assert published.check("paused")["gaps"] == []
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    admin.delete_records({TopicPartition(published.source, each): 3 for each in range(PARTITIONS)})
    admin.close()
    published.register("cut", **{"from": "earliest"})
    found = published.await_done("cut")
    assert [own["expired"] for own in found["offsets"]] == [3] * PARTITIONS
    answer = published.check("cut", 3)
    assert [gap["reason"] for gap in answer["gaps"]] == [
        f"the topic no longer has the records of partition {each} before offset 3, which have expired"
        for each in range(PARTITIONS)
    ]
    assert all(gap["from"] is None and gap["to"] is not None for gap in answer["gaps"])
    published.check("paused")
