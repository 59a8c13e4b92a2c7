"""Events end to end: records in, events in the topics of the queries, against plain loops over the records."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaProducer

from broker.config.config import Config, parse_config

if TYPE_CHECKING:
    from conftest import Process, Received, Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)
LOST_AFTER_S = 120
BERN = "ST_Contains(ST_PolygonFromEnvelope(7, 46, 8, 47), ST_Point(lon, lat))"

Rows = list[dict[str, Any]]


def events_config(kafka: EmbeddedKafka, folder: Path) -> Config:
    own = uuid.uuid4().hex[:12]
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "streams": {
                f"sky-{own}": {
                    "topic": f"source-sky-{own}",
                    "format": "json",
                    "schema": "icao24 STRING, ts TIMESTAMP, lon DOUBLE, lat DOUBLE, altitude DOUBLE",
                    "max_future_s": 2_592_000,
                },
            },
            "layers": {"zones": {"topic": f"zones-{own}"}},
        }
    )


@pytest.fixture(scope="module")
def sky(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site_of(events_config(kafka, tmp_path_factory.mktemp("sky")))


def operator(**more: Any) -> dict[str, Any]:
    return {"name": "events", "key": "icao24", "time": "ts", "lost_after_s": LOST_AFTER_S, **more}


def row(key: str | None, second: float | None, **more: Any) -> dict[str, Any]:
    """A record of an object; BEGIN plus seconds."""
    at = None if second is None else (BEGIN + timedelta(seconds=second)).isoformat()
    return {"icao24": key, "ts": at, "lon": 7.5, "lat": 46.5, "altitude": 500.0, **more}


def publish(site: Site, rows: Rows) -> list[int]:
    return site.publish([json.dumps(each).encode() for each in rows])


def events_in(site: Site, topic: str) -> list[dict[str, Any]]:
    """What is in a topic of events, each once, in order of its partition; each checked for its headers."""
    found: dict[str, Received] = {}
    for record in site.read(topic):
        value = json.loads(record.value or b"")
        headers = dict(record.headers)
        assert list(headers) == ["asc-event", "asc-query", "asc-source"]
        identity = (headers["asc-event"] or b"").decode()
        of = value["query"] if value["shape"] is None else f"{value['query']}/{value['shape']}"
        assert identity == f"{of}:{value['event']}:{value['source']}"
        assert headers["asc-query"] == value["query"].encode()
        # Told again, it is the same to the last byte.
        again = found.setdefault(identity, record)
        assert (again.key, again.value) == (record.key, record.value)
    return [{**json.loads(each.value or b""), "key": (each.key or b"").decode()} for each in found.values()]


def await_events(site: Site, topic: str, count: int, log: Path | None = None) -> list[dict[str, Any]]:
    """The events of a topic, once there are so many."""
    deadline = time.monotonic() + 180
    while len(found := events_in(site, topic)) < count:
        assert time.monotonic() < deadline, (
            log.read_text("utf-8") if log else (found, site.daemon and site.daemon.readiness())
        )
        time.sleep(0.3)
    return found


def crossings(
    rows: Sequence[tuple[int, Mapping[str, Any]]], accepts: Callable[[Any], bool], dwell_s: float
) -> list[Any]:
    """Key, event and offset of enter and exit by plain loops over the observations of each object."""
    events = []
    for key in sorted({str(each["icao24"]) for _, each in rows if each["icao24"] is not None}):
        is_inside, run, newest = False, (None, ""), ""
        for offset, each in rows:
            if each["icao24"] != key or each["ts"] is None or each["ts"] < newest:
                continue
            newest, is_accepted = each["ts"], accepts(each)
            run = run if run[0] == is_accepted else (is_accepted, newest)
            stays_s = (datetime.fromisoformat(newest) - datetime.fromisoformat(run[1])).total_seconds()
            if is_accepted != is_inside and stays_s >= dwell_s:
                is_inside = is_accepted
                events.append((key, "enter" if is_accepted else "exit", offset))
    return events


def crossed(events: Sequence[Mapping[str, Any]]) -> list[Any]:
    return sorted((e["key"], e["event"], int(e["source"].rpartition("-")[2])) for e in events if e["event"] != "lost")


def test_objects_enter_and_leave_as_plain_loops_have_it(sky: Site) -> None:
    low, slow, route = sky.topic("low"), sky.topic("slow"), sky.topic("route")
    for query_id, topic, dwell_s in (("low", low, 0), ("slow", slow, 8)):
        sky.register(query_id, "altitude < 1000", topic, operator=operator(events=["enter", "exit"], dwell_s=dwell_s))
    sky.register("routed", "altitude < 1000", route)
    picks = random.Random(5)
    keys = [f"{number:06x}" for number in range(12)]
    rows: Rows = []
    for second in range(240):
        key = picks.choice([*keys, None])
        late = picks.choice([0, 0, 0, 0, -15])
        rows.append(
            row(key, picks.choice([second + late, second, None]), altitude=picks.choice([500.0, 500.0, 2000.0]))
        )
    offsets: list[int] = []
    for low_place in range(0, len(rows), 60):
        offsets += publish(sky, rows[low_place : low_place + 60])
        sky.drain()
    placed = list(zip(offsets, rows, strict=True))

    def accepts(each: Mapping[str, Any]) -> bool:
        return bool(each["altitude"] < 1000)

    for topic, dwell_s in ((low, 0), (slow, 8)):
        wanted = sorted(crossings(placed, accepts, dwell_s))
        assert len(wanted) > 5
        assert crossed(await_events(sky, topic, len(wanted))) == wanted
    # A query beside them is routed as ever.
    assert [r.offset for r in sky.read(route)] == [offset for offset, each in placed if accepts(each)]


@pytest.mark.nightly
def test_an_event_tells_where_when_and_since_when(sky: Site) -> None:
    topic = sky.topic("bern")
    sky.register("bern", BERN, topic, operator=operator(dwell_s=5))
    offsets = publish(
        sky,
        [
            row("bern-1", 1_000, lon=7.1, lat=46.1),
            row("bern-1", 1_010, lon=7.2, lat=46.2),
            row("bern-1", 1_020, lon=None),
            row("bern-1", 1_021, lat=95.0),
            row("bern-1", 1_030, lon=9.0),
            row("bern-1", 1_040, lon=9.5),
        ],
    )
    enter, leave = await_events(sky, topic, 2)
    source = next(iter(sky.config.streams.values())).topic
    assert enter == {
        "query": "bern",
        "shape": None,
        "event": "enter",
        "time": "2026-01-01T00:16:50.000000Z",
        "since": "2026-01-01T00:16:40.000000Z",
        "position": [7.2, 46.2],
        "source": f"{source}-0-{offsets[1]}",
        "key": "bern-1",
    }
    assert (leave["event"], leave["position"], leave["source"]) == ("exit", [9.5, 46.5], f"{source}-0-{offsets[5]}")


@pytest.mark.nightly
def test_a_join_tells_of_each_shape_by_itself(sky: Site) -> None:
    topic = sky.topic("over")

    def put(shape_id: str, low: float, high: float) -> None:
        ring = [[low, 46], [high, 46], [high, 47], [low, 47], [low, 46]]
        feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {}}
        sky.client.put(f"/v1/layers/zones/shapes/{shape_id}", json=feature).raise_for_status()

    # Before the times of the tests that follow: all records move the time of all tracks.
    seconds = iter(range(5_000, 6_000))

    def seen(*places: float) -> None:
        publish(sky, [row("joined", next(seconds), lon=lon) for lon in places])
        sky.drain()

    put("a", 0, 4)
    put("b", 2, 6)
    sky.register(
        "over",
        "ST_Contains(zones.geometry, ST_Point(lon, lat))",
        topic,
        join={"layer": "zones"},
        operator=operator(events=["enter", "exit"]),
    )
    seen(1, 3, 5, 7)
    wanted = [("a", "enter"), ("b", "enter"), ("a", "exit"), ("b", "exit")]
    found = await_events(sky, topic, 4)
    assert [(e["shape"], e["event"]) for e in found] == wanted
    assert [e["position"] for e in found] == [[lon, 46.5] for lon in (1, 3, 5, 7)]
    # A shape that comes is entered; one that is moved, or removed, is left at the next record.
    put("c", 6, 8)
    seen(7)
    put("c", 10, 12)
    put("b", 6, 8)
    seen(7)
    sky.client.delete("/v1/layers/zones/shapes/b").raise_for_status()
    seen(7)
    more = [("c", "enter"), ("b", "enter"), ("c", "exit"), ("b", "exit")]
    assert [(e["shape"], e["event"]) for e in await_events(sky, topic, 8)] == [*wanted, *more]
    assert sky.client.delete("/v1/queries/over").status_code == 200


@pytest.mark.nightly
def test_what_is_not_seen_any_more_is_lost_once_the_records_say_so(sky: Site) -> None:
    topic = sky.topic("watched")
    sky.register("watched", "altitude < 100", topic, operator=operator(events=["enter", "lost"]))
    (first,) = publish(sky, [row("gone", 10_000, altitude=50)])
    assert [e["event"] for e in await_events(sky, topic, 1)] == ["enter"]
    # The watermark, 10 s behind, is at 120 s after its last record; time alone does nothing.
    publish(sky, [row("other", 10_000 + LOST_AFTER_S + 9)])
    sky.drain()
    publish(sky, [row("other", 10_000 + LOST_AFTER_S + 10)])
    sky.drain()
    # What a batch tells of time holds from the next one on.
    publish(sky, [row("other", 10_000 + LOST_AFTER_S + 11)])
    enter, lost = await_events(sky, topic, 2)
    assert lost == {**enter, "event": "lost"}
    assert lost["source"].endswith(f"-{first}")
    # No record is left for the queries of the next test.
    sky.drain()


@pytest.mark.nightly
def test_a_query_that_is_changed_paused_or_removed(sky: Site) -> None:
    topic, later = sky.topic("changed"), sky.topic("changed-later")
    keyed = {"second": 20_000}

    def seen(altitude: float) -> None:
        keyed["second"] += 1
        publish(sky, [row("plane", keyed["second"], altitude=altitude)])
        sky.drain()

    sky.register("changed", "altitude < 1000", topic, operator=operator())
    seen(900)
    await_events(sky, topic, 1)
    # Another predicate: what it does not accept any more is left at the next record.
    sky.register("changed", "altitude < 500", topic, operator=operator())
    seen(900)
    events = await_events(sky, topic, 2)
    assert [(e["event"], e["key"]) for e in events] == [("enter", "plane"), ("exit", "plane")], events
    seen(400)
    await_events(sky, topic, 3)
    # What is paused is told nothing, and begins anew.
    assert sky.client.put("/v1/queries/changed", json={"paused": True}).status_code == 200
    seen(900)
    assert sky.client.put("/v1/queries/changed", json={"paused": False}).status_code == 200
    seen(400)
    assert [e["event"] for e in await_events(sky, topic, 4)] == ["enter", "exit", "enter", "enter"]
    # Another topic: what is open is closed there.
    sky.register("changed", "altitude < 500", later, operator=operator())
    seen(900)
    assert [e["event"] for e in await_events(sky, later, 1)] == ["exit"]
    seen(400)
    await_events(sky, later, 2)
    # Removed and registered again with no record in between, it is another query: nobody is inside who could leave.
    assert sky.client.delete("/v1/queries/changed").status_code == 200
    sky.register("changed", "altitude < 300", later, operator=operator())
    seen(900)
    assert sky.client.delete("/v1/queries/changed").status_code == 200
    seen(900)
    sky.register("marker", "altitude < 500", topic, operator=operator())
    seen(300)
    assert [e["query"] for e in await_events(sky, topic, 5)] == ["changed"] * 4 + ["marker"]
    assert len(events_in(sky, later)) == 2
    # It can be routed again, and be given events again.
    sky.register("marker", "altitude < 500", topic)
    assert sky.client.get("/v1/queries/marker").json()["operator"] is None


REFUSED = [
    ({"name": "cubes"}, "operator 'cubes': is not known"),
    ({"key": ""}, "operator.key '': give an expression"),
    ({"key": None}, "operator 'events': has no key"),
    ({"key": "nope"}, "operator.key 'nope': "),
    ({"time": "altitude"}, "operator.time 'altitude': "),
    ({"events": []}, "operator.events '[]': give a list"),
    ({"events": ["enter", "leave"]}, "operator.events 'leave': give a list"),
    ({"dwell_s": -1}, "operator.dwell_s -1: give seconds"),
    ({"dwell_s": "30s"}, "operator.dwell_s '30s': give seconds"),
    ({"lost_after_s": 0}, "operator.lost_after_s 0: give seconds"),
    ({"lost_after_s": 1e9}, "operator.lost_after_s "),
    ({"dwell": 3}, "field operator 'dwell': is not known"),
]


@pytest.mark.parametrize(("wrong", "said"), REFUSED, ids=[str(wrong) for wrong, _ in REFUSED])
def test_what_makes_no_sense_is_refused_in_one_line(sky: Site, wrong: dict[str, Any], said: str) -> None:
    body = {"id": "refused", "where": "altitude < 1", "operator": {**operator(), **wrong}}
    answer = sky.client.post("/v1/queries", json=body)
    assert answer.status_code == 400, answer.text
    message = answer.json()["error"]["message"]
    assert message.replace("'", "").startswith(said.replace("'", "")), message
    assert "\n" not in message


def test_no_more_ways_to_tell_objects_apart_than_the_limit(sky: Site) -> None:
    lines = [
        {"id": f"way-{n}", "where": "altitude < 1", "operator": operator(key=f"concat(icao24, '{n}')")}
        for n in range(sky.config.limits.stream_tracks + 1)
    ]
    answer = sky.bulk(lines)
    assert answer.status_code == 400
    assert "has 8 tracks already" in answer.text
    feed = next(f"asc.feed.{name}" for name in sky.config.streams)
    answer = sky.client.post("/v1/queries", json={"id": "refused", "where": "altitude < 1", "topic": feed})
    assert "is the feed of a stream" in answer.json()["error"]["message"]


@pytest.mark.nightly
@pytest.mark.slow
def test_a_killed_daemon_loses_no_event(process: Process, reader: Site, kafka: EmbeddedKafka) -> None:
    """Killed again and again while records flow; what came is what plain loops have, each event the same each time."""
    process.start()
    topic = f"events-{uuid.uuid4().hex[:12]}"
    asked = {"name": "events", "key": "n % 7", "events": ["enter", "exit"]}
    body = {"id": "all", "where": "n % 5 < 2", "topic": topic, "operator": asked}
    assert process.client.post("/v1/queries", json=body).status_code == 201, process.log.read_text("utf-8")
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    picks = random.Random(11)
    numbers: list[int] = []

    def publish(count: int) -> None:
        for _ in range(count):
            numbers.append(picks.randrange(1_000))
            producer.send(process.topic, json.dumps({"n": numbers[-1]}).encode(), key=b"k", partition=0)
        producer.flush()

    def wanted() -> list[Any]:
        inside: dict[int, bool] = {}
        found = []
        for offset, number in enumerate(numbers):
            is_accepted = number % 5 < 2
            if is_accepted != inside.get(number % 7, False):
                inside[number % 7] = is_accepted
                found.append((str(number % 7), "enter" if is_accepted else "exit", offset))
        return sorted(found)

    try:
        for round_ in range(2):
            before = len(reader.read(topic))
            publish(3_000)
            deadline = time.monotonic() + 180
            while len(reader.read(topic)) == before:
                assert time.monotonic() < deadline, process.log.read_text("utf-8")
                time.sleep(0.05)
            # In the middle of a batch of the first query, of the second one, or between.
            time.sleep(0.4 * round_)
            assert process.child is not None
            os.kill(process.child.pid, signal.SIGKILL)
            process.child.wait()
            process.start()
        publish(10)
        await_events(reader, topic, len(wanted()), process.log)
    finally:
        producer.close()
    assert crossed(events_in(reader, topic)) == wanted()
