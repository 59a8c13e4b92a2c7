"""Standing cubes in a daemon: each accepted record counted once, whatever is run again."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.config import Config, parse_config
from broker.kafka.cluster import KafkaCluster
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.kind import CUBE
from broker.queries.registry import Registry

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka
    from broker.operators.cube.cube_state import CubeState

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

OPERATOR = {
    "name": CUBE.name,
    "dimensions": [["carrier"]],
    "measures": ["count(*) AS n", "sum(delay) AS total"],
    "time": "t",
    "grain_s": 60,
}


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder, own = tmp_path_factory.mktemp("cubes"), uuid.uuid4().hex[:12]
    stream = {"topic": f"flights-{own}", "format": "json", "schema": "carrier STRING, delay INT, t TIMESTAMP"}
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0.1},
            "limits": {"cube_partial_bytes": 1 << 20},
            "streams": {f"flights-{own}": {**stream, "lateness_s": 0, "max_future_s": 86_400}},
        }
    )
    return site_of(config)


def folder(site: Site) -> CubeFolder:
    assert site.daemon is not None
    found = site.daemon.streams()[site.stream("json")].folders[CUBE.name]
    assert isinstance(found, CubeFolder)
    return found


def state(site: Site, query_id: str) -> CubeState:
    (found,) = [own for cube, own in folder(site).keeper.snapshot.cubes.items() if cube.query == query_id]
    return found


def rows(site: Site, query_id: str) -> list[dict[str, Any]]:
    """The groups of a cube, once every record that was published is through the job."""
    site.drain()
    body = {"by": ["carrier"], "live": True}
    found: list[dict[str, Any]] = folder(site).keeper.questions.query(state(site, query_id).id, body)["rows"]
    return found


def publish(site: Site, *delays: int, carrier: str = "UA", minute: int = 0) -> None:
    at = f"2026-06-01T12:{minute:02}:30Z"
    site.publish([json.dumps({"carrier": carrier, "delay": delay, "t": at}).encode() for delay in delays])


def test_a_cube_counts_what_its_query_accepts_and_survives_what_a_stream_does(site: Site) -> None:
    topic = site.topic("late")
    found = site.register("late", "delay > 0", topic, operator=OPERATOR)["query"]
    assert found["operator"]["summary"] == "n, total by carrier, every 1min"
    publish(site, 5, 0, 7)
    publish(site, 3, carrier="B6", minute=2)
    site.publish([b"?", json.dumps({"carrier": "UA", "delay": 4}).encode()])
    b6, ua = rows(site, "late")
    assert (b6, ua) == (
        {"group": {"carrier": "B6"}, "n": 1, "total": 3},
        {"group": {"carrier": "UA"}, "n": 2, "total": 12},
    )
    counters = state(site, "late").counters
    assert (counters["counted"], counters["time"], state(site, "late").accepted) == (3, 1, 4)
    assert site.read(topic) == []
    status = site.client.get("/v1/plan").json()["streams"][site.stream("json")]["operators"][CUBE.name]
    assert (status["queries"], status["held"], status["excluded"]) == (1, 2, {"time": 1})
    assert status["watermarks"] == {"t": "2026-06-01T12:02:30.000000Z"}
    # A batch that Spark does not know to be done is run again, and is covered.
    publish(site, 1)
    routed = site.topic("beside")
    site.register("beside", "delay > 0", routed)
    publish(site, 1)
    deadline = time.monotonic() + 180
    while not site.read(routed):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert rows(site, "late")[1] == {"group": {"carrier": "UA"}, "n": 4, "total": 14}
    site.stop_before_its_commit()
    site.daemon = site.start()
    publish(site, 2)
    assert rows(site, "late")[1] == {"group": {"carrier": "UA"}, "n": 5, "total": 16}
    # Another measure is another generation, which begins empty.
    changed = {**OPERATOR, "measures": ["max(delay) AS worst"]}
    site.register("late", "delay > 0", topic, operator=changed)
    publish(site, 9, 8)
    assert rows(site, "late") == [{"group": {"carrier": "UA"}, "worst": 9}]


def records(site: Site, topic: str) -> list[tuple[str, Any, Any, str]]:
    """Header, key and value of each record of a topic, in order, and the query that its header names."""
    assert site.daemon is not None
    with site.daemon.cluster.client.reading([topic], from_beginning=True, to_end=True) as messages:
        return [
            (
                dict(one.headers)["asc-event"].decode(),
                json.loads(one.key),
                None if one.value is None else json.loads(one.value),
                dict(one.headers)["asc-query"].decode(),
            )
            for one in messages
        ]


def test_windows_are_written_to_a_compacted_topic_and_revised(site: Site) -> None:
    topic = site.topic("windows")
    windows = {"output": [["carrier"]], "window_s": 120, "slide_s": 60}
    found = site.register("windows", "delay >= 0", topic, operator={**OPERATOR, **windows})["query"]
    assert found["operator"]["window_s"] == 120
    assert site.daemon is not None
    assert site.daemon.cluster.topic_settings(topic)["cleanup.policy"] == "compact"
    # The mark of the stream is at minute 2 by the tests before, or by this one.
    publish(site, 5, 7, minute=3)
    publish(site, 1, carrier="B6", minute=4)
    publish(site, 0, carrier="B6", minute=10)
    site.drain()
    publish(site, 9, minute=3)
    site.drain()
    generation = state(site, "windows").id.generation

    def row(end: int, carrier: str, n: int | None, total: int, revision: int = 0) -> tuple[str, Any, Any, str]:
        begin, last = (f"2026-06-01T12:{own:02}:00Z" for own in (end - 2, end))
        key = {"cuboid": ["carrier"], "group": {"carrier": carrier}}
        value = {"query": "windows", "window": [begin, last], "n": n, "total": total, "revision": revision}
        identity = f"windows/{generation}@{last}/carrier#{revision}"
        return identity, key, None if n is None else value, "windows"

    expected = [
        row(4, "UA", 2, 12),
        row(5, "B6", 1, 1),
        row(5, "UA", 2, 12),
        row(6, "B6", 1, 1),
        row(6, "UA", None, 0),
        row(7, "B6", None, 0),
        row(4, "UA", 3, 21, 1),
        row(5, "UA", 3, 21, 1),
    ]
    came = records(site, topic)
    whole = [value.pop("whole") for _, _, value, _ in came if value is not None]
    assert came[: len(expected)] == expected
    # The topic ends with what the newest window has of the group: nothing.
    (last,) = came[len(expected) :]
    assert (last[2], last[0].rpartition("#")[2]) == (None, "1")
    assert set(whole) <= {True, False}
    # A batch that Spark does not know to be done is run again, and writes nothing new.
    site.stop_before_its_commit()
    site.daemon = site.start()
    publish(site, 3, minute=11)
    site.drain()
    later = records(site, topic)[len(came) :]
    assert [one[0] for one in later if one[0] in {each[0] for each in came}] == []
    assert [value["window"][1] for _, _, value, _ in later] == ["2026-06-01T12:11:00Z"]
    status = site.client.get("/v1/plan").json()["streams"][site.stream("json")]["operators"][CUBE.name]
    assert status["outputs"] == {"window": 1}
    assert 'asc_operator_outputs_total{operator="cube"' in site.client.get("/metrics").text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"measures": ["sum(carrier)"]}, "operator.measure 'sum(carrier)': takes numbers"),
        ({"dimensions": [["nope"]]}, "operator.dimension 'nope': unknown column"),
        ({"output": [["carrier"]]}, "operator.window_s: is missing: an output needs window_s and slide_s"),
        ({"output": [["dest"]], "window_s": 60, "slide_s": 60}, "operator.output 'dest': is no dimension: name some"),
        ({"grain_s": 7}, "operator.grain_s '7': give seconds that divide an hour"),
        ({"time": "delay"}, "operator.time 'delay': is INT, no TIMESTAMP"),
    ],
)
def test_a_wrong_one_is_refused_in_one_line(site: Site, change: dict[str, Any], said: str) -> None:
    body = {"id": "wrong", "where": "delay > 0", "operator": {**OPERATOR, **change}}
    answer = site.client.post("/v1/queries", json=body)
    assert answer.status_code == 400
    message = answer.json()["error"]["message"].replace('"', "'")
    assert "\n" not in message
    assert message.startswith(said), message


def test_a_join_is_refused(site: Site) -> None:
    body = {"id": "wrong", "where": "true", "operator": OPERATOR, "join": {"layer": "zones"}}
    assert site.client.post("/v1/queries", json=body).status_code in (400, 404)


def test_beyond_the_bytes_of_a_batch_the_widest_cube_is_parked(site: Site) -> None:
    wide = site.register("wide", "true", site.topic("wide"), operator=OPERATOR)["query"]
    narrow = {**OPERATOR, "dimensions": []}
    site.register("narrow", "true", site.topic("narrow"), operator=narrow)
    at = "2026-06-01T13:00:00Z"
    site.publish([json.dumps({"carrier": f"{n:0400}", "delay": 1, "t": at}).encode() for n in range(4_000)])
    site.drain()
    deadline = time.monotonic() + 120
    while (found := site.client.get(f"/v1/queries/{wide['id']}").json())["served"]:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    assert "share of limits.cube_partial_bytes" in found["reason"]
    (row,) = folder(site).keeper.questions.query(state(site, "narrow").id, {"live": True})["rows"]
    assert row["n"] == 4_000


def test_a_removed_cube_registered_anew_begins_empty(site: Site) -> None:
    topic = site.topic("anew")
    site.register("anew", "delay > 0", topic, operator=OPERATOR)
    publish(site, 5, minute=10)
    assert [row["n"] for row in rows(site, "anew")] == [1]
    # Without a batch between: the generation is the same.
    assert site.client.delete("/v1/queries/anew").status_code == 200
    site.register("anew", "delay > 0", topic, operator=OPERATOR)
    answer = site.client.post("/v1/queries/anew/cube/query", json={"by": ["carrier"], "live": True}).json()
    assert (answer["rows"], answer["whole"]) == ([], False)
    publish(site, 6, 7, minute=11)
    assert [row["n"] for row in rows(site, "anew")] == [2]
    # The daemon is down when it goes, and the batch of before is run again.
    site.stop_before_its_commit()
    kafka = site.config.kafka
    registry = Registry(KafkaCluster(kafka.bootstrap_servers, kafka), kafka.registry_topic)
    registry.open()
    registry.write((), ["anew"])
    registry.close()
    site.daemon = site.start()
    publish(site, 1, minute=12)
    site.drain()
    assert "anew" not in {cube.query for cube in folder(site).keeper.snapshot.cubes}
