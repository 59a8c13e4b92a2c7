"""The near query of ``asc demo aircraft``, which reports pairs of aircraft that approach each other and part. Plain
loops compute the same outputs for comparison.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, NamedTuple

from asc.spatial.shape import distance_sphere_m
from workloads.aircraft import BEGIN, Aircraft, Reports

QUERY = "close"
DISTANCE_M, HEIGHT_FT = 9_260, 1_000
EVERY_S, WINDOW_S = 10, 30

_SHOWN = 3
_DEGREE_M = 111_000.0
"""A degree of latitude in metres, slightly less than its true length."""


class Meeting(NamedTuple):
    """A pair of aircraft that becomes near or apart at a tick. ``tick_s``: the time of the tick in seconds after BEGIN.
    ``first``: the smaller of the two addresses.

    ``event`` is ``near`` if the pair is near at this tick and was not near at the tick before. It is ``apart`` in the
    opposite case.
    """

    tick_s: int
    event: str
    first: str
    second: str


def near_body(stream: str) -> dict[str, Any]:
    """Return the request body that registers the near query."""
    return {
        "id": QUERY,
        "stream": stream,
        "where": "true",
        "operator": {
            "name": "near",
            "key": "icao24",
            "time": "ts",
            "distance_m": DISTANCE_M,
            "window_s": WINDOW_S,
            "every_s": EVERY_S,
            "on": f"abs(a.altitude - b.altitude) < {HEIGHT_FT}",
            "events": ["near", "apart"],
        },
    }


def later_rows() -> Iterator[dict[str, Any]]:
    """Yield reports from far away with ever later times. They advance event time past all ticks, and form no pair."""
    hour = 0
    while True:
        hour += 1
        at = (BEGIN + timedelta(hours=100 + hour)).isoformat()
        yield {"ts": at, "icao24": "ffffff", "longitude": -150.0, "latitude": 0.0, "altitude": 0}


def meetings(aircraft: Sequence[Aircraft], reports: Reports) -> list[Meeting]:
    """Return the outputs that the query must produce, computed by loops over all ticks and all pairs of aircraft."""
    last: dict[int, int] = {}
    events: list[Meeting] = []
    before: set[tuple[str, str]] = set()
    at, end_s = 0, int(reports.seconds[-1]) + WINDOW_S + 2 * EVERY_S
    for tick_s in range(0, end_s, EVERY_S):
        while at < len(reports) and reports.seconds[at] <= tick_s:
            last[int(reports.aircraft[at])] = at
            at += 1
        there = [report for report in last.values() if reports.seconds[report] > tick_s - WINDOW_S]
        near = set()
        for one, other in combinations(there, 2):
            if _are_near(reports, one, other):
                two = (aircraft[int(reports.aircraft[report])].icao24 for report in (one, other))
                first, second = sorted(two)
                near.add((first, second))
        events += [Meeting(tick_s, "near", *pair) for pair in sorted(near - before)]
        events += [Meeting(tick_s, "apart", *pair) for pair in sorted(before - near)]
        before = near
    return events


def received_pairs(records: Iterable[Mapping[str, Any]]) -> dict[Meeting, dict[str, Any]]:
    """Return the received outputs by meeting. A repeated output counts once."""
    plain = (json.loads(record["value"]) for record in records)
    return {Meeting(_seconds(one["time"]), one["event"], *one["keys"]): one for one in plain}


def compared(arrived: Iterable[Meeting], wanted: Sequence[Meeting]) -> dict[str, Any]:
    """Compare the received meetings with the expected ones.

    >>> compared([Meeting(10, "near", "a", "b")], [Meeting(10, "near", "a", "b"), Meeting(20, "apart", "a", "b")])
    {'received': 1, 'expected': 2, 'agrees': False}
    """
    own = Counter(iter(arrived))
    return {"received": own.total(), "expected": len(wanted), "agrees": own == Counter(wanted)}


def lines_of(fields_by_meeting: Mapping[Meeting, Mapping[str, Any]], aircraft: Sequence[Aircraft]) -> list[str]:
    """Return the last pairs that came near, in words."""
    callsigns = {own.icao24: own.callsign for own in aircraft}
    lines = []
    for one in [each for each in sorted(fields_by_meeting) if each.event == "near"][-_SHOWN:]:
        at = (BEGIN + timedelta(seconds=one.tick_s)).strftime("%H:%M:%S")
        far_km = fields_by_meeting[one]["distance_m"] / 1e3
        two = [f"{key} {callsigns.get(key, ''):<8}" for key in (one.first, one.second)]
        lines.append(f"{at}  {two[0]} within {far_km:.1f} km and {HEIGHT_FT:,} ft of {two[1]}".rstrip())
    return lines


def _are_near(reports: Reports, first: int, other: int) -> bool:
    x1, y1, x2, y2 = (
        float(array[report]) for report in (first, other) for array in (reports.longitude, reports.latitude)
    )
    # Exclude most pairs by differences of latitude and longitude, because trigonometry for all pairs would be slow.
    if abs(y1 - y2) * _DEGREE_M > DISTANCE_M or abs(x1 - x2) * _DEGREE_M * math.cos(math.radians(60)) > DISTANCE_M:
        return False
    if abs(int(reports.altitude_ft[first]) - int(reports.altitude_ft[other])) >= HEIGHT_FT:
        return False
    return distance_sphere_m(x1, y1, x2, y2) <= DISTANCE_M


def _seconds(time: str) -> int:
    return round((datetime.fromisoformat(time.replace("Z", "+00:00")) - BEGIN).total_seconds())
