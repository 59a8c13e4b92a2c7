"""Simulated aircraft: the same from the same seed, and such as could fly."""

from __future__ import annotations

import numpy as np
import pytest

from asc.schema import Schema
from workloads.aircraft import REGION, SCHEMA, Aircraft, Reports, rows, simulated


@pytest.fixture(scope="module")
def flown() -> tuple[list[Aircraft], Reports]:
    return simulated(120, duration_s=3_600, seed=5)


def test_the_same_seed_gives_the_same(flown: tuple[list[Aircraft], Reports]) -> None:
    again, other = simulated(120, duration_s=3_600, seed=5), simulated(120, duration_s=3_600, seed=6)
    assert again[0] == flown[0] != other[0]
    assert list(rows(*again)) == list(rows(*flown))


def test_reports_are_in_order_and_in_the_region(flown: tuple[list[Aircraft], Reports]) -> None:
    aircraft, reports = flown
    west, south, east, north = REGION
    assert len(reports) > 10_000
    assert (np.diff(reports.seconds) >= 0).all()
    assert (reports.seconds >= 0).all()
    assert (reports.seconds < 3_600).all()
    assert ((reports.longitude >= west) & (reports.longitude <= east)).all()
    assert ((reports.latitude >= south) & (reports.latitude <= north)).all()
    assert len({one.icao24 for one in aircraft}) == len(aircraft)


def test_speeds_levels_and_tracks_are_plausible(flown: tuple[list[Aircraft], Reports]) -> None:
    aircraft, reports = flown
    gaps = 0
    for number in np.unique(reports.aircraft):
        own = reports.aircraft == number
        seconds, altitude = reports.seconds[own], reports.altitude_ft[own]
        x, y = np.radians(reports.longitude[own]), np.radians(reports.latitude[own])
        pause = np.diff(seconds)
        gaps += int((pause > 10).sum())
        steady = pause == 10
        chord = np.sin(np.diff(y) / 2) ** 2 + np.cos(y[1:]) * np.cos(y[:-1]) * np.sin(np.diff(x) / 2) ** 2
        knots = 2 * 6_371.008 * np.arcsin(np.sqrt(chord)) / pause * 3_600 / 1.852
        assert (np.abs(knots - reports.groundspeed_kt[own][1:])[steady] < 45).all()
        assert (np.abs(np.diff(altitude))[steady] < 10 / 60 * 2_600).all()
        assert altitude.min() >= 0
        assert altitude.max() <= aircraft[int(number)].level_ft + 60
        assert aircraft[int(number)].length_km > 300
    assert gaps > 5


def test_rows_have_the_columns_of_the_schema(flown: tuple[list[Aircraft], Reports]) -> None:
    first = next(rows(*flown))
    assert list(first) == [attribute.name for attribute in Schema.from_ddl(SCHEMA).attributes]
    assert first["ts"].startswith("2026-06-01T15:00:0")
