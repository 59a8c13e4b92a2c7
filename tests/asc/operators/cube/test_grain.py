"""Grains in time zones: days of a zone are whole panes."""

from __future__ import annotations

import pytest

from asc.errors import AscError, CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.grain import check_grain


@pytest.mark.parametrize(
    ("time_zone", "grain_s", "divided"),
    [
        ("Asia/Kolkata", 3_600, "+05:30: give seconds that divide 1,800, as 1800"),
        ("Asia/Kolkata", 1_200, "+05:30: give seconds that divide 1,800, as 1800"),
        ("Asia/Kolkata", 86_400, "+05:30: give seconds that divide 1,800, as 1800"),
        ("Asia/Kathmandu", 1_800, "+05:45: give seconds that divide 900, as 900"),
        ("America/St_Johns", 3_600, "-03:30: give seconds that divide 1,800, as 1800"),
        # Its summer time alone is off the hour by half an hour.
        ("Australia/Lord_Howe", 3_600, "+10:30: give seconds that divide 1,800, as 1800"),
    ],
)
def test_a_grain_that_does_not_divide_the_offset_of_a_zone_is_refused(
    time_zone: str, grain_s: int, divided: str
) -> None:
    with pytest.raises(CubeError) as refused:
        check_grain(grain_s, time_zone)
    detail = f"does not divide the offset of the time zone {time_zone}, {divided}"
    assert str(refused.value) == f"grain_s {grain_s}: {detail}"
    check_grain(int(divided.rpartition(" ")[2]), time_zone)


@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo"])
@pytest.mark.parametrize("grain_s", [7_200, 3_600, 86_400, 1_200, 1])
def test_a_zone_on_the_hour_takes_every_grain(time_zone: str, grain_s: int) -> None:
    check_grain(grain_s, time_zone)


def test_a_cube_is_refused_for_the_zone_of_its_records_and_one_without_a_time_is_not() -> None:
    plain = {"measures": ["count(*) AS n"], "time": "t", "grain_s": 3_600}
    with pytest.raises(CubeError, match="grain_s 3600: does not divide the offset of the time zone Asia/Kolkata"):
        Cube(CubeDefinition.parse(plain), "t TIMESTAMP", time_zone="Asia/Kolkata")
    Cube(CubeDefinition.parse({**plain, "grain_s": 900}), "t TIMESTAMP", time_zone="Asia/Kolkata")
    Cube(
        CubeDefinition.parse({"measures": ["count(*) AS n"]}, needs_time=False), "t TIMESTAMP", time_zone="Asia/Kolkata"
    )
    with pytest.raises(AscError, match="time zone 'Nowhere/City'"):
        Cube(CubeDefinition.parse(plain), "t TIMESTAMP", time_zone="Nowhere/City")
