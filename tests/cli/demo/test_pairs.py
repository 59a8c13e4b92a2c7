"""Aircraft that come near each other: the plain loops, and what is said of them."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import islice

import numpy as np

from cli.demo.pairs import HEIGHT_FT, Meeting, compared, later_rows, lines_of, meetings, near_body, received_pairs
from workloads.aircraft import BEGIN, Reports, simulated

AIRCRAFT, _ = simulated(3, duration_s=600)


def reports(seen: list[tuple[int, int, float, int]]) -> Reports:
    """Of (second, aircraft, latitude, feet), at one longitude."""
    seconds, numbers, lat, feet = (np.array(column) for column in zip(*seen, strict=True))
    none = np.zeros(len(seen), dtype=np.int64)
    return Reports(seconds.astype(float), numbers, np.full(len(seen), 7.5), lat, feet, none, none)


def test_who_is_near_at_a_tick_and_was_not_comes_near() -> None:
    flown = reports(
        [
            (0, 0, 46.0, 30_000),
            (3, 1, 46.05, 30_900),
            (9, 2, 46.0, 31_000),
            (20, 0, 46.0, 30_000),
            (31, 1, 46.2, 30_900),
            (40, 0, 46.2, 30_000),
        ]
    )
    one, two, three = (AIRCRAFT[place].icao24 for place in range(3))
    pair, other = sorted((one, two)), sorted((two, three))
    assert meetings(AIRCRAFT, flown) == [
        *sorted([Meeting(10, "near", *pair), Meeting(10, "near", *other)]),
        # The third is not seen after 9 s, and is where it was for 30 s.
        Meeting(40, "apart", *other),
        Meeting(70, "apart", *pair),
    ]


def test_what_is_told_is_compared_and_said() -> None:
    first, second = sorted(own.icao24 for own in AIRCRAFT[:2])
    wanted = [Meeting(10, "near", first, second), Meeting(40, "apart", first, second)]
    values = [
        {
            "event": one.event,
            "time": (BEGIN + timedelta(seconds=one.tick_s)).isoformat().replace("+00:00", ".000000Z"),
            "keys": [one.first, one.second],
            "distance_m": 4_123.4,
        }
        for one in wanted
    ]
    found = received_pairs([{"value": json.dumps(value)} for value in [*values, values[0]]])
    assert compared(found, wanted) == {"received": 2, "expected": 2, "agrees": True}
    assert not compared(list(found)[:1], wanted)["agrees"]
    (line,) = lines_of(found, AIRCRAFT)
    assert line.startswith(f"15:00:10  {first} ")
    assert f"within 4.1 km and {HEIGHT_FT:,} ft of {second} " in line


def test_later_reports_are_later_and_later_and_the_query_is_of_them() -> None:
    times = [row["ts"] for row in islice(later_rows(), 3)]
    assert times == sorted(set(times))
    assert near_body("aircraft")["stream"] == "aircraft"
