"""A simulation of aircraft over the Alps, reproducible from a seed. Aircraft fly on great circles between places of
Natural Earth, with climbs, descents and gaps in their reports.

The simulation contains no recorded flight. Its flights resemble real ones: cruising level and speed depend on the
length of the leg, and climbs and descents are as steep as those of airliners. Each aircraft reports every ten seconds,
and a receiver sometimes loses an aircraft for some minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import numpy.typing as npt

from workloads.natural_earth import Place, places

SCHEMA = (
    "ts TIMESTAMP, icao24 STRING, callsign STRING, longitude DOUBLE, latitude DOUBLE, altitude INT, "
    "groundspeed INT, track INT, squawk STRING"
)
"""The Spark DDL of a report: altitude in feet, speed in knots, track in degrees clockwise from north."""

BEGIN = datetime(2026, 6, 1, 15, 0, tzinfo=timezone.utc)
REGION = (3.5, 44.0, 13.0, 49.5)
"""The west, south, east and north edge of the region, in degrees. The receiver hears no aircraft outside it."""

_EARTH_KM = 6371.008
_REPORT_S = 10
_CLIMB_FT_MIN, _SLOW_KT = 1_900.0, 190.0
_LEG_KM = (300.0, 2_200.0)
_NEAR_KM = 250.0
_MIDDLE = (8.2, 46.8)
_AIRLINES = ("ALP", "BRG", "FHN", "GLT", "HLV", "MTN", "RHN", "SEE", "TAL", "WLK")

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Aircraft:
    """One aircraft on one leg. It departs ``begin_s`` seconds after BEGIN; a negative value means that it is in flight
    at BEGIN.
    """

    icao24: str
    callsign: str
    squawk: str
    origin: Place
    destination: Place
    begin_s: float
    level_ft: float
    cruise_kt: float

    @property
    def length_km(self) -> float:
        """The length of the great circle between the origin and the destination."""
        return float(_angle(_vector(self.origin), _vector(self.destination)) * _EARTH_KM)


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports in order of time, as arrays with one entry per report. ``seconds``: the time since BEGIN. ``aircraft``:
    the index of the aircraft in the list of aircraft.
    """

    seconds: Doubles
    aircraft: npt.NDArray[np.int64]
    longitude: Doubles
    latitude: Doubles
    altitude_ft: npt.NDArray[np.int64]
    groundspeed_kt: npt.NDArray[np.int64]
    track: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seconds)


