"""Stopped, replayed and changed meanwhile: the daemon goes on where it was."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.queries.query import RegisteredQuery
from broker.queries.registry import Registry, RegistryTakenError

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


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
    site.drain()
    offsets = site.publish(numbers(0, 5))
    site.drain()
    # What is replayed is the batch of the last sentinel.
    assert site.stop_before_its_commit().version == version
    with registry_of(site, new) as registry:
        registry.write([RegisteredQuery("bound", site.stream("json"), "n >= 0 OR n IS NULL", new)])
    replayed = len(site.read(site.config.dead_letter_topic(site.stream("json"))))
    site.daemon = site.start()
    site.drain()
    # The sentinel's batch came a second time, so it was replayed; its binding stayed what it was.
    assert len(site.read(site.config.dead_letter_topic(site.stream("json")))) == replayed + 3
    assert [record.offset for record in site.read(old)] == offsets
    (later,) = site.publish(numbers(5, 1))
    site.drain()
    assert [record.offset for record in site.read(new)] == [later]


def test_a_replayed_batch_gives_the_old_query_its_records_again(site: Site) -> None:
    old, new = site.topic("again-old"), site.topic("again-new")
    site.register("again", "n >= 0", old)
    site.drain()
    offsets = site.publish(numbers(0, 5))
    await_five(site, old)
    last = site.stop_before_its_commit()
    assert last.end_offsets == {0: offsets[-1] + 1}
    with registry_of(site, new) as registry:
        registry.write([RegisteredQuery("again", site.stream("json"), "n >= 0", new)])
    site.daemon = site.start()
    site.drain()
    again = [record.offset for record in site.read(old)]
    assert set(again) == set(offsets)
    assert len(again) > len(offsets)
    assert site.read(new) == []


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
@pytest.mark.parametrize("damaged", [("offsets", "metadata"), ("commits",)], ids="-".join)
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


@pytest.mark.slow
def test_a_stream_that_was_stopped_before_its_first_batch_takes_partitions_that_were_added_since(site: Site) -> None:
    from kafka import KafkaProducer
    from kafka.admin import KafkaAdminClient, NewPartitions

    stream = site.stream("csv")
    source, folder = site.config.streams[stream].topic, site.config.spark.checkpoint_dir / stream
    topic = site.register("added", "n >= 0", stream="csv")["query"]["topic"]
    assert site.daemon is not None
    site.daemon.stop()
    # What the first start writes before Spark does.
    shutil.rmtree(folder / "spark")
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    admin.create_partitions({source: NewPartitions(total_count=2)})
    admin.close()
    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers)
    producer.send(source, b"7,a", partition=1).get(30)
    producer.close()
    site.daemon = site.start()
    site.drain("csv")
    assert [record.source for record in site.read(topic)] == [f"{source}-1-0"]


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
