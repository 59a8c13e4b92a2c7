"""A daemon that starts on the files and topics of the version before: nothing is lost, and nothing comes twice anew.

``version_before/`` has the checkpoint folder of a stream and the records of all its topics, as the version with form 1
of feeds and operators' states left them. It was stopped after its last batch, and that batch's commit was taken back,
as by a fault: the batch is run again, by the plan of that version.
"""

from __future__ import annotations

import base64
import gzip
import json
import tarfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asc.operators.feed import Observation, Settings, Watermarks
from asc.plan.compiler import compile_plan
from asc.schema import Schema
from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.operators.expression import NO_EXPRESSIONS
from broker.operators.feed_destination import FeedDestination, destinations_in
from broker.operators.kinds import feed_kinds, kind_of, name_of
from broker.operators.schema_analyser import SchemaAnalyser
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan
from broker.queries.query import RegisteredQuery
from broker.queries.registry import RETENTION_MS, RETENTION_SETTINGS
from broker.queries.validated_query import ValidatedQuery
from broker.stream.metrics.event_time import EventTime

if TYPE_CHECKING:
    from conftest import Received, Site
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

BEFORE = Path(__file__).parent / "version_before"
SCHEMA = "icao24 STRING, ts TIMESTAMP, longitude DOUBLE, latitude DOUBLE, altitude INT"
SETTINGS = {"upgrade-registry": {"cleanup.policy": "compact", **dict.fromkeys(RETENTION_SETTINGS, str(RETENTION_MS))}}
FEED = "asc.feed.upgrade"


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def topics_of_before() -> dict[str, dict[int, list[Any]]]:
    """The records of each topic, by partition, in order."""
    found: dict[str, dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for line in gzip.decompress((BEFORE / "topics.ndjson.gz").read_bytes()).decode().splitlines():
        record = json.loads(line)
        found[record["topic"]][record["partition"]].append(record)
    return found


def unpacked(folder: Path) -> Path:
    """The checkpoint folder, as it was."""
    with tarfile.open(BEFORE / "checkpoint.tar.gz") as archive:
        archive.extractall(folder / "checkpoint", filter="data")
    return folder / "checkpoint"


@pytest.fixture
def restored(kafka: EmbeddedKafka, tmp_path: Path) -> Path:
    """The topics as they were, each record at its offset; the checkpoint folder."""
    from kafka import KafkaProducer
    from kafka.admin import KafkaAdminClient, NewTopic

    topics = topics_of_before()
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    admin.create_topics(
        [NewTopic(name, 16 if name == FEED else 1, 1, topic_configs=SETTINGS.get(name, {})) for name in topics]
    )
    admin.close()
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for name, partitions in topics.items():
        for partition, records in partitions.items():
            end = 0
            for record in records:
                # Where a transaction of the registry ended: the removal of a query that there never was.
                for _ in range(end, record["offset"]):
                    producer.send(name, None, key=b"nobody", partition=partition)
                value, key = _bytes(record["value"]), _bytes(record["key"])
                headers = [(header, _bytes(content)) for header, content in record["headers"]]
                sent = producer.send(name, value, key=key, headers=headers, partition=partition).get(timeout=60)
                assert sent.offset == record["offset"]
                end = sent.offset + 1
    producer.close()
    return unpacked(tmp_path)


@pytest.fixture
def daemon(restored: Path, kafka: EmbeddedKafka, spark: SparkSession) -> Iterator[Daemon]:
    stream = {"topic": "upgrade-source", "format": "json", "schema": SCHEMA, "lateness_s": 5}
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "upgrade-registry"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(restored), "master": "local[2]", "warm_up_s": 0},
            "streams": {"upgrade": stream},
        }
    )
    daemon = Daemon(config, spark=spark)
    daemon.start()
    yield daemon
    daemon.stop()


def flown(key: str, second: int, longitude: float = 7.5, altitude: int = 500) -> bytes:
    at = f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
    plain = {"icao24": key, "ts": at, "longitude": longitude, "latitude": 46.5, "altitude": altitude}
    return json.dumps(plain).encode()


def validated_of_before() -> list[ValidatedQuery]:
    """The queries in the registry, as this version reads them."""
    analyser, found = SchemaAnalyser(Schema.from_ddl(SCHEMA)), []
    for record in topics_of_before()["upgrade-registry"][0]:
        key, value = _bytes(record["key"]), _bytes(record["value"])
        assert key is not None
        assert value is not None
        query = RegisteredQuery.from_record(key.decode(), value, record["offset"])
        assert query.unreadable is None
        own = query.operator
        expressions = NO_EXPRESSIONS if own is None else kind_of(own).read(own, analyser)
        found.append(ValidatedQuery(query, analyser.normalise(query.where), None, expressions))
    return found


