"""Crowds of aircraft: the definition in the demonstration, scikit-learn's labels, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.dbscan.sphere import chord
from asc.operators.feed import Observation, Settings, Watermarks
from cli.demo import aircraft
from cli.demo.crowds import (
    EPS_M,
    LEAST_FT,
    MIN_SAMPLES,
    SLIDE_S,
    WINDOW_S,
    Crowds,
    compared,
    crowds_body,
    crowds_of,
    high_reports,
    lines_of,
    received_windows,
)
from workloads.aircraft import BEGIN, Reports, simulated

ROW_OF = {f"aircraft-0-{row}": row for row in range(100_000)}
BEGIN_US = round(BEGIN.timestamp()) * 1_000_000


@cache
def flown() -> Reports:
    return simulated(aircraft.AIRCRAFT, duration_s=aircraft.HOURS * 3_600)[1]


def records(reports: Reports) -> Iterator[dict[str, Any]]:
    """Yield what the operator makes of all reports, in the form of those that a topic delivers."""
    definition = DbscanDefinition.parse(crowds_body("aircraft")["operator"])
    query = definition.query("crowds", "asc.crowds", track="t", time="", selection="s", lateness_us=0)
    clusters = Clusters()
    list(clusters.outputs([Settings("dbscan", "aircraft", False, 200_000, (query.settings(),))]))
    rows, _, times_us = high_reports(reports)
    places = np.column_stack([reports.longitude, reports.latitude])[rows].tolist()
    messages: list[Observation | Watermarks] = [
        Observation("dbscan", "t", None, time_us, tuple(place), 0, row, ("s",))
        for row, place, time_us in zip(rows.tolist(), places, times_us.tolist(), strict=True)
    ]
    for output in clusters.outputs([*messages, Watermarks({"": BEGIN_US + 100 * 3_600_000_000})]):
        yield {"value": output.value, "source": output.source}


def test_what_the_operator_tells_is_the_definition_and_crowds_merge_and_split() -> None:
    found, changes = received_windows(records(flown()), ROW_OF)
    wanted = crowds_of(flown())
    verdict = compared(found, wanted)
    assert verdict["agrees"]
    assert verdict["windows"] == len(wanted) > 200
    assert verdict["received"] == verdict["expected"] > 1_000
    events = {event for one in changes for event in one["events"]}
    assert {"merge", "split"} <= events
    lines = lines_of(changes)
    assert len(lines) == 3
    assert any("crowds merge" in line or "a crowd splits" in line for line in lines)


def test_the_labels_of_the_definition_are_those_of_scikit_learn() -> None:
    from sklearn.cluster import DBSCAN

    reports = flown()
    rows, vectors, times_us = high_reports(reports)
    ends = 0
    for end_s, own in crowds_of(reports).items():
        end_us = BEGIN_US + end_s * 1_000_000
        held = np.flatnonzero((times_us >= end_us - WINDOW_S * 1_000_000) & (times_us < end_us))
        if not len(held):
            assert own == Crowds({}, 0)
            continue
        fitted = DBSCAN(eps=chord(EPS_M), min_samples=MIN_SAMPLES, algorithm="kd_tree").fit(vectors[held])
        core = set(fitted.core_sample_indices_.tolist())
        by_row = {
            row: (label, "core" if place in core else "border")
            for place, (row, label) in enumerate(zip(rows[held].tolist(), fitted.labels_.tolist(), strict=True))
            if label >= 0
        }
        assert own == Crowds(by_row, len(held) - len(by_row)), end_s
        ends += 1
    assert ends > 200


def change(**changes: Any) -> dict[str, Any]:
    """Return a record of the window that ends a minute after the beginning."""
    return {
        "value": json.dumps({"query": "crowds", "window": ["2026-06-01T15:00:00Z", "2026-06-01T15:01:00Z"], **changes})
    }


MEMBER = change(record="member", source="aircraft-0-7", label=0, role="core")
WINDOW = change(record="window", noise=2)


@pytest.mark.parametrize(
    ("sent", "agrees"),
    [
        ([MEMBER, WINDOW], True),
        ([MEMBER, WINDOW, MEMBER, WINDOW], True),
        ([MEMBER], False),
        ([WINDOW], False),
        ([MEMBER, change(record="window", noise=3)], False),
        ([change(record="member", source="aircraft-0-7", label=1, role="core"), WINDOW], False),
        ([change(record="member", source="aircraft-0-7", label=0, role="border"), WINDOW], False),
        ([change(record="member", source="aircraft-9-7", label=0, role="core"), WINDOW], False),
        ([MEMBER, change(record="member", source="aircraft-0-8", label=0, role="core"), WINDOW], False),
    ],
)
def test_each_label_role_and_noise_is_compared(sent: list[dict[str, Any]], agrees: bool) -> None:
    found, _ = received_windows(sent, ROW_OF)
    assert compared(found, {60: Crowds({7: (0, "core")}, 2)})["agrees"] is agrees


def test_merges_and_splits_are_said_and_nothing_else() -> None:
    own = {"record": "cluster", "cluster": "1780326060000-0", "label": 0, "points": 41, "center": [8.123, 46.9]}
    _, changes = received_windows(
        [change(**own, events=["grow"]), change(**{**own, "label": 1}, events=["merge", "split"])], ROW_OF
    )
    assert lines_of(changes) == [
        "15:01:00  crowds merge and a crowd splits: 41 reports around 8.12 46.90, 1780326060000-0"
    ]
    assert str(LEAST_FT) in crowds_body("aircraft")["where"]
    assert crowds_body("aircraft")["operator"]["slide_s"] == SLIDE_S
