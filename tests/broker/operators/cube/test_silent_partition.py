"""A partition without records, read by Spark from Kafka: it holds no pane back, and its late records are counted."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from broker.config.config import Config, parse_config
from broker.kafka.cluster import KafkaCluster
from broker.operators.cube.kind import CUBE

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

# In the gate test_window_writer.py has a silent partition, without Kafka and Spark.
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

OPERATOR = {
    "name": CUBE.name,
    "dimensions": [["carrier"]],
    "measures": ["count(*) AS n", "sum(delay) AS total"],
    "time": "t",
    "grain_s": 60,
    "output": [["carrier"]],
    "window_s": 120,
    "slide_s": 60,
}
Rows = dict[tuple[str, str], tuple[int, int]]
"""By the beginning or end of an interval, and by carrier, the measures."""


def at(minute: int, second: int = 0) -> str:
    return f"2026-06-01T12:{minute:02}:{second:02}Z"


class Published:
    """The stream of a site, beside all that was published to it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.topic = site.topic("windows")
        self.records: list[tuple[str, str, int]] = []
        site.register("late", "true", self.topic, operator=OPERATOR)

    def publish(self, *records: tuple[int, int, str]) -> None:
        """Publish records (partition, minute, carrier), and wait until the daemon has counted them."""
        for partition, minute, carrier in records:
            delay = len(self.records)
            self.records.append((at(minute, 30), carrier, delay))
            value = json.dumps({"carrier": carrier, "delay": delay, "t": at(minute, 30)}).encode()
            self.site.producer.send(
                self.site.config.streams[self.site.stream("json")].topic, value, partition=partition
            )
        self.site.producer.flush()
        self.site.drain()

    def kept(self) -> dict[str, Any]:
        found: dict[str, Any] = self.site.client.get("/v1/queries/late").json()["kept"]
        return found

    def progress(self) -> dict[int, str]:
        return {own["partition"]: own["progress"] for own in self.kept()["partitions"]}

    def check(self, closed_to: str) -> None:
        """Compare the closed panes, and the newest rows of the windows, with DuckDB over all records."""
        body = {"by": ["carrier"], "grain_s": 60}
        answer = self.site.client.post("/v1/queries/late/cube/query", json=body).json()
        assert (answer["watermark"][:17], answer["interval"][1]) == (closed_to[:17], closed_to)
        assert (answer["whole"], answer["gaps"]) == (True, [])
        panes = {(row["pane"], row["group"]["carrier"]): (row["n"], row["total"]) for row in answer["rows"]}
        assert panes == self.by_duckdb(60, closed_to)
        windows: dict[tuple[str, str], tuple[int, tuple[int, int]]] = {}
        for row in self.site.read(self.topic):
            if row.value is None:
                continue
            value, carrier = json.loads(row.value), json.loads(row.key or b"")["group"]["carrier"]
            assert value["whole"]
            place = value["window"][0], carrier
            windows[place] = max(windows.get(place, (0, (0, 0))), (value["revision"], (value["n"], value["total"])))
        assert {place: measures for place, (_, measures) in windows.items()} == self.by_duckdb(120, closed_to)

    def by_duckdb(self, length_s: int, closed_to: str) -> Rows:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("CREATE TABLE flights (t TIMESTAMPTZ, carrier VARCHAR, delay INT)")
            connection.executemany("INSERT INTO flights VALUES (?, ?, ?)", self.records)
            sql = f"""SELECT strftime(b, '%Y-%m-%dT%H:%M:%SZ'), carrier, count(*), sum(delay) FROM flights, (
                    SELECT unnest(range(TIMESTAMPTZ '{at(0)}', TIMESTAMPTZ '{closed_to}', INTERVAL 1 MINUTE)) AS b)
                WHERE t >= b AND t < b + INTERVAL {length_s} SECOND
                    AND b + INTERVAL {length_s} SECOND <= TIMESTAMPTZ '{closed_to}' GROUP BY b, carrier"""
            return {
                (begin, carrier): (n, int(total)) for begin, carrier, n, total in connection.execute(sql).fetchall()
            }


@pytest.fixture
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path: Any) -> Site:
    own = uuid.uuid4().hex[:12]
    stream = {"topic": f"flights-{own}", "format": "json", "schema": "carrier STRING, delay INT, t TIMESTAMP"}
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(tmp_path / "checkpoint"), "master": "local[2]", "warm_up_s": 0.1},
            "streams": {f"flights-{own}": {**stream, "lateness_s": 0}},
        }
    )
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    cluster.ensure_topics([stream["topic"]], partitions=3)
    cluster.close()
    return site_of(config)


def test_a_silent_partition_holds_no_pane_back_and_its_late_records_are_counted(site: Site) -> None:
    own = Published(site)
    own.publish(*((partition, minute, "UA") for minute in (1, 2, 4, 6) for partition in (0, 1)))
    assert own.progress()[2] == "silent"
    assert "partition 2 is silent, and holds nothing back" in own.kept()["waiting_reason"]
    own.check(at(6))
    # Its first records are late, and move nothing back. Spark may have read the others in several batches.
    late = own.kept()["late"] + 2
    own.publish((2, 2, "B6"), (2, 4, "UA"))
    assert (own.progress()[2], own.kept()["late"]) == ("read", late)
    own.check(at(6))
    # Those that it had before hold nothing back either.
    own.publish(*((partition, 9, "B6") for partition in (0, 1)))
    assert own.progress()[2] == "silent"
    own.check(at(9))
    assert site.daemon is not None
    site.daemon.stop()
    site.daemon = site.start()
    own.publish(*((partition, 12, "UA") for partition in (0, 1)))
    assert own.progress()[2] == "silent"
    own.check(at(12))
    assert own.kept()["late"] == late
