"""Stopped, replayed and changed meanwhile: the daemon goes on where it was."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.config.config import Config, parse_config
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.plans.binding import binding_text
from broker.plans.offsets import Offsets
from broker.plans.running_plan import BoundBatch, RunningPlan
from broker.queries.query import RegisteredQuery
from broker.queries.registry import Registry, RegistryTakenError

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]


PAST = datetime(2020, 1, 1, tzinfo=timezone.utc)


def numbers(start: int, count: int) -> list[bytes]:
    return [json.dumps({"n": n}).encode() for n in range(start, start + count)]


def restart(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.stop()
    site.daemon = site.start()


@contextmanager
def registry_of(site: Site, *topics: str) -> Iterator[Registry]:
    """The registry of a daemon that is stopped, and topics that are there for it."""
    cluster = KafkaCluster(site.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics(topics)
    registry = Registry(cluster, site.config.kafka.registry_topic)
    registry.open()
    yield registry
    registry.close()
    cluster.close()


def await_five(site: Site, topic: str) -> None:
    deadline = time.monotonic() + 60
    while len(site.read(topic)) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_restarted_daemon_goes_on_where_it_was(site: Site) -> None:
    topic = site.register("kept", "n >= 0", labels={"a": "b"})["query"]["topic"]
    site.register("kept-asleep", "n >= 0", topic, paused=True)
    before = site.client.get("/v1/queries", params={"prefix": "kept"}).json()["queries"]
    first = site.publish(numbers(0, 20))
    site.drain()
    assert site.daemon is not None
    site.daemon.stop()
    second = site.publish(numbers(20, 20))
    site.daemon = site.start()
    third = site.publish(numbers(40, 20))
    site.drain()
    after = site.client.get("/v1/queries", params={"prefix": "kept"}).json()["queries"]
    assert [query | {"delivered": 0} for query in after] == before
    # What a daemon counts, it counts from its own start.
    assert [query["delivered"] for query in after] == [len([*second, *third]), 0]
    assert [record.offset for record in site.read(topic)] == [*first, *second, *third]
    assert {tuple(record.queries) for record in site.read(topic)} == {("kept",)}


def test_a_replayed_batch_is_judged_by_the_version_it_was_bound_to(site: Site) -> None:
    """A crash after a batch was written and before it was committed, and a change of its query in between."""
    old, new = site.topic("bound-old"), site.topic("bound-new")
    version = site.register("bound", "n >= 0", old)["version"]
    offsets = site.publish(numbers(0, 5))
    site.drain()
    last = site.stop_before_its_commit()
    assert (last.version, last.end_offsets) == (version, {0: offsets[-1] + 1})
    with registry_of(site, new) as registry:
        registry.write([RegisteredQuery("bound", site.stream("json"), "n >= 0 OR n IS NULL", new)])
    site.daemon = site.start()
    (later,) = site.publish(numbers(5, 1))
    site.drain()
    # Records that come a second time show that the batch was run again.
    again = [record.offset for record in site.read(old)]
    assert list(dict.fromkeys(again)) == offsets
    assert len(again) > len(offsets)
    assert [record.offset for record in site.read(new)] == [later]


@pytest.mark.nightly
def test_a_batch_whose_binding_was_damaged_still_reaches_a_query_that_was_removed(site: Site) -> None:
    topic = site.register("bound-removed", "n >= 0", site.topic("bound-removed"))["query"]["topic"]
    site.drain()
    offsets = site.publish(numbers(0, 5))
    await_five(site, topic)
    last = site.stop_before_its_commit()
    assert last.end_offsets == {0: offsets[-1] + 1}
    (site.config.spark.checkpoint_dir / site.stream("json") / "bindings" / str(last.batch_id)).write_bytes(b"")
    with registry_of(site) as registry:
        registry.write([], ["bound-removed"])
    site.daemon = site.start()
    site.drain()
    again = [record.offset for record in site.read(topic)]
    assert set(again) == set(offsets)
    assert len(again) > len(offsets)


@pytest.mark.nightly
def test_a_query_that_no_longer_fits_its_stream_is_kept_and_said_so(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.stop()
    with registry_of(site) as registry:
        registry.write(
            [
                RegisteredQuery("gone-stream", "gone", "n > 1", "asc.gone"),
                RegisteredQuery("gone-column", site.stream("json"), "gone > 1", "asc.gone"),
                RegisteredQuery("gone-function", site.stream("json"), "array_contains(s, 1)", "asc.gone"),
                RegisteredQuery("gone-time", site.stream("json"), "n >= 0", "asc.gone", expires_at=PAST),
                RegisteredQuery("stays", site.stream("json"), "n >= 0", site.topic("stays")),
            ]
        )
    site.daemon = site.start()
    assert site.client.get("/v1/queries/gone-stream").status_code == 200
    answer = site.client.post("/v1/queries/gone-column/explain", json={})
    assert "is not served: unknown column 'gone'" in answer.json()["error"]["message"]
    function = site.client.get("/v1/queries/gone-function").json()
    assert function["served"] is False
    assert "array_contains" in function["reason"]
    listed = site.client.get("/v1/queries", params={"prefix": "gone"}).json()["queries"]
    assert {query["id"]: query["served"] for query in listed} == dict.fromkeys(
        ("gone-stream", "gone-column", "gone-function"), False
    )
    # What is not served does not keep the others from their records, and what has expired never runs again.
    offsets = site.publish(numbers(0, 3))
    site.drain()
    assert [(record.offset, record.queries) for record in site.read(site.topic("stays"))] == [
        (offset, ["stays"]) for offset in offsets
    ]
    for query_id in ("gone-stream", "gone-column", "gone-function", "stays"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200


@pytest.mark.nightly
@pytest.mark.slow
def test_a_deleted_destination_is_made_again(site: Site) -> None:
    from kafka.admin import KafkaAdminClient

    topic = site.register("vanishing", "n >= 0")["query"]["topic"]
    site.publish(numbers(0, 1))
    site.drain()
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    try:
        admin.delete_topics([topic])
    finally:
        admin.close()
    # The batch fails, the topic is made again, and the batch is run again.
    offsets = site.publish(numbers(1, 3))
    site.drain()
    assert [record.offset for record in site.read(topic)] == offsets
    assert site.client.get("/healthz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(("offsets", "metadata"), id="offsets-metadata"),
        pytest.param(("commits",), id="commits", marks=pytest.mark.nightly),
    ],
)
def test_a_damaged_file_of_the_checkpoint_is_mended_and_no_record_is_lost(site: Site, damaged: tuple[str, ...]) -> None:
    topic = site.register(f"mended-{damaged[0]}", "n >= 0")["query"]["topic"]
    first = site.publish(numbers(0, 3))
    site.drain()
    assert site.daemon is not None
    site.daemon.stop()
    for name in damaged:
        path = site.config.spark.checkpoint_dir / site.stream("json") / "spark" / name
        if name != "metadata":
            path = max(path.glob("[0-9]*"), key=lambda each: int(each.name))
        path.write_bytes(b"")
    second = site.publish(numbers(3, 3))
    site.daemon = site.start()
    site.drain()
    # The batch whose commit was taken back is run again.
    found = [record.offset for record in site.read(topic)]
    assert list(dict.fromkeys(found)) == [*first, *second]
    assert len(found) == 6 or "commits" in damaged


@pytest.mark.nightly
@pytest.mark.slow
def test_without_its_checkpoint_a_daemon_begins_anew(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.stop()
    shutil.rmtree(site.config.spark.checkpoint_dir)
    site.daemon = site.start()
    topic = site.register("anew", "n >= 0")["query"]["topic"]
    offsets = site.publish(numbers(0, 3))
    site.drain()
    assert [record.offset for record in site.read(topic)] == offsets


@pytest.mark.nightly
@pytest.mark.slow
def test_a_stream_that_was_stopped_before_its_first_batch_takes_partitions_that_were_added_since(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    from kafka import KafkaProducer
    from kafka.admin import KafkaAdminClient, NewPartitions

    config = config_of(kafka, tmp_path)
    (stream,) = config.streams
    source, folder = config.streams[stream].topic, tmp_path / stream
    site = site_of(config)
    topic = site.register("added", "n >= 0")["query"]["topic"]
    assert site.daemon is not None
    site.daemon.stop()
    # What the first start writes before Spark does.
    shutil.rmtree(folder / "spark")
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    admin.create_partitions({source: NewPartitions(total_count=2)})
    admin.close()
    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers)
    producer.send(source, numbers(7, 1)[0], partition=1).get(30)
    producer.close()
    site.daemon = site.start()
    site.drain()
    assert [record.source for record in site.read(topic)] == [f"{source}-1-0"]


def config_of(kafka: EmbeddedKafka, folder: Path) -> Config:
    """Return the configuration of a daemon with one stream, for a test of its own."""
    own = uuid.uuid4().hex[:12]
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder), "master": "local[2]", "warm_up_s": 0},
            "streams": {f"json-{own}": {"topic": f"source-{own}", "format": "json", "schema": "n INT"}},
        }
    )


@dataclass
class Watched:
    """A daemon with one stream, whose batches are noted as they are bound."""

    bootstrap_servers: str
    source: str
    folder: Path
    bound: list[BoundBatch] = field(default_factory=list)
    site: Site = field(init=False)

    def send(self, count: int, partition: int = 0) -> None:
        from kafka import KafkaProducer

        with closing(KafkaProducer(bootstrap_servers=self.bootstrap_servers)) as producer:
            for value in numbers(0, count):
                producer.send(self.source, value, partition=partition)
            producer.flush()

    def await_end(self, end: Offsets) -> BoundBatch:
        deadline = time.monotonic() + 180
        while not self.bound or self.bound[-1].end != end:
            assert time.monotonic() < deadline, self.bound
            time.sleep(0.05)
        return self.bound[-1]

    def run_again(self) -> BoundBatch:
        """The last batch, as a daemon runs it that starts after a crash before its commit."""
        self.bound.clear()
        self.site.daemon = self.site.start()
        deadline = time.monotonic() + 180
        while not self.bound:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return self.bound[0]


@pytest.fixture
def watched(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Watched:
    """Begins behind the four records that its source has."""
    config = config_of(kafka, tmp_path)
    (stream,) = config.streams
    source = config.streams[stream].topic
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    cluster.ensure_topics([source])
    cluster.close()
    honest = RunningPlan.bind

    def noting(self: RunningPlan, batch_id: int) -> BoundBatch:
        found = honest(self, batch_id)
        if self._stream == stream:
            watched.bound.append(found)
        return found

    monkeypatch.setattr(RunningPlan, "bind", noting)
    watched = Watched(kafka.bootstrap_servers, source, tmp_path / stream)
    watched.send(4)
    watched.site = site_of(config)
    return watched


def test_a_batch_knows_its_offsets_from_the_first_one_on_and_of_a_partition_that_is_new(watched: Watched) -> None:
    from kafka.admin import KafkaAdminClient, NewPartitions

    watched.send(3)
    watched.await_end({0: 7})
    assert watched.bound[0].first == {0: 4}
    watched.send(5)
    watched.await_end({0: 12})
    assert watched.site.daemon is not None
    watched.site.daemon.stop()
    with closing(KafkaAdminClient(bootstrap_servers=watched.bootstrap_servers)) as admin:
        admin.create_partitions({watched.source: NewPartitions(total_count=2)})
    watched.send(6, partition=1)
    watched.site.daemon = watched.site.start()
    last = watched.await_end({0: 12, 1: 6})
    # Each begins where the one before ended, the new partition at its first record.
    for before, after in pairwise(watched.bound):
        assert after.first == {partition: before.end.get(partition, 0) for partition in after.end}
    assert (last.first[0], last.end[0]) == (12, 12)


@pytest.mark.nightly
def test_a_batch_that_is_run_again_has_the_offsets_that_it_had(watched: Watched) -> None:
    watched.send(3)
    watched.await_end({0: 7})
    watched.send(5)
    last = watched.await_end({0: 12})
    binding = watched.site.stop_before_its_commit()
    watched.send(2)
    again = watched.run_again()
    assert (again.first, again.end) == (last.first, last.end) == (binding.first_offsets, {0: 12})
    last = watched.await_end({0: 14})
    # A binding of the version before says the end alone; Spark's log says where the batch begins.
    binding = watched.site.stop_before_its_commit()
    path = watched.folder / "bindings" / str(binding.batch_id)
    for each in (path, path.with_name(f"{path.name}.copy")):
        each.write_text(binding_text(replace(binding, first_offsets=None)), "utf-8")
    again = watched.run_again()
    assert (again.first, again.end) == (last.first, last.end)
    assert last.first[0] >= 12


@pytest.mark.nightly
def test_a_daemon_whose_registry_was_taken_over_ends(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.check_processes()
    other = Registry(site.daemon.cluster, site.config.kafka.registry_topic)
    other.open()
    other.close()
    body = {"id": "late", "where": "n > 1", "stream": site.stream("json"), "topic": site.topic("late")}
    assert site.client.post("/v1/queries", json=body).status_code == 503
    assert "another daemon has taken it over" in site.client.get("/readyz").json()["reason"]
    with pytest.raises(RegistryTakenError, match="another daemon has taken it over: stop one of the two"):
        site.daemon.check_processes()
    restart(site)


@pytest.mark.nightly
@pytest.mark.slow
def test_records_that_expired_unread_are_named_with_what_to_do(site: Site) -> None:
    from kafka import TopicPartition
    from kafka.admin import KafkaAdminClient

    # The last of the module: its stream does not run any more.
    name = site.stream("json")
    source, folder = site.config.streams[name].topic, site.config.spark.checkpoint_dir / name
    site.drain()
    assert site.daemon is not None
    site.daemon.stop()
    offsets = site.publish([b'{"n": 3}'] * 5)
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    admin.delete_records({TopicPartition(source, 0): offsets[3]})
    admin.close()
    site.daemon = site.start()
    deadline = time.monotonic() + 60
    while "started again" not in (reason := str(site.client.get("/readyz").json()["reason"])):
        assert time.monotonic() < deadline, reason
        time.sleep(0.1)
    assert f"source topic '{source}': records expired unread, or the topic was made again (" in reason
    assert f"Could not read records in offset [{offsets[0]}, {offsets[4] + 1})" in reason
    assert f": stop the daemon and remove {folder}, and the stream begins at its starting_offsets" in reason
