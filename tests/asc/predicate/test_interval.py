"""Constant intervals: their text for Spark, their type, and what is none."""

from __future__ import annotations

import pytest

from asc.predicate.interval import DAY_TIME, YEAR_MONTH, of_range, of_units, of_words


@pytest.mark.parametrize(
    ("parts", "sql", "is_day_time", "of_days"),
    [
        ([("1", "DAY")], "INTERVAL '1' DAY", True, True),
        ([("2", "week"), ("-1", "days")], "INTERVAL '2' WEEK '-1' DAYS", True, True),
        ([("24", "HOUR")], "INTERVAL '24' HOUR", True, False),
        ([("1.5", "SECONDS")], "INTERVAL '1.5' SECONDS", True, False),
        ([("1", "YEAR"), ("2", "MONTHS")], "INTERVAL '1' YEAR '2' MONTHS", False, False),
    ],
)
def test_units(parts: list[tuple[str, str]], sql: str, is_day_time: bool, of_days: bool) -> None:
    found = of_units(parts)
    assert (found.sql, found.of_days) == (sql, of_days)
    assert found.type == (DAY_TIME if is_day_time else YEAR_MONTH)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [("1", "FORTNIGHT")],
        [("x", "DAY")],
        [("1.5", "DAY")],
        [("1", "MONTH"), ("1", "DAY")],
        [("1" * 30, "DAY")],
        [("9" * 18, "DAY")],
        [("9" * 10, "YEAR")],
        [("1", "NANOSECONDS")],
    ],
)
def test_what_are_no_units(parts: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        of_units(parts)


def test_words() -> None:
    assert of_words("1 day 2 hours").sql == "INTERVAL '1' DAY '2' HOURS"
    assert of_words(" interval -1  month ").sql == "INTERVAL '-1' MONTH"
    for text in ("", "day", "1day", "1 day 2", "1 day, 2 hours"):
        with pytest.raises(ValueError, match="write a number and a unit"):
            of_words(text)


@pytest.mark.parametrize(
    ("text", "first", "last", "is_day_time"),
    [
        ("1-2", "YEAR", "MONTH", False),
        ("1 02", "DAY", "HOUR", True),
        ("-1 2:3", "DAY", "MINUTE", True),
        ("1 02:03:04.5", "DAY", "SECOND", True),
        ("12:30", "MINUTE", "SECOND", True),
    ],
)
def test_ranges(text: str, first: str, last: str, is_day_time: bool) -> None:
    found = of_range(text, first, last, negative=False)
    assert found.sql == f"INTERVAL '{text}' {first} TO {last}"
    assert found.type == (DAY_TIME if is_day_time else YEAR_MONTH)
    assert of_range(text, first, last, negative=True).sql == f"INTERVAL -'{text}' {first} TO {last}"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("1-12", "YEAR", "MONTH"), ("1 24", "DAY", "HOUR"), ("1", "DAY", "HOUR"), ("1 1", "HOUR", "DAY"), ("", "A", "B")],
)
def test_what_are_no_ranges(text: str, first: str, last: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        of_range(text, first, last, negative=False)
