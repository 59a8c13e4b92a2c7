"""Pairs end to end: records in, what is near in the topics of the queries, against plain loops and Spark's filter."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from asc.spatial.shape import distance_sphere_m
from broker.config.config import Config, parse_config

if TYPE_CHECKING:
    from conftest import Received, Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)
EVERY_S, WINDOW_S, LATENESS_S = 10, 30, 5
METRES = 2_000.0

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def sky(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    own = uuid.uuid4().hex[:12]
    stream = {
        "topic": f"source-near-{own}",
        "format": "json",
        "schema": "icao24 STRING, ts TIMESTAMP, longitude DOUBLE, latitude DOUBLE, altitude INT, "
        "more STRUCT<since: TIMESTAMP, rate: DECIMAL(9,3)>, tags ARRAY<STRING>",
        "max_future_s": 2_592_000,
        "lateness_s": LATENESS_S,
    }
    folder = tmp_path_factory.mktemp("near")
    return site_of(
        parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
                "streams": {f"near-{own}": stream},
            }
        )
    )


def asked(query_id: str, topic: str, **more: Any) -> dict[str, Any]:
    own = {"id": query_id, "topic": topic, "where": more.pop("where", "true")}
    near = {"name": "near", "key": "icao24", "time": "ts", "distance_m": METRES}
    return {**own, "operator": {**near, "window_s": WINDOW_S, "every_s": EVERY_S, **more}}


def at(second: float) -> datetime:
    return BEGIN + timedelta(seconds=second)


def row(key: str | None, second: float, lon: float | None = 7.5, lat: float = 46.5, **more: Any) -> dict[str, Any]:
    return {"icao24": key, "ts": at(second).isoformat(), "longitude": lon, "latitude": lat, "altitude": 500, **more}


def publish(site: Site, rows: Rows) -> None:
    site.publish([json.dumps(each).encode() for each in rows])
    site.drain()


def outputs_in(site: Site, topic: str) -> list[dict[str, Any]]:
    """What is in a topic of pairs, each once; each checked for its headers."""
    found: dict[str, Received] = {}
    for record in site.read(topic):
        value = json.loads(record.value or b"")
        headers = dict(record.headers)
        assert list(headers) == ["asc-event", "asc-query", "asc-source"]
        identity = (headers["asc-event"] or b"").decode()
        assert identity == f"{value['query']}:{value['event']}:{value['time']}:{(record.key or b'').decode()}"
        assert json.loads(record.key or b"") == value["keys"] == sorted(value["keys"])
        again = found.setdefault(identity, record)
        assert (again.key, again.value) == (record.key, record.value)
    return [json.loads(each.value or b"") for each in found.values()]


def await_outputs(site: Site, topic: str, count: int) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 120
    while len(found := outputs_in(site, topic)) < count:
        assert time.monotonic() < deadline, (len(found), count, site.daemon and site.daemon.readiness())
        time.sleep(0.3)
    return found


def near_by_plain_loops(rows: Rows, until_s: float, holds: Callable[[Any, Any], bool]) -> dict[int, set[Any]]:
    """By tick, the pairs of keys, of records that came in the order of their times."""
    found = {}
    for tick_s in range(0, int(until_s), EVERY_S):
        last: dict[str, Mapping[str, Any]] = {}
        for each in rows:
            seconds = (datetime.fromisoformat(each["ts"]) - BEGIN).total_seconds()
            if each["icao24"] is not None and each["longitude"] is not None and tick_s - WINDOW_S < seconds <= tick_s:
                last[each["icao24"]] = each
        found[tick_s] = {
            (a["icao24"], b["icao24"])
            for a, b in combinations(sorted(last.values(), key=lambda one: str(one["icao24"])), 2)
            if distance_sphere_m(a["longitude"], a["latitude"], b["longitude"], b["latitude"]) <= METRES and holds(a, b)
        }
    return found


def ticks_of(outputs: list[dict[str, Any]], event: str) -> dict[int, set[Any]]:
    found: dict[int, set[Any]] = {}
    for each in outputs:
        if each["event"] == event:
            tick_s = int((datetime.fromisoformat(each["time"].replace("Z", "+00:00")) - BEGIN).total_seconds())
            found.setdefault(tick_s, set()).add(tuple(each["keys"]))
    return found


def test_pairs_are_those_of_plain_loops_and_conditions_those_of_a_filter(sky: Site) -> None:
    topics = {name: sky.topic(name) for name in ("all", "level", "changes", "low")}
    on = "abs(a.altitude - b.altitude) < 300 AND a.more.since <= b.more.since AND a.more.rate = b.more.rate"
    for body in (
        asked("all", topics["all"]),
        asked("level", topics["level"], on=on),
        asked("changes", topics["changes"], on=on, events=["near", "apart"]),
        asked("low", topics["low"], where="altitude < 400"),
    ):
        answer = sky.client.post("/v1/queries", json=body)
        assert answer.status_code == 201, answer.text
    picks = random.Random(7)
    rows: Rows = []
    for second in range(200):
        place = {"lon": picks.choice([7.5, 7.51, 7.52, 7.55, None]), "lat": picks.choice([46.5, 46.51])}
        more = {"since": at(picks.choice([0.000001, 0.000002, 90_000])).isoformat(), "rate": picks.choice([0.1, 0.125])}
        key = picks.choice(["a", "b", "ç", "d", None])
        rows.append(row(key, second, **place, altitude=picks.choice([0, 290, 1_000, None]), more=more))
    for low in range(0, len(rows), 50):
        publish(sky, rows[low : low + 50])
    # What moves time, far away; all ticks up to 200 s are past then.
    publish(sky, [row("x", 220, lat=0.0)])
    publish(sky, [row("x", 220, lat=0.0)])

    def level(a: Any, b: Any) -> bool:
        heights = (a["altitude"], b["altitude"])
        return (
            None not in heights
            and abs(heights[0] - heights[1]) < 300
            and a["more"]["since"] <= b["more"]["since"]
            and a["more"]["rate"] == b["more"]["rate"]
        )

    def wanted(holds: Callable[[Any, Any], bool], own: Rows = rows) -> dict[int, set[Any]]:
        return {tick: pairs for tick, pairs in near_by_plain_loops(own, 215, holds).items() if pairs}

    for name, pairs in (("all", wanted(lambda a, b: True)), ("level", wanted(level))):
        assert sum(map(len, pairs.values())) > 10
        outputs = await_outputs(sky, topics[name], sum(map(len, pairs.values())))
        assert ticks_of(outputs, "pair") == pairs
    low = [each for each in rows if each["altitude"] is not None and each["altitude"] < 400]
    pairs = wanted(lambda a, b: True, low)
    assert ticks_of(await_outputs(sky, topics["low"], sum(map(len, pairs.values()))), "pair") == pairs
    by_tick = near_by_plain_loops(rows, 215, level)
    before = {tick: by_tick.get(tick - EVERY_S, set()) for tick in by_tick}
    near = {tick: fresh for tick, pairs in by_tick.items() if (fresh := pairs - before[tick])}
    apart = {tick: gone for tick, pairs in by_tick.items() if (gone := before[tick] - pairs)}
    changes = await_outputs(sky, topics["changes"], sum(map(len, (*near.values(), *apart.values()))))
    assert (ticks_of(changes, "near"), ticks_of(changes, "apart")) == (near, apart)
    # What is told: listed, shown, counted.
    assert [one["id"] for one in sky.client.get("/v1/queries?operator=near").json()["queries"]] == [
        "all",
        "changes",
        "level",
        "low",
    ]
    shown = sky.client.get("/v1/queries/level").json()
    assert (shown["operator"]["name"], shown["operator"]["on"], shown["where"]) == ("near", on, "true")
    for query_id in ("all", "changes", "level", "low"):
        assert sky.client.delete(f"/v1/queries/{query_id}").status_code == 200
    assert sky.client.get("/v1/queries?operator=near").json()["queries"] == []


REFUSED = [
    ({"distance_m": -1}, "operator.distance_m -1: give metres, from 0 to 20,"),
    ({"distance_m": "9km"}, "operator.distance_m 9km: give metres"),
    ({"every_s": 0}, "operator.every_s 0: give seconds"),
    (
        {"window_s": 1_001},
        "operator.window_s 1001: is over 100 times every_s, which is 10: shorten it, or lengthen every_s",
    ),
    ({"events": ["pair", "near"]}, "operator.events [pair, near]: give pair alone, or some of near, apart"),
    ({"events": ["enter"]}, "operator.events enter: give a list of some of pair, near, apart"),
    ({"key": "nope"}, "operator.key nope: "),
    ({"position": "ST_Point(icao24)"}, "operator.position ST_Point(icao24): "),
    ({"on": "a.tags = b.tags"}, "operator.on a.tags = b.tags: tags is no number, text, time, boolean or binary"),
    ({"on": "altitude < 3"}, "operator.on altitude < 3: "),
    ({"on": "a.altitude"}, "operator.on a.altitude: "),
    ({"on": "a.altitude < 1) OR (true"}, "operator.on a.altitude < 1) OR (true: "),
    ({"on": "true"}, "operator.on true: is the same for every pair"),
    ({"nope": 1}, "field operator nope: is not known"),
]


@pytest.mark.parametrize(("wrong", "said"), REFUSED, ids=[str(wrong) for wrong, _ in REFUSED])
def test_what_makes_no_sense_is_refused_in_one_line(sky: Site, wrong: dict[str, Any], said: str) -> None:
    answer = sky.client.post("/v1/queries", json=asked("refused", "asc.refused", **wrong))
    assert answer.status_code == 400, answer.text
    message = answer.json()["error"]["message"]
    assert message.replace("'", "").replace('"', "").startswith(said.replace("'", "")), message
    assert "\n" not in message
