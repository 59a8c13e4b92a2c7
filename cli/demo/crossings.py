"""The join of ``asc demo aircraft``, whose events report that aircraft enter and leave countries. A plain loop computes
the same events for comparison.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from workloads.aircraft import BEGIN, Aircraft, Reports

JOIN = "crossings"
_SHOWN = 5
_DAY_S = 86_400
"""The time in seconds without a report after which an object is lost. It is longer than a demonstration, so that no
object is lost.
"""


class Crossing(NamedTuple):
    """The first report of an aircraft after it entered a country (``enter``) or left the country (``exit``)."""

    report: int
    country: str
    event: str


def join_body(stream: str, layer: str) -> dict[str, Any]:
    """Return the request body that registers the join."""
    return {
        "id": JOIN,
        "stream": stream,
        "join": {"layer": layer},
        "where": f"ST_Contains({layer}.geometry, ST_Point(longitude, latitude))",
        "operator": {
            "name": "events",
            "events": ["enter", "exit"],
            "key": "icao24",
            "time": "ts",
            "lost_after_s": _DAY_S,
        },
    }


def crossings(shapes: Mapping[str, BaseGeometry], reports: Reports) -> list[Crossing]:
    """Return the events that the join must produce, computed by shapely and a loop over the reports."""
    names, points = list(shapes), shapely.points(reports.longitude, reports.latitude)
    tree = shapely.STRtree(list(shapes.values()))
    inside: list[set[str]] = [set() for _ in range(len(reports))]
    for report, place in zip(*tree.query(points, predicate="within").tolist(), strict=True):
        inside[report].add(names[place])
    before: dict[int, set[str]] = {}
    crossed = []
    for report, aircraft in enumerate(reports.aircraft.tolist()):
        was = before.get(aircraft, set())
        crossed += [Crossing(report, country, "exit") for country in sorted(was - inside[report])]
        crossed += [Crossing(report, country, "enter") for country in sorted(inside[report] - was)]
        before[aircraft] = inside[report]
    return crossed


def received_crossings(records: Iterable[Mapping[str, Any]], row_of: Mapping[str, int]) -> list[Crossing]:
    """Return the crossings that the received events describe. ``row_of``: the number of each sent report, by its
    source. An event whose report was never sent gets the number -1.
    """
    plain = (json.loads(record["value"]) for record in records)
    return [Crossing(row_of.get(one["source"], -1), str(one["shape"]), one["event"]) for one in plain]


def compared(arrived: Sequence[Crossing], wanted: Sequence[Crossing]) -> dict[str, Any]:
    """Compare the received crossings with the expected ones.

    >>> compared([Crossing(3, "CHE", "enter")], [Crossing(3, "CHE", "enter"), Crossing(9, "CHE", "exit")])
    {'received': 1, 'expected': 2, 'agrees': False}
    """
    return {"received": len(arrived), "expected": len(wanted), "agrees": Counter(arrived) == Counter(wanted)}


def lines_of(found: Sequence[Crossing], layer: str, aircraft: Sequence[Aircraft], reports: Reports) -> list[str]:
    """Return the last crossings in words."""
    lines = []
    for crossing in sorted(found)[-_SHOWN:]:
        if crossing.report < 0:
            continue
        own = aircraft[int(reports.aircraft[crossing.report])]
        at = (BEGIN + timedelta(seconds=float(reports.seconds[crossing.report]))).strftime("%H:%M:%S")
        what = f"{'entered' if crossing.event == 'enter' else 'left'} {layer}/{crossing.country}"
        level, speed = reports.altitude_ft[crossing.report] // 100, reports.groundspeed_kt[crossing.report]
        lines.append(f"{at}  {own.icao24} {own.callsign:<8} {what:<21} FL{level:03d}  {speed} kt")
    return lines


def places_of(found: Iterable[Crossing], event: str, country: str, reports: Reports) -> tuple[Any, Any]:
    """Return the longitudes and the latitudes of the reports with which aircraft entered or left a country. ``event``:
    ``enter`` or ``exit``.
    """
    own = np.array([one.report for one in found if (one.event, one.country) == (event, country)], dtype=np.int64)
    return reports.longitude[own], reports.latitude[own]
