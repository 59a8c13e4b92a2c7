"""Days and months of a time zone, against Python's time zones and DuckDB."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pytest
from hypothesis import example, given, settings

from asc.errors import CubeError
from asc.operators.cube.calendar import DAY, MONTH, Calendar
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_of, instant_text
from asc.operators.cube.question import Question
from asc.operators.times import FIRST_US, LAST_US
from tests.asc.operators.cube.local_times import (
    CHANGING,
    EPOCH,
    HOUR,
    SECOND,
    YEARS,
    around_changes,
    cube_of,
    definition,
    spans,
    table_of,
)


@pytest.mark.parametrize("time_zone", CHANGING)
def test_days_have_23_24_or_25_hours(time_zone: str) -> None:
    zone, calendar = ZoneInfo(time_zone), Calendar(DAY, time_zone, 3_600)
    first, count = date(YEARS[0], 1, 1), (date(YEARS[-1] + 1, 1, 1) - date(YEARS[0], 1, 1)).days
    days = [first + timedelta(days=number) for number in range(count + 1)]
    midnights = [(datetime(own.year, own.month, own.day, tzinfo=zone) - EPOCH) // HOUR for own in days]
    begins = calendar.begins(np.arange(count + 1) + (first - EPOCH.date()).days)
    assert begins.tolist() == midnights
    hours = np.diff(begins)
    assert [int((hours == own).sum()) for own in (23, 24, 25)] == [len(YEARS), count - 2 * len(YEARS), len(YEARS)]


@pytest.mark.parametrize("time_zone", CHANGING)
@pytest.mark.parametrize("unit", [DAY, MONTH])
def test_rows_of_days_and_months_equal_duckdb(time_zone: str, unit: str) -> None:
    times = around_changes(time_zone)
    assert len(times) == 2 * len(YEARS) * 360
    found = cube_of(times, time_zone).query({"by": ["k"], "grain": unit, "limit": 100_000, "order": ["pane", "k"]})
    records = table_of(times)  # noqa: F841 - DuckDB reads it by its name
    part = "day" if unit == DAY else "month"
    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = '{time_zone}'")
    sql = (
        f"SELECT epoch_us(date_trunc('{part}', ts)), epoch_us(date_trunc('{part}', ts) + INTERVAL 1 {part}), k, "
        "count(*), sum(x) FROM records GROUP BY ALL ORDER BY 1, 3"
    )
    expected = [
        {"pane": instant_text(begin), "window": [instant_text(begin), instant_text(end)], "group": {"k": k}, "n": n}
        | {"s": int(s)}
        for begin, end, k, n, s in connection.execute(sql).fetchall()
    ]
    assert found["rows"] == expected
    assert found["groups"] == len(expected)


def slow_numbers(time_zone: str, unit: str, grain_s: int, first: int, end: int) -> list[int]:
    """Return the number of the day or month of each pane, one pane after the other, from four days before."""
    zone, latest, found = ZoneInfo(time_zone), -(10**9), []
    for pane in range(first - 4 * 86_400 // grain_s, end):
        own = (EPOCH + pane * grain_s * SECOND).astimezone(zone).date()
        number = (own - EPOCH.date()).days if unit == DAY else (own.year - 1970) * 12 + own.month - 1
        latest = max(latest, number)
        found.append(latest)
    return found[first - end :]


# The clock was set back over midnight, by an hour and by a day.
@example(("America/St_Johns", DAY, 60, 21_484_930, 21_485_180))
@example(("America/Juneau", DAY, 1_800, -1_791_830, -1_791_690))
@given(spans())
@settings(max_examples=60, deadline=None)
def test_each_pane_is_in_the_day_that_its_begin_has_reached(span: tuple[str, str, int, int, int]) -> None:
    time_zone, unit, grain_s, first, end = span
    calendar = Calendar(unit, time_zone, grain_s)
    numbers = calendar.numbers(np.arange(first, end))
    expected = slow_numbers(time_zone, unit, grain_s, first, end)
    assert numbers.tolist() == expected
    begins = [pane for pane in range(first + 1, end) if expected[pane - first] != expected[pane - first - 1]]
    assert calendar.borders(first, end).tolist() == begins
    for pane in begins:
        assert calendar.begin(expected[pane - first]) == calendar.floor(pane) == calendar.ceil(pane) == pane
        assert calendar.ceil(pane - 1) in (pane, pane - 1)
        assert calendar.floor(pane - 1) < pane


def test_a_day_that_the_zone_skips_has_no_pane() -> None:
    calendar = Calendar(DAY, "Pacific/Apia", 3_600)
    skipped = (date(2011, 12, 30) - EPOCH.date()).days
    begins = calendar.begins(np.arange(skipped - 1, skipped + 3)).tolist()
    assert np.diff(begins).tolist() == [24, 0, 24]
    found = cube_of([EPOCH + pane * HOUR for pane in range(begins[0], begins[3])], "Pacific/Apia")
    assert [row["n"] for row in found.query({"grain": DAY})["rows"]] == [24, 24]


def test_a_day_is_one_interval_though_the_clock_is_set_back_over_midnight() -> None:
    # At 00:01 on 2010-11-07 the clock was set back to 23:01 on 2010-11-06.
    calendar = Calendar(DAY, "America/St_Johns", 60)
    seventh = (date(2010, 11, 7) - EPOCH.date()).days
    begin, end = calendar.begin(seventh), calendar.begin(seventh + 1)
    assert instant_text(begin * 60_000_000) == "2010-11-07T02:30:00Z"
    assert end - begin == 25 * 60


def test_of_utc_days_are_those_of_grain_s() -> None:
    found = cube_of([datetime(2026, 6, day, 5, tzinfo=timezone.utc) for day in (1, 1, 3)], "UTC")
    days = found.query({"grain": DAY, "by": ["k"]})
    assert [row.pop("window")[0] for row in days["rows"]] == [row["pane"] for row in days["rows"]]
    fixed = found.query({"grain_s": 86_400, "by": ["k"]})
    assert (days["rows"], days["interval"]) == (fixed["rows"], fixed["interval"])


@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia"])
@pytest.mark.parametrize("unit", [DAY, MONTH])
def test_days_of_the_years_1_and_9999_end_at_their_bounds(time_zone: str, unit: str) -> None:
    times = [datetime(1, 1, 1, tzinfo=timezone.utc), datetime(9999, 12, 31, 23, 59, tzinfo=timezone.utc)]
    found = cube_of(times, time_zone, 1_800)
    answer = found.query({"grain": unit})
    assert [row["n"] for row in answer["rows"]] == [1, 1]
    bounds = [instant_text(FIRST_US), instant_text(LAST_US + 1)]
    assert answer["interval"] == [answer["rows"][0]["pane"], answer["rows"][1]["window"][1]] == bounds
    again = found.query({"grain": unit, "from": bounds[0], "to": bounds[1]})
    assert again["rows"] == answer["rows"]
    first = found.query({"grain": unit, "from": bounds[0], "to": answer["rows"][0]["window"][1]})
    assert first["rows"] == answer["rows"][:1]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"from": "2013-07-10", "grain": "1d"},
            "from '2013-07-10': is off the days of America/New_York: give the begin of one, as 2013-07-10T04:00:00Z",
        ),
        ({"to": "2013-07-10T23:00:00Z", "grain": "1d"}, "give the begin of one, as 2013-07-11T04:00:00Z"),
        ({"to": "2013-07-10T04:00:00.5Z", "grain": "1d"}, "give the begin of one, as 2013-07-10T04:00:00Z"),
        (
            {"from": "2013-07-10T04:00:00Z", "grain": "1M"},
            "is off the months of America/New_York: give the begin of one, as 2013-07-01T04:00:00Z",
        ),
        ({"from": "2013-12-20", "grain": "1M"}, "give the begin of one, as 2014-01-01T05:00:00Z"),
        ({"grain": "1w"}, "grain '1w': give 1d or 1M, days or months of the time zone, or grain_s for another length"),
        ({"grain": 86_400}, "grain 86400: give 1d or 1M"),
        ({"grain": "1d", "grain_s": 3_600}, "grain '1d': is given beside grain_s, 3600: give one of them"),
        ({"grain": "1d", "from": "2013-07-11T04:00:00Z", "to": "2013-07-10T04:00:00Z"}, "is not after from"),
        ({"grain": "1d", "from": "noon"}, "from 'noon': is no time"),
    ],
)
def test_what_is_no_interval_of_days_is_refused_in_one_line(body: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as refused:
        Question.parse(body, definition(), "America/New_York")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_days_of_another_zone_need_panes_of_an_hour() -> None:
    plain = definition(86_400)
    said = "grain '1d': needs panes of at most an hour in Europe/London, and the cube's have 1d: give grain_s"
    with pytest.raises(CubeError, match=said):
        Question.parse({"grain": "1d"}, plain, "Europe/London")
    assert Question.parse({"grain": "1M"}, plain, "Africa/Abidjan").calendar is not None
    timeless = CubeDefinition.parse({"measures": ["count(*)"]}, needs_time=False)
    with pytest.raises(CubeError, match="grain '1d': the cube has no time"):
        Question.parse({"grain": "1d"}, timeless)


def test_a_question_ends_with_its_last_whole_day() -> None:
    question = Question.parse({"grain": "1d"}, definition(), "Europe/Berlin")
    noon = instant_of("to", "2026-03-29T12:00:00Z") // 3_600_000_000
    assert question.until(noon).end == noon - 13
    # The day of the change has 23 hours.
    assert question.ceil(noon) - question.floor(noon) == 23


def test_the_bodies_beside_an_answer_keep_grain_and_hours() -> None:
    found = cube_of([datetime(2026, 6, 1, 12, tzinfo=timezone.utc)], "Europe/Berlin")
    answer = found.query({"by": ["k"], "grain": "1M", "hours": "14-15"})
    assert answer["roll_up"] == [{"by": [], "grain": "1M", "hours": "14-15"}]
    assert found.query(answer["roll_up"][0])["rows"] == [
        {"pane": "2026-05-31T22:00:00Z", "window": ["2026-05-31T22:00:00Z", "2026-06-30T22:00:00Z"]}
        | {"group": {}, "n": 1, "s": 0}
    ]


def test_the_day_that_a_refusal_names_is_kept() -> None:
    calendar = Calendar(DAY, "America/New_York", 3_600)
    bound = "2026-05-29T04:30:00Z"
    kept_from = int(datetime(2026, 6, 4, 12, tzinfo=timezone.utc).timestamp()) // 3_600
    with pytest.raises(CubeError, match="give the begin of one, as 2026-05-29T04:00:00Z"):
        calendar.border("from", bound)
    with pytest.raises(CubeError, match="give the begin of one, as 2026-06-05T04:00:00Z"):
        calendar.border("from", bound, kept_from)
