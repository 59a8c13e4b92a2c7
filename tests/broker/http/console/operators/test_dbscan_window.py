"""The last window of a query from the end of its topic: whole, in any order of partitions, whatever else is there."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from asc.operators.dbscan.dbscan_query import SAMPLE_MAX
from broker.http.console.operators.dbscan_window import SeenWindow, TopicEnd
from tests.broker.http.console.operators.dbscan_records import (
    BY_COUNTS,
    Topic,
    cluster_record,
    outputs,
    window_record,
)


def read(topic: Topic, *others: str) -> TopicEnd:
    end = TopicEnd("crowds", others)
    end.read(topic.records)
    return end


def whole_window(topic: Topic, end: int, clusters: int, query: str = "crowds") -> Topic:
    for label in range(clusters):
        topic.send(query, cluster_record(query, end, label))
    return topic.send(query, window_record(query, end, clusters))


def test_what_an_operator_writes_is_read_as_it_is() -> None:
    drawn = np.random.default_rng(7)
    rows = np.concatenate([drawn.normal((place % 3 * 4, 0), 0.3, (1, 2)) for place in range(240)])
    found = outputs(rows, {**BY_COUNTS, "attributes": ["x", "y"], "members": "all"})
    topic = Topic().send_all(found)
    end = TopicEnd("crowds")
    assert end.read(topic.records)
    last = end.last
    assert last is not None
    plain = [json.loads(own.value) for own in found]
    window = [own for own in plain if own["record"] == "window"][-1]
    clusters = [own for own in plain if own["record"] == "cluster" and own["window"] == window["window"]]
    assert last.window.bounds == tuple(window["window"]) == (101, 200)
    counts = ("clusters", "points", "core", "border", "noise")
    assert [getattr(last.window, name) for name in counts] == [window[name] for name in counts]
    assert [[*values, label] for values, label in last.window.sample] == window["sample"]
    assert [own.id for own in last.clusters] == [own["cluster"] for own in clusters]
    assert [list(own.origins) for own in last.clusters] == [own["from"] for own in clusters]
    assert [own.center for own in last.clusters] == [tuple(own["center"]) for own in clusters]
    assert len(last.clusters) == 3


def test_the_last_window_is_that_of_the_last_window_record() -> None:
    topic = whole_window(whole_window(Topic(), 10, 3), 20, 2)
    topic.send("crowds", cluster_record("crowds", 30, 0))
    last = read(topic).last
    assert last is not None
    assert (last.window.bounds, [own.id for own in last.clusters]) == ((11, 20), ["20-0", "20-1"])


@pytest.mark.parametrize("again", [0, 1, 2, 3])
def test_a_window_that_is_written_again_from_its_middle_on_is_whole(again: int) -> None:
    topic = whole_window(Topic(), 10, 3)
    for record in topic.records[again:4]:
        assert record.value is not None
        topic.send("crowds", record.value)
    end = TopicEnd("crowds")
    assert end.read(topic.records)
    assert end.last is not None
    assert [own.label for own in end.last.clusters] == [0, 1, 2]


def test_clusters_that_are_further_back_are_missed_and_looked_for() -> None:
    topic = whole_window(Topic(), 10, 3)
    end = TopicEnd("crowds")
    assert not end.read([])
    assert end.last is None
    for first in (3, 1):
        assert not end.read(topic.records[first:])
        assert end.last is not None
        assert not end.last.is_whole
        assert len(end.last.clusters) == 3 - first
    assert end.read(topic.records)


@pytest.mark.parametrize("there", [[], [0], [1]])
def test_clusters_of_the_window_before_are_none_of_the_last_one(there: list[int]) -> None:
    topic = whole_window(Topic(), 10, 3)
    for label in there:
        topic.send("crowds", cluster_record("crowds", 20, label))
    last = read(topic.send("crowds", window_record("crowds", 20, 3))).last
    assert last is not None
    assert [own.id for own in last.clusters] == [f"20-{label}" for label in there]


def test_other_queries_of_the_topic_have_their_windows_alone() -> None:
    topic = whole_window(whole_window(Topic(), 10, 2), 20, 1, "dense.1")
    end = TopicEnd("crowds", {"dense.1", "dense.2"})
    assert not end.read(topic.records)
    whole_window(topic, 10, 3, "dense.2")
    assert end.read(topic.records)
    assert {query: own.clusters for query, own in end.windows.items()} == {"crowds": 2, "dense.1": 1, "dense.2": 3}
    assert end.last is not None
    assert [own.id for own in end.last.clusters] == ["10-0", "10-1"]


def test_a_topic_that_got_partitions_has_the_newest_of_both() -> None:
    old = whole_window(Topic(partition=1, timestamp=5), 10, 3)
    new = whole_window(Topic(partition=0, timestamp=9), 20, 1)
    end = TopicEnd("crowds")
    assert end.read([*old.records, *new.records])
    assert end.last is not None
    assert end.last.window.bounds == (11, 20)


def test_a_skipped_and_an_empty_window_are_whole() -> None:
    skipped = {"query": "crowds", "record": "window", "window": ["a", "b"], "partial": True, "skipped": "capacity"}
    last = read(Topic().send("crowds", skipped)).last
    assert last is not None
    assert last.window == SeenWindow(("a", "b"), is_partial=True, is_skipped=True)
    assert last.is_whole
    last = read(Topic().send("crowds", window_record("crowds", 10, 0, points=0, noise=0))).last
    assert last is not None
    assert last.is_whole
    assert last.window.sample == ()


def test_more_than_two_attributes_are_their_first_two_and_what_is_not_finite_has_no_place() -> None:
    topic = Topic().send(
        "crowds", cluster_record("crowds", 10, 0, center=[None, 1.0, 2.0], box=[[0, 0, 0], [1, None, 1]])
    )
    topic.send("crowds", window_record("crowds", 10, 1, sample=[[1.0, 2.0, 3.0, 0], [4, 5, 6, -1]]))
    last = read(topic).last
    assert last is not None
    assert (last.clusters[0].center, last.clusters[0].box) == (None, None)
    assert last.window.sample == (((1.0, 2.0), 0), ((4.0, 5.0), -1))


def test_no_more_of_a_sample_is_taken_than_a_definition_allows() -> None:
    sample = [[1.0, 2.0, -1]] * (SAMPLE_MAX + 1)
    last = read(Topic().send("crowds", window_record("crowds", 10, 0, sample=sample))).last
    assert last is not None
    assert len(last.window.sample) == SAMPLE_MAX


FOREIGN: list[Any] = [
    b"",
    b"{",
    b"null",
    b"[" * 100_000,
    b"\xff",
    b'{"window":[1,2]}',
    b"1" * 5_000,
    {"query": "other", "record": "window", "window": [1, 2]},
    window_record("crowds", 99, 1, window="ab c"),
    window_record("crowds", 99, 1, window=[1.5, 2]),
    window_record("crowds", 99, 1, window=["x" * 101, "y"]),
    window_record("crowds", 99, 1, clusters=-1),
    window_record("crowds", 99, 1, clusters="1"),
    window_record("crowds", 99, 1, clusters=True),
    window_record("crowds", 99, 1, sample=[[0]]),
    window_record("crowds", 99, 1, sample=[[True, 1.0, 0]]),
    window_record("crowds", 99, 1, sample=[["x", 1.0, 0]]),
    window_record("crowds", 99, 1, sample=[[1.0, 1.0, -2]]),
    window_record("crowds", 99, 1, sample=5),
    window_record("crowds", 99, 1, disappeared=[]),
    window_record("crowds", 99, 1, disappeared={"a": [1]}),
    cluster_record("crowds", 10, 1, label="1"),
    cluster_record("crowds", 10, 1, box=[]),
    cluster_record("crowds", 10, 1, events=[1]),
    cluster_record("crowds", 10, 1, center=[]),
    cluster_record("crowds", 10, 1, cluster=None),
    cluster_record("crowds", 10, 1, cluster="x" * 101),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=range(len(FOREIGN)))
def test_what_is_no_record_of_it_is_passed_over(foreign: Any) -> None:
    topic = whole_window(Topic(), 10, 2).send("crowds", foreign)
    topic.records.insert(0, topic.records[-1])
    end = TopicEnd("crowds")
    end.read(topic.records)
    assert end.last is not None
    assert end.last.window.bounds == (1, 10)
    assert [own.id for own in end.last.clusters] == ["10-0", "10-1"]


def test_a_record_that_another_query_routed_is_none_of_it() -> None:
    topic = whole_window(Topic(), 10, 2)
    topic.send("elsewhere", window_record("crowds", 99, 1))
    own = topic.records[-2]
    topic.records.append(type(own)(len(topic.records), own.value, ()))
    topic.records.append(type(own)(len(topic.records), None, own.headers))
    end = read(topic)
    assert end.last is not None
    assert end.last.window.bounds == (1, 10)
