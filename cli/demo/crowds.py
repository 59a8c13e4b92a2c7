"""The DBSCAN query of ``asc demo aircraft``, which reports crowds of aircraft that merge and split. The clusters are
also computed by the definition of DBSCAN for comparison.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from asc.operators.dbscan.reference import labels, time_windows
from asc.operators.dbscan.sphere import chord, unit_vectors
from workloads.aircraft import BEGIN, Reports

QUERY = "crowds"
EPS_M, MIN_SAMPLES = 25_000, 10
WINDOW_S, SLIDE_S = 60, 30
LEAST_FT = 30_000

_US = 1_000_000
_SHOWN = 3
_CHANGE_TEXTS = {"merge": "crowds merge", "split": "a crowd splits"}


class Crowds(NamedTuple):
    """The clusters of one window. ``members``: label and role of each report that is not noise, by the report's row.
    ``noise``: the number of noise reports.
    """

    members: Mapping[int, tuple[int, str]]
    noise: int


def crowds_body(stream: str) -> dict[str, Any]:
    """Return the request body that registers the DBSCAN query."""
    return {
        "id": QUERY,
        "stream": stream,
        "where": f"altitude >= {LEAST_FT}",
        "operator": {
            "name": "dbscan",
            "position": "ST_Point(longitude, latitude)",
            "eps": EPS_M,
            "min_samples": MIN_SAMPLES,
            "time": "ts",
            "window_s": WINDOW_S,
            "slide_s": SLIDE_S,
            "members": "all",
        },
    }


def crowds_of(reports: Reports) -> dict[int, Crowds]:
    """Return the clusters of every window, by the end of the window in seconds after BEGIN. They are computed from all
    pairs of reports in a window.
    """
    rows, vectors, times_us = high_reports(reports)
    begin_us = round(BEGIN.timestamp()) * _US
    until_us = int(times_us.max(initial=begin_us)) + 2 * (WINDOW_S + SLIDE_S) * _US
    windows = {}
    for _, end_us, held in time_windows(times_us, WINDOW_S * _US, SLIDE_S * _US, until_us):
        own, core = labels(vectors[held], chord(EPS_M), MIN_SAMPLES)
        members = {
            row: (label, "core" if is_core else "border")
            for row, label, is_core in zip(rows[held].tolist(), own.tolist(), core.tolist(), strict=True)
            if label >= 0
        }
        windows[(end_us - begin_us) // _US] = Crowds(members, len(held) - len(members))
    return windows


def high_reports(reports: Reports) -> tuple[Any, Any, Any]:
    """Return three arrays about the reports that the query accepts, in the order of the reports: rows, positions as
    unit vectors, and times in microseconds.
    """
    rows = np.flatnonzero(reports.altitude_ft >= LEAST_FT)
    vectors = unit_vectors(np.column_stack([reports.longitude, reports.latitude])[rows])
    seconds = np.rint(reports.seconds[rows] + BEGIN.timestamp()).astype(np.int64)
    return rows, vectors, seconds * _US


def received_windows(
    records: Iterable[Mapping[str, Any]], row_of: Mapping[str, int]
) -> tuple[dict[int, Crowds], list[dict[str, Any]]]:
    """Return the clusters of each window that the received records complete, by the window's end. Also return the
    records of clusters that merged or split, ordered by window and label.
    """
    members: dict[int, dict[int, tuple[int, str]]] = {}
    windows: dict[int, Crowds] = {}
    changes: dict[tuple[int, int], dict[str, Any]] = {}
    for output in (json.loads(record["value"]) for record in records):
        end_s = _seconds(output["window"][1])
        if output["record"] == "member":
            members.setdefault(end_s, {})[row_of.get(output["source"], -1)] = (output["label"], output["role"])
        elif output["record"] == "window":
            windows[end_s] = Crowds(members.get(end_s, {}), output["noise"])
        elif not _CHANGE_TEXTS.keys().isdisjoint(output["events"]):
            changes[end_s, output["label"]] = output
    return windows, [changes[place] for place in sorted(changes)]


def compared(arrived: Mapping[int, Crowds], wanted: Mapping[int, Crowds]) -> dict[str, Any]:
    """Compare the received windows with the expected ones. Return the number of received windows, the numbers of
    received and expected labels, and whether all clusters are equal.

    >>> one, other = Crowds({7: (0, "core")}, 2), Crowds({7: (1, "core"), 9: (0, "border")}, 1)
    >>> compared({60: one}, {60: other})
    {'windows': 1, 'received': 1, 'expected': 2, 'agrees': False}
    """
    received, expected = (sum(len(own.members) for own in each.values()) for each in (arrived, wanted))
    return {"windows": len(arrived), "received": received, "expected": expected, "agrees": arrived == wanted}


def lines_of(changes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the last merges and splits in words."""
    lines = []
    for one in list(changes)[-_SHOWN:]:
        at = datetime.fromisoformat(one["window"][1].replace("Z", "+00:00")).strftime("%H:%M:%S")
        longitude, latitude = one["center"]
        said = " and ".join(_CHANGE_TEXTS[event] for event in one["events"] if event in _CHANGE_TEXTS)
        lines.append(f"{at}  {said}: {one['points']} reports around {longitude:.2f} {latitude:.2f}, {one['cluster']}")
    return lines


def _seconds(time: str) -> int:
    return round((datetime.fromisoformat(time.replace("Z", "+00:00")) - BEGIN).total_seconds())
