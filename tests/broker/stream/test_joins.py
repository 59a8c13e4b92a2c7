"""Joins through a running daemon: what arrives is what as many queries would deliver, over changes and a crash."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
import shapely

if TYPE_CHECKING:
    from conftest import Received, Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Shape = tuple[Any, int]
"""A geometry and what of it the records are held against."""

WHERE = "ST_Contains(zones.geometry, ST_Point(d, n / 10)) AND n <= zones.high AND s <> 'never'"


def put(site: Site, shapes: Mapping[str, Shape], removes: tuple[str, ...] = ()) -> None:
    lines: list[Any] = [
        {"id": name, "type": "Feature", "geometry": json.loads(shapely.to_geojson(geometry)), "properties": {"high": n}}
        for name, (geometry, n) in shapes.items()
    ]
    lines += [{"remove": name} for name in removes]
    content = "\n".join(map(json.dumps, lines)).encode()
    headers = {"content-type": "application/x-ndjson"}
    answer = site.client.post("/v1/layers/zones/shapes", content=content, headers=headers)
    assert answer.status_code == 200, answer.text


def shape(chance: random.Random) -> Shape:
    x, y, wide = chance.randint(0, 8), chance.randint(0, 8), chance.choice([1, 2, 4])
    round_ = shapely.Point(x, y).buffer(wide)
    return chance.choice([shapely.box(x, y, x + wide, y + wide), round_]), chance.randint(0, 100)


def records(chance: random.Random, count: int) -> list[bytes]:
    places = (chance.choice([chance.uniform(0, 10), float(chance.randint(0, 10))]) for _ in range(count))
    return [json.dumps({"d": d, "n": chance.randint(0, 100), "s": "a"}).encode() for d in places]


def accepting(shapes: Mapping[str, Shape], value: bytes) -> list[str]:
    """By shapely and plain comparison: the shapes that accept a record."""
    record = json.loads(value)
    place = shapely.Point(record["d"], record["n"] / 10)
    return sorted(name for name, (geometry, n) in shapes.items() if geometry.contains(place) and record["n"] <= n)


def shapes_of(received: Received) -> list[str]:
    return [value.decode() for name, value in received.headers if name == "asc-shape" and value is not None]


def add(site: Site, join_id: str, topic: str, *, per_shape: bool = False) -> None:
    body = {"id": join_id, "topic": topic, "where": WHERE, "join": {"layer": "zones", "per_shape": per_shape}}
    answer = site.client.post("/v1/queries", json={**body, "stream": site.stream("json")})
    assert answer.status_code == 201, answer.text


def test_a_join_is_as_many_queries_over_changes_and_a_restart(layered_site: Site) -> None:
    site, chance = layered_site, random.Random(7)
    shapes = {f"z{number}": shape(chance) for number in range(12)}
    put(site, shapes)
    over, pairs = site.topic("over"), site.topic("pairs")
    add(site, "over", over)
    add(site, "over-x", over)
    add(site, "pairs", pairs, per_shape=True)
    site.register("plain", "d >= 5", over)
    # The same, a query a shape.
    single = site.topic("single")

    def register(names: Mapping[str, Shape]) -> None:
        for name, (_, n) in names.items():
            fence = f"ST_Contains(shape('zones', '{name}'), ST_Point(d, n / 10)) AND n <= {n} AND s <> 'never'"
            site.register(f"single-{name}", fence, single)

    register(shapes)
    sent: dict[int, tuple[bytes, list[str]]] = {}

    def publish() -> None:
        values = records(chance, 60)
        wanted = [accepting(shapes, value) for value in values]
        sent.update(zip(site.publish(values), zip(values, wanted, strict=True), strict=True))
        site.drain()

    publish()
    for step in range(3):
        changed = {f"z{chance.randrange(15)}": shape(chance) for _ in range(3)}
        removes = tuple(name for name in chance.sample(sorted(shapes), 2) if name not in changed)
        put(site, changed, removes)
        for name in removes:
            assert site.client.delete(f"/v1/queries/single-{name}").status_code == 200
        shapes = {name: one for name, one in {**shapes, **changed}.items() if name not in removes}
        register(changed)
        if step == 1:
            assert site.daemon is not None
            site.daemon.stop()
            site.daemon = site.start()
        publish()
    _compare(site, sent, over, pairs, single)
    counts = {one["id"]: one["delivered"] for one in site.client.get("/v1/queries").json()["queries"]}
    # Since the daemon was started again: a record counts once for a join, a pair once for one of pairs.
    last = list(sent.values())[-120:]
    assert counts["over"] == counts["over-x"] == sum(bool(names) for _, names in last)
    assert counts["pairs"] == sum(len(names) for _, names in last)


def _compare(site: Site, sent: Mapping[int, tuple[bytes, list[str]]], over: str, pairs: str, single: str) -> None:
    found = [record for record in site.read(over) if record.offset in sent]
    assert len(found) == len({record.offset for record in found})
    by_offset = {record.offset: record for record in found}
    for offset, (value, names) in sent.items():
        queries = [*(["over", "over-x"] if names else []), *(["plain"] if json.loads(value)["d"] >= 5 else [])]
        if not queries:
            assert offset not in by_offset
            continue
        record = by_offset[offset]
        assert record.value == value
        assert record.queries == queries
        assert shapes_of(record) == [f"{join}/{name}" for join in ("over", "over-x") for name in names]
    each = sorted((record.offset, *shapes_of(record)) for record in site.read(pairs) if record.offset in sent)
    assert each == sorted((offset, f"pairs/{name}") for offset, (_, names) in sent.items() for name in names)
    alone = sorted(
        (record.offset, query.removeprefix("single-"))
        for record in site.read(single)
        if record.offset in sent
        for query in record.queries
    )
    assert [(offset, f"pairs/{name}") for offset, name in alone] == each


@pytest.mark.nightly
def test_a_batch_that_is_run_again_has_the_shapes_that_it_had(layered_site: Site) -> None:
    site, chance = layered_site, random.Random(11)
    topic = site.topic("again")
    shapes: dict[str, Shape] = {f"r{number}": (shapely.box(0, 0, 20, 20), 100) for number in range(3)}
    others = site.client.get("/v1/layers/zones/shapes", params={"limit": 1000}).json()["shapes"]
    put(site, shapes, tuple(one["id"] for one in others))
    add(site, "again", topic, per_shape=True)
    site.drain()
    offsets = site.publish(records(chance, 5))
    deadline = time.monotonic() + 60
    while len(site.read(topic)) < 15:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert site.stop_before_its_commit().end_offsets == {0: offsets[-1] + 1}
    before = {(record.offset, *shapes_of(record)) for record in site.read(topic)}
    # Written while no daemon runs, to the topic of the layer: the next batch has it, this one has not.
    _write(site, "r0", None)
    site.daemon = site.start()
    site.drain()
    again = [(record.offset, *shapes_of(record)) for record in site.read(topic)]
    assert len(again) > 15
    assert set(again) == before
    deadline = time.monotonic() + 60
    while site.client.get("/v1/queries/again").json()["shapes"] != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (later,) = site.publish(records(chance, 1))
    site.drain()
    assert [shapes_of(one) for one in site.read(topic) if one.offset == later] == [["again/r1"], ["again/r2"]]


def _write(site: Site, shape_id: str, value: bytes | None) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers)
    producer.send(site.config.layers["zones"].topic, value, shape_id.encode()).get(timeout=30)
    producer.close()
