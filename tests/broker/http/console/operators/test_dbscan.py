"""The pages of DBSCAN queries: what they show is what is at the end of a topic, to those who may see it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from broker.errors import KafkaError
from broker.http.console.operators import dbscan
from broker.http.console.operators.dbscan import READ_BYTES_MAX, cluster_rows
from broker.http.console.operators.dbscan_marks import ClusterMark
from broker.http.console.operators.dbscan_window import TopicEnd
from broker.kafka.last_records import record_bytes
from broker.kafka.newest_records import newest_records
from tests.broker.http.console.operators.dbscan_records import Topic, cluster_record, outputs, window_record
from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Browse = Callable[[str], TestClient]
Register = Callable[..., None]
Send = Callable[..., str]

TOPIC = "con-crowds"
BY_COUNTS = {"name": "dbscan", "attributes": ["n", "d"], "time": "_timestamp"}
SETTINGS = {"eps": 0.5, "min_samples": 3, "window_points": 100, "slide_points": 50}
OPERATOR = {**BY_COUNTS, **SETTINGS}
PART = {"hx-request": "true"}


@pytest.fixture
def send(send_to: Send) -> Callable[[Topic], None]:
    """Return what sends the records of a partition to the topic of the queries."""

    def sent(topic: Topic) -> None:
        for record in topic.records:
            send_to(TOPIC, record.value, headers=list(record.headers))

    return sent


@pytest.fixture
def crowds(registered: Register, send: Callable[[Topic], None]) -> list[dict[str, Any]]:
    """Return the records of a query whose last window has three clusters, two of them of a split."""
    registered({"con-crowds": "n > 5"}, operator=OPERATOR, topic=TOPIC)
    registered({"con-dense": "n > 7 AND s = '<b>'"}, operator={**OPERATOR, "eps": 0.25}, topic=TOPIC)
    drawn = np.random.default_rng(5)
    middles = np.array([[0.0, 0.0], [5.0, 0.0]])
    first = middles[np.arange(100) % 2] + drawn.normal(0, 0.1, (100, 2))
    first[1::20] += (0.0, 30.0)
    found = outputs(first, {**OPERATOR}, "con-crowds")
    send(Topic().send_all(found))
    send(Topic().send_all(outputs(first, {**OPERATOR, "eps": 0.001}, "con-dense")))
    return [json.loads(own.value) for own in found]


def rows_of(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table that has a heading."""
    (table,) = (own for own in re.findall(r"<table>.*?</table>", text, re.DOTALL) if f'">{heading}</th>' in own)
    rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    return [[page_text(cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows]


def test_a_page_shows_what_is_at_the_end_of_the_topic(browse: Browse, crowds: list[dict[str, Any]]) -> None:
    answer = browse("all").get("/console/dbscan/con-crowds")
    assert answer.status_code == 200
    text = answer.text
    *clusters, window = crowds
    assert "The window points 1 to 100." in page_text(text)
    figures = dict(re.findall(r"<dt>(\w+)</dt><dd>(.*?)</dd>", text))
    names = ("clusters", "points", "core", "border", "noise")
    assert [figures[name] for name in names] == [f"{window[name]:,}" for name in names]
    found = rows_of(text, "event")
    assert found[0] == ["id", "label", "points", "core", "event", "from"]
    ordered = sorted(clusters, key=lambda own: -own["points"])
    assert found[1:] == [
        [own["cluster"], str(own["label"]), str(own["points"]), str(own["core"]), "appear", ""] for own in ordered
    ]
    for own in clusters:
        mark = ClusterMark.of(own["cluster"])
        assert text.count(f'class="{mark.css}"') + text.count(f"swatch {mark.css}") >= 2
    assert text.count('class="label"') == len(clusters)


def test_the_part_of_the_page_of_the_query_is_the_same_and_has_a_link_without_scripts(
    browse: Browse, crowds: list[dict[str, Any]]
) -> None:
    client = browse("all")
    page = client.get("/console/dbscan/con-crowds").text
    part = client.get("/console/dbscan-window/con-crowds", headers=PART).text
    assert "<html" not in part
    assert part.strip() in page
    query = client.get("/console/queries/con-crowds").text
    assert '<div hx-get="/console/dbscan-window/con-crowds" hx-trigger="load">' in query
    assert 'href="/console/dbscan/con-crowds">Look at its clusters</a>' in query
    assert 'href="/console/dbscan">Clusters</a>' in query


def test_settings_of_the_topic_have_clusters_and_noise_of_each(browse: Browse, crowds: list[dict[str, Any]]) -> None:
    text = browse("all").get("/console/dbscan/con-crowds").text
    first, other = rows_of(text, "end of last window")[1:]
    window = crowds[-1]
    assert first[:5] == ["con-crowds", "0.5", "3", "100 points every 50", "n > 5"]
    assert first[5:] == [str(window["clusters"]), str(window["noise"]), "100", "100"]
    assert other[:2] + other[5:] == ["con-dense", "0.25", "0", "100", "100", "100"]
    assert "<b>" not in text
    # A caller sees the settings that it may see, and of its own queries alone.
    assert browse("ops").get("/console/dbscan/con-crowds").status_code in {403, 404}


def test_events_and_ids_that_are_gone_are_told(
    browse: Browse, registered: Register, send: Callable[[Topic], None]
) -> None:
    registered({"con-crowds": "true"}, operator=OPERATOR, topic=TOPIC)
    topic = Topic().send(
        "con-crowds", cluster_record("con-crowds", 100, 0, events=["merge", "split"], **{"from": ["50-0", "50-1"]})
    )
    topic.send(
        "con-crowds",
        window_record("con-crowds", 100, 1, disappeared={"50-1": ["100-0"], "50-7": []}, disappeared_more=3),
    )
    send(topic)
    text = browse("all").get("/console/dbscan/con-crowds").text
    assert rows_of(text, "event")[1][4:] == ["merge, split", "50-0, 50-1"]
    assert re.findall("<li>(.*?)</li>", text.replace("\n", ""))[0].startswith('<span class="cut" title="50-1">50-1')
    said = page_text(text)
    assert "50-1, its points joined 100-0" in said
    assert "50-7" in said
    assert "And 3 more." in said


def test_windows_that_are_skipped_empty_or_not_there_say_so(
    browse: Browse, registered: Register, send: Callable[[Topic], None]
) -> None:
    registered(
        {"con-young": "true"},
        operator={**BY_COUNTS, "eps": 1, "min_samples": 2, "window_s": 600, "slide_s": 60},
        topic="con-young",
    )
    text = page_text(browse("all").get("/console/dbscan/con-young").text)
    assert "No window of it is at the end of its topic" in text
    assert "10 min every 60 s" in text
    registered({"con-crowds": "true"}, operator=OPERATOR, topic=TOPIC)
    skipped = {
        "query": "con-crowds",
        "record": "window",
        "window": [1, 300_000],
        "partial": True,
        "skipped": "capacity",
    }
    send(Topic().send("con-crowds", skipped))
    text = page_text(browse("all").get("/console/dbscan/con-crowds").text)
    assert "Skipped. It has more points than limits.stream_dbscan_points allows" in text
    assert "It is partial" in text
    send(Topic().send("con-crowds", window_record("con-crowds", 9, 0, points=0, noise=0)))
    text = browse("all").get("/console/dbscan/con-crowds").text
    assert "It has no point." in page_text(text)
    assert "<figure" not in text


def test_clusters_further_back_than_what_is_read_are_said_to_be(
    browse: Browse, registered: Register, send: Callable[[Topic], None]
) -> None:
    registered({"con-crowds": "true"}, operator=OPERATOR, topic=TOPIC)
    send(Topic().send("con-crowds", window_record("con-crowds", 777, 2)))
    text = page_text(browse("all").get("/console/dbscan/con-crowds").text)
    assert "2 of its clusters are further back in the topic than the 8 MB that are read" in text


def test_no_more_than_8_mb_are_read(resting: Resting, send_to: Send) -> None:
    member = window_record("con-crowds", 100, 0, record="member", source="s" * 60_000)
    for _ in range(160):
        send_to(
            "con-large", json.dumps(member).encode(), headers=[("asc-query", b"con-crowds"), ("asc-source", b"s-0-1")]
        )
    end = TopicEnd("con-crowds")
    found = newest_records(
        resting.cluster.client, "con-large", most_bytes=READ_BYTES_MAX, within_s=30, are_enough=end.read
    )
    assert READ_BYTES_MAX / 2 < sum(map(record_bytes, found)) <= READ_BYTES_MAX == 8 << 20
    assert end.last is None


def test_a_kafka_that_is_down_is_told_on_page_and_part(
    browse: Browse, registered: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered({"con-crowds": "true"}, operator=OPERATOR, topic=TOPIC)

    def down(*_: Any, **__: Any) -> list[Any]:
        raise KafkaError("Kafka", "127.0.0.1:1", "does not answer: start it")

    monkeypatch.setattr(dbscan, "newest_records", down)
    client = browse("all")
    answer = client.get("/console/dbscan/con-crowds")
    assert answer.status_code == 503
    assert "does not answer: start it" in html.unescape(answer.text)
    assert "does not answer" in client.get("/console/dbscan-window/con-crowds", headers=PART).text


def test_a_list_has_all_of_them_and_others_have_no_such_page(
    browse: Browse, registered: Register, crowds: list[dict[str, Any]]
) -> None:
    client = browse("all")
    text = client.get("/console/dbscan").text
    assert re.findall(r'href="/console/dbscan/([^"]*)"', text) == ["con-crowds", "con-dense"]
    assert "eps 0.25, min_samples 3 over n, d, 100 points every 50" in text
    assert "No DBSCAN query is registered that this token sees" in browse("ops").get("/console/dbscan").text
    registered({"con-plain": "n > 5"})
    answer = client.get("/console/dbscan/con-plain")
    assert answer.status_code == 404
    assert "is a query of another kind" in page_text(answer.text)
    assert client.get("/console/dbscan/con-never").status_code == 404
    assert client.get("/console/dbscan/").headers["location"] == "/console/dbscan"


def test_who_may_not_see_records_sees_no_cluster(browse: Browse, crowds: list[dict[str, Any]]) -> None:
    for path in ("/console/dbscan/con-crowds", "/console/dbscan-window/con-crowds"):
        answer = browse("column").get(path)
        assert answer.status_code == 403
        assert crowds[0]["cluster"] not in answer.text


def test_the_largest_clusters_have_rows() -> None:
    topic = Topic()
    for label in range(70):
        topic.send(
            "crowds",
            cluster_record(
                "crowds", 100, label, points=label + 3, **{"from": [f"50-{n}" for n in range(20)]}, from_more=5
            ),
        )
    end = TopicEnd("crowds")
    end.read(topic.send("crowds", window_record("crowds", 100, 70, points=5_000, noise=0)).records)
    assert end.last is not None
    rows = cluster_rows(end.last)
    assert [row["points"] for row in rows] == list(range(72, 22, -1))
    assert (len(rows[0]["origins"]), rows[0]["more"]) == (8, 17)
