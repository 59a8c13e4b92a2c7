"""Records, cubes and intervals of panes for tests of days and hours in time zones."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import strategies as st

from asc.operators.cube.calendar import DAY, MONTH
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.zone_offsets import zone_offsets

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
CHANGING = ("America/New_York", "Europe/Berlin")
ZONES = (*CHANGING, "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "America/Juneau")
YEARS = range(2013, 2027)


def definition(grain_s: int = 3_600) -> CubeDefinition:
    plain = {"dimensions": [["k"]], "measures": ["count(*) AS n", "sum(x) AS s"], "time": "ts", "grain_s": grain_s}
    return CubeDefinition.parse(plain)


def cube_of(times: list[datetime], time_zone: str, grain_s: int = 3_600) -> Cube:
    """Return a cube of records at some times, with an ascending number as value."""
    found = Cube(definition(grain_s), "k STRING, x INT, ts TIMESTAMP", time_zone=time_zone)
    found.fold(table_of(times))
    return found


def table_of(times: list[datetime]) -> pa.Table:
    numbers = range(len(times))
    keys = pa.array(["ab"[number % 2] for number in numbers])
    return pa.table({"k": keys, "x": pa.array(numbers, pa.int32()), "ts": pa.array(times, pa.timestamp("us", "UTC"))})


def around_changes(time_zone: str) -> list[datetime]:
    """Return a time every 20 minutes of the days of all changes of the clock, and of the days beside them."""
    zone, found = ZoneInfo(time_zone), []
    day = datetime(YEARS[0], 1, 1, tzinfo=timezone.utc)
    while day.year <= YEARS[-1]:
        following = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            found += [day + timedelta(minutes=20 * step) for step in range(-72, 4 * 72)]
        day = following
    return found


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, str, int, int, int]:
    """Return a zone, a unit, a grain, and an interval of panes, often around a change of the clock."""
    time_zone = draw(st.sampled_from(ZONES))
    grain_s = draw(st.sampled_from([60, 900, 1_800]))
    changes = zone_offsets(time_zone).starts_s[1:]
    places = st.integers(-62_000_000_000, 253_000_000_000)
    recent = st.integers(1_356_000_000, 1_800_000_000)
    near = st.sampled_from(changes[changes < 4_000_000_000].tolist())
    middle = draw(st.one_of(places, recent, near)) // grain_s
    before, after = draw(st.integers(0, 300)), draw(st.integers(1, 300))
    return time_zone, draw(st.sampled_from([DAY, MONTH])), grain_s, middle - before, middle + after