def simulated(count: int, *, duration_s: float = 7_200, seed: int = 2026) -> tuple[list[Aircraft], Reports]:
    """Simulate ``count`` aircraft, and return the aircraft and their reports. All reports are from positions within the
    region, and from the ``duration_s`` seconds after BEGIN.

    The same seed gives the same result.

    >>> aircraft, reports = simulated(3, duration_s=600)
    >>> len(aircraft), len(reports) > 0
    (3, True)
    """
    rng = np.random.default_rng(seed)
    legs = _legs()
    aircraft = [_aircraft(rng, legs, number, duration_s) for number in range(count)]
    heard = [_heard(rng, number, one, duration_s) for number, one in enumerate(aircraft)]
    columns = [np.concatenate(parts) for parts in zip(*heard, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    seconds, numbers, x, y, altitude, speed, track = (column[order] for column in columns)
    whole = (np.rint(column).astype(np.int64) for column in (altitude, speed, track))
    return aircraft, Reports(seconds, numbers.astype(np.int64), np.round(x, 5), np.round(y, 5), *whole)


def rows(aircraft: list[Aircraft], reports: Reports) -> Iterator[dict[str, Any]]:
    """Yield each report as a dict, whose keys are the columns of SCHEMA. The dict can be written as a JSON object."""
    columns = (
        reports.seconds,
        reports.aircraft,
        reports.longitude,
        reports.latitude,
        reports.altitude_ft,
        reports.groundspeed_kt,
        reports.track,
    )
    for seconds, number, x, y, altitude, speed, track in zip(*(column.tolist() for column in columns), strict=True):
        plane = aircraft[number]
        yield {
            "ts": (BEGIN + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "icao24": plane.icao24,
            "callsign": plane.callsign,
            "longitude": x,
            "latitude": y,
            "altitude": altitude,
            "groundspeed": speed,
            "track": track,
            "squawk": plane.squawk,
        }


def _legs() -> list[tuple[Place, Place]]:
    """Return the legs that aircraft may fly. A leg is a pair of places whose connecting great circle passes near the
    middle of the region.
    """
    all_places = places()
    vectors = np.array([_vector(place) for place in all_places])
    middle = _vector(Place("", *_MIDDLE))
    angles = np.arccos(np.clip(vectors @ vectors.T, -1, 1))
    normals = np.cross(vectors[:, None], vectors[None])
    lengths = np.maximum(np.linalg.norm(normals, axis=2), 1e-12)
    off_km = np.abs(np.arcsin(np.clip(normals @ middle / lengths, -1, 1))) * _EARTH_KM
    to_middle = np.arccos(np.clip(vectors @ middle, -1, 1))
    is_between = np.maximum(to_middle[:, None], to_middle[None]) < angles
    long_enough = (angles * _EARTH_KM > _LEG_KM[0]) & (angles * _EARTH_KM < _LEG_KM[1])
    chosen = np.argwhere(is_between & long_enough & (off_km < _NEAR_KM))
    return [(all_places[i], all_places[j]) for i, j in chosen.tolist()]


def _aircraft(rng: np.random.Generator, legs: list[tuple[Place, Place]], number: int, duration_s: float) -> Aircraft:
    origin, destination = legs[int(rng.integers(len(legs)))]
    length_km = _angle(_vector(origin), _vector(destination)) * _EARTH_KM
    # Short legs are flown lower and slower.
    level = float(np.clip(length_km / 45, 14, 40).round()) * 1_000 - float(rng.integers(0, 3)) * 1_000
    cruise = float(np.clip(310 + length_km / 12, 320, 470) + rng.normal(0, 12))
    flight_s = length_km / 1.852 / cruise * 3_600
    begin = float(rng.uniform(-0.8 * flight_s, max(1.0, duration_s - 0.4 * flight_s)))
    airline, squawk = _AIRLINES[int(rng.integers(len(_AIRLINES)))], "".join(map(str, rng.integers(0, 8, 4)))
    code = f"{0x4B0000 + number * 37 % 0x10000:06x}"
    return Aircraft(code, f"{airline}{int(rng.integers(1, 1000))}", squawk, origin, destination, begin, level, cruise)


def _heard(rng: np.random.Generator, number: int, plane: Aircraft, duration_s: float) -> tuple[Doubles, ...]:
    """Return the reports that the receiver hears of one aircraft, as seven arrays: seconds, index of the aircraft,
    longitude, latitude, feet, knots and track.
    """
    first = _REPORT_S * float(np.ceil(max(plane.begin_s, 0.0) / _REPORT_S)) + float(rng.integers(0, _REPORT_S))
    seconds = np.arange(first, duration_s, _REPORT_S)
    flown_s = seconds - plane.begin_s
    climb_s = plane.level_ft / _CLIMB_FT_MIN * 60
    flight_s = plane.length_km / 1.852 / plane.cruise_kt * 3_600 + climb_s * (1 - _SLOW_KT / plane.cruise_kt)
    left_s = flight_s - flown_s
    share = np.clip(np.minimum(flown_s, left_s) / climb_s, 0, 1)
    speed = _SLOW_KT + (plane.cruise_kt - _SLOW_KT) * share
    # Compute the distance as the integral of the speed. The speed rises linearly during the climb, and falls linearly
    # during the descent.
    at = np.interp(flown_s, *_distance_shares(plane, flight_s, climb_s))
    x, y, track = _along(plane, at)
    west, south, east, north = REGION
    heard = (left_s > 0) & (flown_s >= 0) & (x > west) & (x < east) & (y > south) & (y < north)
    for _ in range(int(rng.poisson(0.6))):
        lost_s, silent_s = rng.uniform(0, duration_s), rng.uniform(60, 400)
        heard &= (seconds < lost_s) | (seconds > lost_s + silent_s)
    level = plane.level_ft * share + rng.normal(0, 8, len(seconds)) * (share < 1)
    columns = (seconds, np.full(len(seconds), float(number)), x, y, np.maximum(level, 0), speed, track)
    return tuple(column[heard] for column in columns)


def _distance_shares(aircraft: Aircraft, flight_s: float, climb_s: float) -> tuple[Doubles, Doubles]:
    """Return two arrays: times of a leg in seconds since departure, and the share of the leg's distance that the
    aircraft has covered at each time.
    """
    times = np.linspace(0, flight_s, 400)
    share = np.clip(np.minimum(times, flight_s - times) / climb_s, 0, 1)
    speed = _SLOW_KT + (aircraft.cruise_kt - _SLOW_KT) * share
    distance = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(times))])
    return times, distance / distance[-1]


def _along(own: Aircraft, share: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return the longitude, the latitude and the track, in degrees, for each given share of the leg's great circle."""
    a, b = _vector(own.origin), _vector(own.destination)
    angle = _angle(a, b)
    places_there = (np.sin((1 - share) * angle)[:, None] * a + np.sin(share * angle)[:, None] * b) / np.sin(angle)
    heading = -np.cos((1 - share) * angle)[:, None] * a + np.cos(share * angle)[:, None] * b
    x, y, z = places_there.T
    east = np.stack([-y, x, np.zeros_like(x)], axis=1) / np.hypot(x, y)[:, None]
    north = np.cross(places_there, east)
    track = np.degrees(np.arctan2((heading * east).sum(axis=1), (heading * north).sum(axis=1))) % 360
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arcsin(z)), track


def _vector(place: Place) -> Doubles:
    x, y = np.radians(place.longitude), np.radians(place.latitude)
    return np.array([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)])


def _angle(a: Doubles, b: Doubles) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
