"""Crossings of countries: the plain loop, and what is said of them."""

from __future__ import annotations

import json

import numpy as np
import shapely

from cli.demo.crossings import Crossing, compared, crossings, lines_of, places_of, received_crossings
from workloads.aircraft import Reports, simulated

SHAPES = {"A": shapely.box(0, 0, 2, 2), "B": shapely.box(1, 0, 3, 2)}


def reports(places: list[tuple[int, float]]) -> Reports:
    """Of (aircraft, longitude), ten seconds apart."""
    count = len(places)
    whole = np.full(count, 30_012, dtype=np.int64)
    numbers = np.array([number for number, _ in places], dtype=np.int64)
    x = np.array([lon for _, lon in places])
    return Reports(np.arange(count, dtype=np.float64) * 10, numbers, x, np.ones(count), whole, whole, whole)


FLOWN = reports([(0, 0.5), (1, 2.5), (0, 1.5), (0, 2.5), (1, 2.5), (0, 3.0), (1, 9.0)])
FOUND = [
    *(Crossing(0, "A", "enter"), Crossing(1, "B", "enter"), Crossing(2, "B", "enter"), Crossing(3, "A", "exit")),
    # On an edge is not inside.
    *(Crossing(5, "B", "exit"), Crossing(6, "B", "exit")),
]


def test_who_is_inside_enters_and_who_is_not_any_more_leaves() -> None:
    assert crossings(SHAPES, FLOWN) == FOUND


def test_events_are_compared_one_by_one() -> None:
    row_of = {f"t-0-{row}": row for row in range(7)}
    values = [{"source": f"t-0-{one.report}", "shape": one.country, "event": one.event} for one in FOUND]
    events = received_crossings([{"value": json.dumps(value)} for value in values], row_of)
    assert compared(events, FOUND)["agrees"]
    assert not compared([*events, events[0]], FOUND)["agrees"]
    assert not compared(
        received_crossings([{"value": json.dumps({**values[0], "source": "t-0-99"})}], row_of), FOUND[:1]
    )["agrees"]


def test_what_is_said_and_drawn() -> None:
    aircraft, _ = simulated(2, duration_s=600)
    lines = lines_of([*FOUND, Crossing(-1, "A", "exit")], "countries", aircraft, FLOWN)
    assert len(lines) == 5
    assert lines[-1].startswith("15:01:00  ")
    assert lines[-1].endswith("left countries/B      FL300  30012 kt")
    x, y = places_of(FOUND, "exit", "B", FLOWN)
    assert (x.tolist(), y.tolist()) == ([3.0, 9.0], [1.0, 1.0])
