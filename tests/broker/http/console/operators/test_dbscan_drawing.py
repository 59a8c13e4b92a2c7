"""The drawing of a window: what is in it, that it is well formed, and that texts are no markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from asc.operators.dbscan.definition import DbscanDefinition
from broker.http.console.operators.dbscan_drawing import BOXES_DRAWN, window_drawing
from broker.http.console.operators.dbscan_marks import ClusterMark
from broker.http.console.operators.dbscan_plane import HEIGHT, WIDTH
from broker.http.console.operators.dbscan_window import LastWindow, TopicEnd
from tests.broker.http.console.operators.dbscan_records import (
    BY_COUNTS,
    Topic,
    cluster_record,
    outputs,
    window_record,
)

PLAIN = {**BY_COUNTS, "attributes": ["x", "y"]}
POSITION = {**BY_COUNTS, "position": "ST_Point(x, y)", "eps": 2_000}


def read(topic: Topic) -> LastWindow:
    end = TopicEnd("crowds")
    end.read(topic.records)
    assert end.last is not None
    return end.last


def drawing(last: LastWindow, plain: dict[str, Any] = PLAIN) -> str:
    return str(window_drawing(last, DbscanDefinition.parse(plain), "points 1 to 100"))


def svg(text: str) -> ET.Element:
    found = ET.fromstring(text).find("svg")
    assert found is not None
    return found


def window(sample: Sequence[Sequence[float]], clusters: int = 0, **changes: Any) -> LastWindow:
    topic = Topic()
    for label in range(clusters):
        topic.send("crowds", cluster_record("crowds", 100, label, **changes))
    return read(topic.send("crowds", window_record("crowds", 100, clusters, points=len(sample), sample=sample)))


def computed(rows: np.ndarray[Any, Any], plain: dict[str, Any]) -> LastWindow:
    return read(Topic().send_all(outputs(rows, plain)))


def crowds(count: int, scale: float = 1.0, about: float = 0.0) -> np.ndarray[Any, Any]:
    drawn = np.random.default_rng(3)
    middles = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 4.0]])[np.arange(count) % 3]
    return about + scale * (middles + drawn.normal(0, 0.2, (count, 2)))


def test_each_point_of_the_sample_is_drawn_with_the_mark_of_its_id() -> None:
    last = computed(np.concatenate([crowds(90), [[50.0, 3.0]] * 2, crowds(8)]), {**PLAIN, "sample": 1_000})
    found = svg(drawing(last))
    groups = {group.findtext("title"): group for group in found.findall("g")}
    assert len(groups) == last.window.clusters + 1 == 4
    assert len(groups["noise"]) - 1 == 2
    for own in last.clusters:
        group = groups[f"{own.id}: {own.points:,} points, {own.core:,} core"]
        assert len(group) - 1 == own.points
        assert group.get("class") == ClusterMark.of(own.id).css
    assert len(found.findall("rect")) == 3
    assert sorted(own.text or "" for own in found.findall("text[@class='label']")) == ["0", "1", "2"]


def test_it_has_a_title_and_a_description_by_which_it_is_named() -> None:
    found = svg(drawing(computed(crowds(100), PLAIN)))
    assert (found.get("role"), found.get("aria-labelledby")) == ("img", "window-title window-told")
    assert found.findtext("title[@id='window-title']") == "Clusters of the window points 1 to 100"
    description = found.findtext("desc[@id='window-told']") or ""
    assert description.startswith("3 clusters of 100 core and 0 border points, 0 noise; 100 of 100 points are drawn.")


def test_a_line_as_long_as_eps_is_drawn_where_it_can_be_seen() -> None:
    for plain, corner, said in ((PLAIN, (4.0, 3.0), "eps 0.5"), (POSITION, (0.05, 0.05), "eps 2,000 m")):
        found = svg(drawing(window([[0.0, 0.0, -1], [*corner, -1]]), plain))
        (bar,) = found.findall("line[@class='line scale']")
        pixels = float(bar.get("x2", "0")) - float(bar.get("x1", "0"))
        (low, high) = (float(own.get("cy", "0")) for own in found.findall(".//circle"))
        up = corner[1] if plain is PLAIN else corner[1] * 111_195
        assert pixels == pytest.approx((low - high) / up * float(plain["eps"]), rel=0.01)
        assert said in [own.text for own in found.findall("text")]
    assert "line scale" not in drawing(window([[0.0, 0.0, -1], [4e6, 3e6, -1]]))


def test_more_than_two_attributes_are_drawn_by_the_first_two_and_said() -> None:
    plain = {**BY_COUNTS, "attributes": ["x", "y", "z"]}
    rows = np.column_stack([crowds(100), np.zeros(100)])
    assert "of 3 attributes the first two" in drawing(computed(rows, plain), plain)
    plain = {**BY_COUNTS, "attributes": ["speed"]}
    text = drawing(computed(crowds(100)[:, :1], plain), plain)
    assert "across speed." in text
    svg(text)


@pytest.mark.parametrize("count", [0, 1, 2, 200, 1_000])
def test_a_sample_of_any_size_is_drawn(count: int) -> None:
    found = svg(drawing(window([[float(place % 17), float(place % 11), -1] for place in range(count)])))
    assert len(found.findall(".//circle")) == count


@pytest.mark.parametrize(
    ("scale", "about"), [(1e300, 0.0), (1e-300, 0.0), (1.0, 5.2e6), (1e-3, 1.5e9), (1e8, 1e15), (0.0, 7.0)]
)
def test_values_of_any_size_have_labels_and_places_within(scale: float, about: float) -> None:
    plain = {**PLAIN, "eps": 1.0}
    sample = [[*row, -1] for row in crowds(50, scale, about).tolist()]
    center, box = sample[0][:2], [sample[0][:2], sample[0][:2]]
    text = drawing(window(sample, 1, center=center, box=box), plain)
    assert "nan" not in text
    assert "inf" not in text
    for name, most in (("x", WIDTH), ("cx", WIDTH), ("y", HEIGHT), ("cy", HEIGHT)):
        assert all(0 <= float(own) <= most for own in re.findall(rf' {name}="([^"]*)"', text))
    labels = [own.text or "" for own in svg(text).findall("text[@class='axis']")]
    assert labels
    assert all(len(own) <= 16 for own in labels)


def test_a_box_across_the_antimeridian_is_drawn_once_with_degrees_as_they_are() -> None:
    sample = [[179.9, -17.0, 0], [-179.9, -17.1, 0], [-179.8, -17.0, 0]]
    found = window(sample, 1, center=[-179.93, -17.03], box=[[179.9, -17.1], [-179.8, -17.0]])
    text = drawing(found, POSITION)
    labels = [own.text or "" for own in svg(text).findall("text[@class='axis']")]
    assert {"179.9", "-179.8"} <= {f"{float(own):g}" for own in labels if "eps" not in own}
    (box,) = svg(text).findall("rect")
    assert float(box.get("width", "0")) > 200


def test_what_is_not_finite_is_left_out() -> None:
    found = window([[0.0, 0.0, 0], [1.0, 1.0, 0]], 1, center=[None, 1.0], box=[[None, 0.0], [1.0, 1.0]])
    assert svg(drawing(found)).findall("rect") == []


def test_points_of_a_cluster_whose_record_is_missing_are_drawn_without_an_id() -> None:
    topic = Topic().send("crowds", window_record("crowds", 100, 2, sample=[[0.0, 0.0, 1], [1.0, 0.0, -1]]))
    text = drawing(read(topic))
    assert "cluster with the label 1" in text
    assert 'class="unknown"' in text
    assert "mark-" not in text


def test_of_many_clusters_the_largest_have_boxes_and_that_is_said() -> None:
    topic = Topic()
    for label in range(BOXES_DRAWN + 50):
        topic.send("crowds", cluster_record("crowds", 100, label, points=label + 1))
    sample = [[1.0, 1.0, -1]]
    text = drawing(read(topic.send("crowds", window_record("crowds", 100, BOXES_DRAWN + 50, noise=0, sample=sample))))
    labels = [int(own.text or "") for own in svg(text).findall("text[@class='label']")]
    assert labels == list(range(50, BOXES_DRAWN + 50))
    assert f"Boxes of the {BOXES_DRAWN} largest clusters" in text


def test_texts_are_no_markup() -> None:
    odd = '"><script>alert(1)</script>\u202e'
    plain = {**BY_COUNTS, "attributes": [f"x{odd}", "<b>y</b>"]}
    last = window([[0.0, 0.0, 0]], 1, cluster=odd)
    text = str(window_drawing(last, DbscanDefinition.parse(plain), odd))
    assert "<script" not in text
    assert "<b>" not in text
    assert "\u202e" not in text
    svg(text)


def test_a_tall_window_and_a_flat_one_are_within_and_equal() -> None:
    for sample in ([[0.0, 0.0, -1], [0.001, 90.0, -1]], [[0.0, 1.0, -1], [90.0, 1.0, -1]]):
        for plain in (PLAIN, POSITION):
            assert "nan" not in drawing(window(sample), plain)
