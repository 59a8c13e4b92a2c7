"""Local hours, against Python's time zones and DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.local_hours import LocalHours
from asc.operators.cube.question import Question
from tests.asc.operators.cube.local_times import (
    CHANGING,
    EPOCH,
    HOUR,
    around_changes,
    cube_of,
    definition,
    table_of,
)


def hours_of(text: str, time_zone: str, grain_s: int = 3_600) -> LocalHours:
    found = LocalHours.of(text, definition(grain_s), time_zone)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14-16", (14, 15)),
        ("22-2", (0, 1, 22, 23)),
        ("22-24", (22, 23)),
        ("22-0", (22, 23)),
        ("8-10,14-16", (8, 9, 14, 15)),
        (" 8 - 10 , 9-11 ", (8, 9, 10)),
        ("16-14", tuple(hour for hour in range(24) if hour not in (14, 15))),
    ],
)
def test_a_text_gives_hours(text: str, expected: tuple[int, ...]) -> None:
    assert hours_of(text, "UTC").hours == expected


def test_all_hours_are_no_hours() -> None:
    assert LocalHours.of("0-24", definition(), "UTC") is None
    assert LocalHours.of("12-6,6-12", definition(), "UTC") is None
    assert LocalHours.of(None, definition(), "UTC") is None


@pytest.mark.parametrize(
    "value", ["", "14", "14-14", "24-2", "2-25", "a-b", "1-2,", "-1-2", "1-2;3-4", 14, "1-2," * 99]
)
def test_what_is_no_hours_is_refused_in_one_line(value: Any) -> None:
    with pytest.raises(CubeError) as refused:
        Question.parse({"hours": value}, definition(), "UTC")
    assert "give ranges of local hours from 0 to 24" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_hours_need_panes_of_an_hour() -> None:
    with pytest.raises(CubeError, match="hours '1-2': needs panes of at most an hour, and the cube's have 2h"):
        Question.parse({"hours": "1-2"}, definition(7_200), "UTC")
    timeless = CubeDefinition.parse({"measures": ["count(*)"]}, needs_time=False)
    with pytest.raises(CubeError, match="hours '1-2': the cube has no time"):
        Question.parse({"hours": "1-2"}, timeless)


@pytest.mark.parametrize("time_zone", CHANGING)
@pytest.mark.parametrize("chosen", [{2}, {1, 2, 3}, {22, 23, 0, 1}])
def test_rows_of_hours_equal_duckdb(time_zone: str, chosen: set[int]) -> None:
    times = around_changes(time_zone)
    text = ",".join(f"{hour}-{hour + 1}" for hour in chosen)
    found = cube_of(times, time_zone).query({"by": ["k"], "hours": text, "grain": "1d", "limit": 100_000})
    records = table_of(times)  # noqa: F841 - DuckDB reads it by its name
    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = '{time_zone}'")
    sql = (
        f"SELECT k, count(*), sum(x) FROM records WHERE hour(ts) IN ({', '.join(map(str, chosen))}) "
        "GROUP BY date_trunc('day', ts), k ORDER BY date_trunc('day', ts), k"
    )
    rows = [(row["group"]["k"], row["n"], row["s"]) for row in found["rows"]]
    assert rows == [(k, n, int(s)) for k, n, s in connection.execute(sql).fetchall()]
    assert found["answered_by"][0]["cells"] <= len(times)


def test_the_interval_has_the_panes_outside_the_hours_too() -> None:
    cube = cube_of([EPOCH + (100_003 + each) * HOUR for each in range(30)], "UTC")
    for body in ({}, {"grain": "1d"}, {"to": "1981-05-30T12:00:00Z"}):
        whole = cube.query(body)["interval"]
        assert whole is not None
        assert cube.query({**body, "hours": "9-11"})["interval"] == whole


def test_a_repeated_hour_counts_twice_and_a_skipped_one_does_not_exist() -> None:
    begin = 494_160  # 2026-05-17T00:00:00Z
    year = [EPOCH + pane * HOUR for pane in range(begin - 200 * 24, begin + 200 * 24)]
    found = cube_of(year, "Europe/Berlin").query({"hours": "2-3", "grain": "1d", "limit": 1_000})["rows"]
    counts = {row["window"][1][:10]: row["n"] for row in found}
    assert (counts["2026-03-28"], counts["2026-03-30"], counts["2026-06-01"]) == (1, 1, 1)
    assert "2026-03-29" not in counts
    assert [day for day, count in counts.items() if count == 2] == ["2026-10-25"]
