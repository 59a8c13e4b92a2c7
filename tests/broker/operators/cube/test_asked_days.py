"""Questions of days, months and hours of a time zone to a kept cube: closed panes, the last days, and cursors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.look import Wanted
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import BASE_US, SCHEMA, Record, Topic, batch, cube_id, definition

ZONE = "America/New_York"
OWN = definition(3_600)
DAYS = cube_id("days", OWN)
HOUR_US = 3_600_000_000
FIRST = datetime(2026, 3, 7, 5, tzinfo=timezone.utc)
"""The begin of 2026-03-07 in New York. The next day has 23 hours."""


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    """Has a record in each of the 68 hours from FIRST on. The last hour, 20:00 of 2026-03-09, is open."""
    first_us = round(FIRST.timestamp() * 1_000_000) - BASE_US
    records: list[Record] = [("B6" if each % 2 else "UA", "JFK", each, first_us + each * HOUR_US) for each in range(68)]
    own = Keeper.open(tmp_path / "cubes.sqlite", SCHEMA, CubeLimits(), lateness_s=0, time_zone=ZONE)
    own.define(DAYS, OWN)
    for first in range(0, 68, 17):
        Topic(partitions={0: records}).commit(own, batch(first, first + 17), {DAYS: OWN})
    yield own
    own.close()


def hour(number: int) -> str:
    return (FIRST + timedelta(hours=number)).isoformat().replace("+00:00", "Z")


def counts(keeper: Keeper, **body: Any) -> tuple[Any, list[tuple[str, str, int]]]:
    found = keeper.questions.query(DAYS, body)
    return found["interval"], [(*row["window"], row["n"]) for row in found["rows"]]


def test_only_days_whose_panes_are_all_closed_are_in_an_answer(keeper: Keeper) -> None:
    whole = [(hour(0), hour(24), 24), (hour(24), hour(47), 23)]
    assert counts(keeper, grain="1d") == ([hour(0), hour(47)], whole)
    assert counts(keeper, grain="1d", to=hour(71)) == ([hour(0), hour(47)], whole)
    live = [*whole, (hour(47), hour(71), 21)]
    assert counts(keeper, grain="1d", live=True) == ([hour(0), hour(71)], live)
    assert counts(keeper, grain="1M") == (None, [])
    month = ("2026-03-01T05:00:00Z", "2026-04-01T04:00:00Z")
    assert counts(keeper, grain="1M", live=True) == ([*month], [(*month, 68)])


def test_the_interval_with_hours_is_that_without_them(keeper: Keeper) -> None:
    for body in (
        {},
        {"live": True},
        {"to": hour(30)},
        {"grain_s": 7_200},
        {"grain": "1d"},
        {"grain": "1d", "live": True},
    ):
        interval = keeper.questions.query(DAYS, body)["interval"]
        assert interval is not None
        for hours in ("5-6", "20-22"):
            assert keeper.questions.query(DAYS, {**body, "hours": hours})["interval"] == interval, body
    # No stored pane is in the interval.
    assert keeper.questions.query(DAYS, {"to": hour(-24), "hours": "5-6"})["interval"] is None


def test_a_day_of_last_s_is_a_day_of_the_zone(keeper: Keeper) -> None:
    assert counts(keeper, grain="1d", last_s=86_400) == ([hour(24), hour(47)], [(hour(24), hour(47), 23)])
    assert counts(keeper, grain="1d", last_s=2 * 86_400)[0] == [hour(0), hour(47)]
    assert counts(keeper, grain="1d", last_s=86_400, live=True) == ([hour(47), hour(71)], [(hour(47), hour(71), 21)])
    found = keeper.questions.query(DAYS, {"by": ["carrier"], "grain": "1d", "last_s": 86_400, "hours": "1-4"})
    assert found["roll_up"] == [{"by": [], "grain": "1d", "hours": "1-4", "from": hour(24), "to": hour(47)}]
    assert keeper.questions.query(DAYS, found["roll_up"][0])["rows"][0]["n"] == 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"grain": "1M", "last_s": 86_400}, "last_s 86400: gives no begin of a month: give from and to, or grain 1d"),
        ({"grain": "1d", "last_s": 3_600}, "last_s 3600: is off the grain of 1d: give 86400"),
        ({"grain": "1d", "last_s": 86_400 * 10**15}, "begins before the year 1: give fewer seconds"),
        ({"grain": "1d", "grain_s": 3_600, "last_s": 86_400}, "grain '1d': is given beside grain_s, 3600"),
        ({"grain": "1d", "from": "2026-03-08"}, "give the begin of one, as 2026-03-08T05:00:00Z"),
    ],
)
def test_what_is_no_question_of_days_is_refused_in_one_line(keeper: Keeper, body: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as refused:
        keeper.questions.query(DAYS, body)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_hours_select_panes_and_open_ones_too(keeper: Keeper) -> None:
    def answer_of(**body: Any) -> tuple[int, int, Any]:
        found = keeper.questions.query(DAYS, body)
        return found["rows"][0]["n"], found["open_panes"], found["answered_by"][0]["panes"]

    # 20:00 is in all three days, 2:00 in two; the last pane is open.
    assert answer_of(hours="20-21") == (2, 1, 2)
    assert answer_of(hours="20-21", live=True) == (3, 1, 3)
    assert answer_of(hours="2-3") == (2, 0, 2)
    assert answer_of(hours="2-3", where="carrier = 'UA'", live=True)[0] == 1


@pytest.mark.parametrize("change", [{"grain": "1M"}, {"grain": None}, {"hours": "0-3"}, {"hours": None}])
def test_a_cursor_is_of_one_grain_and_hours(keeper: Keeper, change: dict[str, Any]) -> None:
    body: dict[str, Any] = {"by": ["carrier"], "grain": "1d", "hours": "0-2,5-6", "limit": 3}
    first = keeper.questions.query(DAYS, body)
    assert len(first["rows"]) == 3
    # The order of the ranges makes no difference.
    rest = keeper.questions.query(DAYS, {**body, "cursor": first["cursor"], "hours": "5-6,0-2"})
    assert (len(rest["rows"]), rest["cursor"]) == (1, None)
    with pytest.raises(CubeError, match="is of another question: give the body"):
        keeper.questions.query(DAYS, {**body, **change, "cursor": first["cursor"]})


def test_a_page_shows_the_hours_alone(keeper: Keeper) -> None:
    look = keeper.questions.look(DAYS, Wanted({"hours": "20-22"}, down=["carrier"]))
    assert look.pivot.total["n"] == 4
    assert look.series is not None
    # The chart begins with the interval, not with its first hours.
    assert look.interval == [hour(0), hour(67)]
    assert (look.series.first * HOUR_US, look.series.over_nothing) == (FIRST.timestamp() * 1_000_000, None)
    assert sorted(look.series.values) == [20, 21, 43, 44]
