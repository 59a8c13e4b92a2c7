"""Clusters end to end: records in, windows in the topics of queries, against scikit-learn window by window."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

from broker.config.config import Config, parse_config
from broker.operators.dbscan.reader import DbscanReader
from broker.operators.feed_sink import FeedSink

if TYPE_CHECKING:
    from conftest import Received, Site
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)
LATENESS_S = 5
WINDOW_S, SLIDE_S = 40, 10
EPS, MIN_SAMPLES = 0.6, [3, 5]
POINTS_MAX = 60

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def crowd(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    own = uuid.uuid4().hex[:12]
    stream = {
        "topic": f"source-dbscan-{own}",
        "format": "json",
        "schema": "name STRING, ts TIMESTAMP, x DOUBLE, y DECIMAL(9,3), n INT",
        "max_future_s": 2_592_000,
        "lateness_s": LATENESS_S,
    }
    folder = tmp_path_factory.mktemp("dbscan")
    return site_of(
        parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
                "streams": {f"dbscan-{own}": stream},
                "limits": {"stream_dbscan_points": POINTS_MAX, "stream_dbscan_queries": 4},
            }
        )
    )


def asked(query_id: str, topic: str, where: str = "n >= 0", **more: Any) -> dict[str, Any]:
    own = {"name": "dbscan", "attributes": ["x * 2", "y"], "eps": EPS, "min_samples": 3, "time": "ts"}
    operator = {**own, "window_s": WINDOW_S, "slide_s": SLIDE_S, "members": "all", "key": "upper(name)", **more}
    return {"id": query_id, "topic": topic, "where": where, "operator": operator}


def rows_of(seconds: range, seed: int = 7) -> Rows:
    """Records in the order of their times, some of them excluded, around three places that move."""
    picks = random.Random(seed)
    found: Rows = []
    for second in seconds:
        x = picks.choice([0.0, 3.0, 3.0 + second / 100]) + picks.randrange(4) / 8
        at = (BEGIN + timedelta(seconds=second)).isoformat()
        row: dict[str, Any] = {"name": f"p{second}", "ts": at, "x": x, "y": picks.randrange(3) / 8, "n": second % 7 - 1}
        found.append({**row, **picks.choice([{}] * 12 + [{"x": None}, {"ts": None}])})
    return found


def publish(site: Site, rows: Rows) -> None:
    site.publish([json.dumps(each).encode() for each in rows])
    site.drain()


def records_in(site: Site, topic: str) -> list[dict[str, Any]]:
    """The records in a topic, each once, in order; each checked for its headers."""
    found: dict[str, Received] = {}
    for record in site.read(topic):
        headers = dict(record.headers)
        assert list(headers) == ["asc-event", "asc-query", "asc-source"]
        assert record.key == headers["asc-query"]
        again = found.setdefault((headers["asc-event"] or b"").decode(), record)
        assert (again.key, again.value) == (record.key, record.value)
    return [json.loads(each.value or b"") for each in found.values()]


def await_window(site: Site, topic: str, queries: set[str], end_s: int) -> list[dict[str, Any]]:
    """The records of a topic, once each query has the window that ends then."""
    end = (BEGIN + timedelta(seconds=end_s)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    deadline = time.monotonic() + 180
    while True:
        found = records_in(site, topic)
        done = {own["query"] for own in found if own["record"] == "window" and own["window"][1] == end}
        if done >= queries:
            return found
        assert time.monotonic() < deadline, (done, len(found), site.daemon and site.daemon.readiness())
        time.sleep(0.3)


def labels_by_scikit_learn(rows: Rows, begin_s: int, min_samples: int, eps: float = EPS) -> dict[str, int]:
    """The label of each point of a window, by its key, but for noise. The rows are in the order of the points."""
    own = []
    for row in rows:
        if row["ts"] is not None and row["x"] is not None and row["n"] >= 0:
            second = (datetime.fromisoformat(row["ts"]) - BEGIN).total_seconds()
            if begin_s <= second < begin_s + WINDOW_S:
                own.append(row)
    if not own:
        return {}
    values = np.array([(row["x"] * 2, row["y"]) for row in own])
    found = DBSCAN(eps=eps, min_samples=min_samples, algorithm="kd_tree").fit(values).labels_.tolist()
    return {row["name"].upper(): label for row, label in zip(own, found, strict=True) if label >= 0}


def check_windows(rows: Rows, records: list[dict[str, Any]], query_id: str, min_samples: int) -> int:
    """Check each window against scikit-learn, and that ids last; return the number of ids that did."""
    lasting, before = 0, set[str]()
    members: dict[str, int] = {}
    clusters: set[str] = set()
    for record in (own for own in records if own["query"] == query_id):
        if record["record"] == "member":
            members[record["key"]] = record["label"]
        elif record["record"] == "cluster":
            clusters.add(record["cluster"])
        else:
            begin_s = round(
                (datetime.fromisoformat(record["window"][0].replace("Z", "+00:00")) - BEGIN).total_seconds()
            )
            assert members == labels_by_scikit_learn(rows, begin_s, min_samples), record["window"]
            assert record["core"] + record["border"] == len(members)
            assert record["points"] == len(members) + record["noise"]
            # Each id lives on, or is told to have disappeared.
            assert before <= clusters | record["disappeared"].keys()
            lasting += len(before & clusters)
            before, clusters, members = clusters, set(), {}
    return lasting


def test_labels_are_those_of_scikit_learn_and_ids_last(crowd: Site) -> None:
    topic, counted = crowd.topic("dense"), crowd.topic("counted")
    answer = crowd.client.post("/v1/queries", json=asked("dense", topic, min_samples=MIN_SAMPLES))
    assert answer.status_code == 201, answer.text
    assert answer.json()["registered"] == 2
    # Of a hundred seconds there are more points than a window may have.
    wide = asked("counted", counted, "n >= 0", window_s=100, slide_s=100)
    answer = crowd.client.post("/v1/queries", json=wide)
    assert answer.json()["warnings"] == ["slide = window: consecutive windows share no point, so no id lasts"]
    for refused, said in (
        (asked("dense", topic, min_samples=[3, 9]), "id of one of several queries 'dense.1': is taken, and nothing"),
        (asked("more", topic, min_samples=[3, 9]), "stream_dbscan_queries"),
    ):
        answer = crowd.client.post("/v1/queries", json=refused)
        assert answer.status_code == 400, answer.text
        assert said in answer.json()["error"]["message"]
    rows = rows_of(range(5, 260))
    for low in range(0, len(rows), 100):
        publish(crowd, rows[low : low + 100])
    # Later records move time: the first of them in one batch, and what it finds final is told with the next.
    for second in (300, 301):
        publish(crowd, [{"name": "later", "ts": (BEGIN + timedelta(seconds=second)).isoformat(), "n": -1}])
    ids = {"dense.1": 3, "dense.2": 5}
    records = await_window(crowd, topic, set(ids), 260)
    for query_id, min_samples in ids.items():
        assert check_windows(rows, records, query_id, min_samples) > 10
    assert {own["record"] for own in records} == {"cluster", "member", "window"}
    deadline = time.monotonic() + 60
    while not (windows := records_in(crowd, counted)):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    assert [own.get("skipped") for own in windows] == ["capacity"] * len(windows)
    check_status(crowd, rows)
    check_replaced(crowd, topic, rows)


def check_replaced(site: Site, topic: str, rows: Rows) -> None:
    """Replace a query by one of another radius, which has the points from before, and pause the other one."""
    points = [
        {"name": f"l{n}", "ts": (BEGIN + timedelta(seconds=303 + n % 2)).isoformat(), "x": n % 3 / 4, "y": 0, "n": 1}
        for n in range(12)
    ]
    publish(site, points[:6])
    assert site.client.put("/v1/queries/dense.1", json={"paused": True}).status_code == 200
    assert site.client.get("/v1/queries/dense.1").json()["kept"] is None
    operator = asked("dense.2", topic, eps=1.0, min_samples=5)["operator"]
    answer = site.client.put("/v1/queries/dense.2", json={"operator": operator})
    assert answer.json()["change"] == "replaced", answer.text
    publish(site, points[6:])
    rows = [*rows, *sorted(points, key=lambda own: str(own["ts"]))]
    for second in (330, 331):
        publish(site, [{"name": "later", "ts": (BEGIN + timedelta(seconds=second)).isoformat(), "n": -1}])
    records = await_window(site, topic, {"dense.2"}, 320)
    end = (BEGIN + timedelta(seconds=320)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    found = {
        own["key"]: own["label"]
        for own in records
        if (own["query"], own["record"], own["window"][1]) == ("dense.2", "member", end)
    }
    assert found == labels_by_scikit_learn(rows, 280, 5, eps=1.0)
    assert not any(own["query"] == "dense.1" and own["window"][1] >= end for own in records)


def check_status(site: Site, rows: Rows) -> None:
    """Check the list of queries, the status and the metrics after all windows."""
    deadline = time.monotonic() + 180
    # The last batch tells of its windows when it is over, which is after they were written.
    while True:
        queries = site.client.get("/v1/queries?operator=dbscan").json()["queries"]
        status = site.client.get("/v1/plan").json()["streams"][site.stream("json")]["operators"]["dbscan"]
        if all(own["kept"] for own in queries) and status["lag_records"] == 0:
            break
        assert time.monotonic() < deadline, (queries, status)
        time.sleep(0.2)
    listed: Mapping[str, Any] = {own["id"]: own for own in queries}
    assert set(listed) == {"counted", "dense.1", "dense.2"}
    assert listed["counted"]["kept"]["skipped"] == "capacity"
    kept = listed["dense.1"]["kept"]
    assert kept["name"] == "dbscan"
    assert kept["end"] >= "2026-01-01T00:04:20"
    assert {"clusters", "noise"} < kept.keys()
    assert (status["queries"], status["held_noun"]) == (3, "points")
    accepted = [row for row in rows if row["n"] >= 0]
    assert status["excluded"]["time"] == sum(row["ts"] is None for row in accepted)
    assert status["excluded"]["attributes"] == sum(row["ts"] is not None and row["x"] is None for row in accepted)
    assert status["outputs"].keys() == {"cluster", "member", "window"}
    metrics = site.client.get("/metrics").text
    assert 'operator="dbscan",reason="attributes"' in metrics
    assert "asc_operator_held{" in metrics


REFUSED = [
    ({"eps": 0}, "operator.eps 0: give a radius"),
    ({"eps": [1, "x"]}, "operator.eps x: give a radius"),
    ({"eps": []}, "operator.eps []: has no number"),
    ({"min_samples": [1] * 1_001}, "combinations of eps and min_samples 1001: are too many"),
    ({"min_samples": 2.5}, "operator.min_samples 2.5: give a whole number"),
    ({"attributes": ["name"]}, "operator.attributes name: is STRING, no number"),
    ({"attributes": ["1 + 1"]}, "operator.attributes 1 + 1: is the same for every record"),
    ({"attributes": ["x"] * 9}, "operator.attributes 9: a point has at most 8"),
    ({"position": "ST_Point(x, y)"}, "operator.attributes"),
    ({"attributes": None, "position": "x"}, "operator.position x: "),
    ({"time": "name"}, "operator.time name: is no TIMESTAMP"),
    ({"slide_s": 50}, "operator.slide_s 50: is longer than the window"),
    ({"window_s": 86_401}, "operator.window_s 86401: give seconds"),
    ({"window_points": 10}, "operator.window_points 10: and window_s cannot both be"),
    ({"key": "rand()"}, "operator.key rand(): "),
    ({"nope": 1}, "field operator nope: is not known"),
    (
        {"window_s": None, "slide_s": None, "window_points": POINTS_MAX + 1, "slide_points": 10},
        "operator.window_points 61: is more than the 60 points of a window: shorten it, or raise limits.stream_dbscan_",
    ),
]


@pytest.mark.parametrize(("wrong", "said"), REFUSED, ids=[str(wrong)[:40] for wrong, _ in REFUSED])
def test_what_makes_no_sense_is_refused_in_one_line(crowd: Site, wrong: dict[str, Any], said: str) -> None:
    answer = crowd.client.post("/v1/queries", json=asked("refused", "asc.refused", **wrong))
    assert answer.status_code == 400, answer.text
    message = answer.json()["error"]["message"]
    assert message.replace("'", "").replace('"', "").startswith(said.replace("'", "")), message
    assert "\n" not in message
    assert crowd.client.get("/v1/queries/refused").status_code == 404
    # A check judges as a registration does.
    checked = crowd.client.post("/v1/check", json=asked("refused", "asc.refused", **wrong))
    assert (checked.status_code, checked.json()) == (400, answer.json())


def test_lists_are_checked_together_and_belong_to_one_new_query(crowd: Site) -> None:
    several = asked("several", "asc.several", eps=[0.5, 1], min_samples=[2, 3])
    answer = crowd.client.post("/v1/check", json=several)
    assert answer.status_code == 200, answer.text
    assert answer.json()["combinations"] == 4
    assert [own["sql"] for own in answer.json()["expressions"]][1:3] == ["x * 2", "y"]
    assert "combinations" not in crowd.client.post("/v1/check", json=asked("one", "asc.one", eps=[1])).json()
    too_many = crowd.client.post("/v1/check", json=asked("several", "asc.several", eps=[1, 2, 3, 4, 5]))
    assert too_many.json()["error"]["message"] == (
        "queries of one operator 5: are more than a stream may have, 4: ask for fewer, or raise "
        "limits.stream_dbscan_queries"
    )
    said = "operator.eps '[0.5, 1]': is a list, which 'asc dbscan add' or a POST of one query divides: give one number"
    line = {"content-type": "application/x-ndjson"}
    loaded = crowd.client.post("/v1/queries", content=json.dumps(several), headers=line)
    changed = crowd.client.put("/v1/queries/several", json={key: several[key] for key in ("where", "operator")})
    for refused in (loaded, changed):
        assert refused.status_code == 400
        assert said in refused.json()["error"]["message"]
    wide = asked("wide", "asc.wide", window_s=None, slide_s=None, window_points=61, slide_points=10)
    loaded = crowd.client.post("/v1/queries", content=json.dumps(wide), headers=line)
    assert "line 1: operator.window_points 61: is more than the 60 points" in loaded.json()["error"]["message"]
    # One that is paused has no windows.
    paused = crowd.client.post("/v1/queries", json={**wide, "paused": True})
    assert paused.status_code == 201, paused.text
    resumed = crowd.client.put("/v1/queries/wide", json={"paused": False})
    assert "raise limits.stream_dbscan_points" in resumed.json()["error"]["message"]
    assert crowd.client.delete("/v1/queries/wide").status_code == 200


def test_a_topic_that_takes_too_little_stops_no_other_query(crowd: Site) -> None:
    for query_id in ("dense.1", "dense.2", "counted"):
        crowd.client.delete(f"/v1/queries/{query_id}")
    wide, narrow = crowd.topic("wide"), crowd.topic("narrow")
    before = crowd.client.get("/v1/plan").json()["streams"][crowd.stream("json")]["operators"].get("dbscan", {})
    crowd.register("wide", "n >= 0", wide, operator=asked("wide", wide)["operator"])
    crowd.create_topic(narrow, message_bytes_max=1_200)
    operator = asked("narrow", narrow, attributes=["x * 2", *["y"] * 7], eps=1.5, sample=1_000)["operator"]
    added = crowd.register("narrow", "n >= 0", narrow, operator=operator)
    assert added["warnings"] == [
        f"topic '{narrow}' takes records of at most 1,200 bytes, and those of this query may take 214,096: larger ones "
        "are counted and not written, unless you raise its max.message.bytes"
    ]
    rows = rows_of(range(1_000, 1_100))
    publish(crowd, rows)
    for second in (1_200, 1_201):
        publish(crowd, [{"name": "later", "ts": (BEGIN + timedelta(seconds=second)).isoformat(), "n": -1}])
    check_windows(rows, await_window(crowd, wide, {"wide"}, 1_100), "wide", 3)
    deadline = time.monotonic() + 120
    while True:
        status = crowd.client.get("/v1/plan").json()["streams"][crowd.stream("json")]["operators"]["dbscan"]
        if status["excluded"].get("output_too_large") and status["lag_records"] == 0:
            break
        assert time.monotonic() < deadline, status
        time.sleep(0.3)
    # Its clusters and members are small; of its windows only those without points are.
    found = records_in(crowd, narrow)
    assert {"cluster", "member"} <= {own["record"] for own in found}
    assert all(own["points"] < 20 for own in found if own["record"] == "window")
    assert status["failures"] == before.get("failures", 0)
    assert 'operator="dbscan",reason="output_too_large"' in crowd.client.get("/metrics").text
    for query_id in ("wide", "narrow"):
        assert crowd.client.delete(f"/v1/queries/{query_id}").status_code == 200


def test_a_worker_compiles_before_the_first_batch(spark: SparkSession) -> None:
    jobs = spark.sparkContext._jsc.sc().dagScheduler()
    before = jobs.numTotalJobs()
    sink = FeedSink("s", {}, request_bytes=1, topics=frozenset, limits_of=lambda names: {})
    DbscanReader(sink, 1).warm_up(spark)
    assert jobs.numTotalJobs() == before + 1