def test_the_registry_and_the_binding_of_the_version_before_give_the_plan_of_the_batch_to_replay(
    tmp_path: Path,
) -> None:
    folder = unpacked(tmp_path) / "upgrade"
    queries = validated_of_before()
    assert [(each.query.id, name_of(each.query.operator)) for each in queries] == [
        *(("plain", "route"), ("low", "events"), ("close", "near"))
    ]
    running = RunningPlan("upgrade", BatchBindings(folder / "bindings", folder / "spark"), {0: 0})
    version = running.version_to_replay
    assert version == queries[-1].query.version
    plan = compile_plan([entry for each in queries for entry in each.planned()], version=version)
    running.replay_with(plan)
    batch = running.unfinished()
    assert batch is not None
    assert (batch.plan, batch.batch_id, batch.first, batch.end) == (plan, 5, {0: 9}, {0: 11})
    # Both tracks have the same expression of time, and the file has a mark of each track.
    tracks = {each.track.name: each.track.time_name for each in destinations_in(plan)}
    (time_name,) = set(tracks.values())
    assert EventTime(folder).before(5, tracks) == {time_name: 1_767_225_623_000_000}


PAIRS = (("near", 20), ("apart", 20), ("near", 30), ("apart", 30))
"""The changes of a pair that has a condition: Spark evaluates it, and writes the pairs for which it became true or
false.
"""


@pytest.mark.parametrize("op", ["events", "near"])
def test_the_feed_of_the_version_before_goes_on_with_the_settings_of_this_one(op: str) -> None:
    (query,) = (each for each in validated_of_before() if name_of(each.query.operator) == op)
    destination = query.destination
    assert isinstance(destination, FeedDestination)
    topics, kind = topics_of_before(), feed_kinds()[op]
    texts = {
        part: [value for one in records if (value := _bytes(one["value"])) is not None]
        for part, records in topics[FEED].items()
    }
    parts = {number: kind.part(None) for number in texts}
    before = {each.identity: each.value.encode() for number, part in parts.items() for each in part.read(texts[number])}
    written = {_identity(record): _bytes(record["value"]) for record in topics[query.query.topic][0]}
    # A pair has a condition, which Spark evaluates afterwards: not each is written.
    assert {name: before.get(name) for name in written} == written
    assert written.keys() == before.keys() or op == "near"
    # Their tracks have the names of before, and so none begins anew: objects leave without a second enter.
    settings = Settings(op, "upgrade-source", False, 62_500, (destination.query,))
    track, time_us = destination.track, 1_767_225_700_000_000
    left = [Observation(op, track.name, key, time_us, (7.5, 46.5), 0, 20 + n) for n, key in enumerate("ac")]
    passed = Watermarks({track.time_name: time_us})
    after = []
    for part in [kind.part(own.to_bytes()) for own in parts.values() if own.held]:
        after += list(part.read([settings.text(), *(seen.text() for seen in left), passed.text()]))
        assert not +part.counts.excluded
    identities = {each.identity for each in after}
    if op == "events":
        assert identities == {f"low:exit:upgrade-source-0-{offset}" for offset in (20, 21)}
    else:
        assert {f'close:{event}:2026-01-01T00:00:{at}.000000Z:["a","b"]' for event, at in PAIRS} <= identities


def _identity(record: dict[str, Any]) -> str:
    headers = dict(record["headers"])
    return (_bytes(headers["asc-event"]) or b"").decode()


def each_once(records: list[Received]) -> dict[str, bytes | None]:
    """Values by identity; a record that comes again is the same to the last byte."""
    found: dict[str, bytes | None] = {}
    for record in records:
        headers = dict(record.headers)
        identity = (headers.get("asc-event") or headers["asc-source"] or b"").decode()
        assert found.setdefault(identity, record.value) == record.value
    return found


@pytest.mark.nightly
@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_what_the_version_before_left_goes_on(daemon: Daemon, reader: Site, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaProducer

    before = {name: {one["offset"]: one for one in records[0]} for name, records in topics_of_before().items()}
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)

    def publish(*values: bytes) -> None:
        for value in values:
            producer.send("upgrade-source", value, key=b"k", partition=0)
        producer.flush()

    def awaited(topic: str, *identities: str) -> dict[str, bytes | None]:
        deadline = time.monotonic() + 180
        while not set(identities) <= (found := each_once(reader.read(topic))).keys():
            assert time.monotonic() < deadline, (found.keys(), identities, daemon.readiness())
            time.sleep(0.1)
        return found

    source = len(before["upgrade-source"])
    assert [daemon.registrar().standing.get(query_id).id for query_id in ("plain", "low", "close")]
    # b left at the batch that is run again; a and c leave now.
    publish(flown("a", 30, altitude=5_000), flown("c", 31, 8.5, altitude=5_000))
    awaited("upgrade-plain", f"upgrade-source-0-{source}")
    low = awaited("upgrade-low", f"low:exit:upgrade-source-0-{source}", f"low:exit:upgrade-source-0-{source + 1}")
    # An object that was inside before the upgrade enters no second time.
    assert sorted(name for name in low if ":enter:" in name) == [
        f"low:enter:upgrade-source-0-{offset}" for offset in (0, 1, 10, 2)
    ]
    # The pair of before is near no more: a and b were seen last at other places.
    publish(flown("z", 100, 20.0))
    # A watermark holds from the next batch on.
    awaited("upgrade-plain", f"upgrade-source-0-{source + 2}")
    publish(flown("z", 101, 20.0))
    close = awaited("upgrade-close", 'close:apart:2026-01-01T00:00:30.000000Z:["a","b"]')
    assert 'close:near:2026-01-01T00:00:10.000000Z:["a","b"]' in close
    plain = each_once(reader.read("upgrade-plain"))
    assert {f"upgrade-source-0-{offset}" for offset in range(source)} <= plain.keys()
    producer.close()
