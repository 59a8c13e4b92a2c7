"""Constant intervals: their text for Spark, their type, and what is none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from asc.predicate.syntax import interval
from asc.predicate.syntax.interval import of_range, of_units, of_words

DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("parts", "sql", "data_type", "amount"),
    [
        ([("1", "DAY")], "INTERVAL '1' DAY", "INTERVAL DAY", DAY),
        ([("2", "week"), ("-1", "days")], "INTERVAL '2' WEEK '-1' DAYS", "INTERVAL DAY", 13 * DAY),
        ([("24", "HOUR")], "INTERVAL '24' HOUR", "INTERVAL HOUR", DAY),
        ([("1.5", "SECONDS")], "INTERVAL '1.5' SECONDS", "INTERVAL SECOND", 1_500_000),
        ([("1", "MICROSECOND"), ("1", "MINUTE")], None, "INTERVAL MINUTE TO SECOND", 60_000_001),
        ([("-1", "YEAR"), ("2", "MONTHS")], "INTERVAL '-1' YEAR '2' MONTHS", "INTERVAL YEAR TO MONTH", -10),
        ([("2", "MONTH")], "INTERVAL '2' MONTH", "INTERVAL MONTH", 2),
    ],
)
def test_units(parts: list[tuple[str, str]], sql: str | None, data_type: str, amount: int) -> None:
    found = of_units(parts)
    assert found.sql == (sql or found.sql)
    assert (str(found.type), found.amount) == (data_type, amount)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [("1", "FORTNIGHT")],
        [("x", "DAY")],
        [("1.5", "DAY")],
        [("1", "MONTH"), ("1", "DAY")],
        [("1" * 30, "DAY")],
        [("--1", "DAY")],
        [("1 1", "DAY")],
        [("9" * 18, "DAY")],
        [("9" * 10, "YEAR")],
        [("-" + "9" * 10, "YEAR")],
        [("1", "NANOSECONDS")],
    ],
)
def test_what_are_no_units(parts: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        of_units(parts)


def test_how_many_of_the_last_field() -> None:
    assert of_range("1 02", "DAY", "HOUR", negative=True).in_last_field == -26
    assert of_units([("1.5", "SECOND")]).in_last_field == Decimal("1.5")
    assert of_units([("2", "YEAR")]).in_last_field == 2


def test_words() -> None:
    assert of_words("1 day 2 hours").sql == "INTERVAL '1' DAY '2' HOURS"
    assert of_words(".5 seconds 2. second").sql == "INTERVAL '.5' SECONDS '2.' SECOND"
    assert of_words(" interval -1  month ").sql == "INTERVAL '-1' MONTH"
    for text in ("", "day", "1day", "1 day 2", "1 day, 2 hours", "1 day2 hours"):
        with pytest.raises(ValueError, match="write a number and a unit"):
            of_words(text)


@pytest.mark.parametrize(
    ("text", "first", "last", "amount"),
    [
        ("1-2", "YEAR", "MONTH", 14),
        ("1 02", "DAY", "HOUR", 26 * 3_600_000_000),
        ("-1 2:3", "DAY", "MINUTE", -(26 * 60 + 3) * 60_000_000),
        ("1 02:03:04.5", "DAY", "SECOND", DAY + 7_384_500_000),
        ("12:30", "MINUTE", "SECOND", 750_000_000),
        ("106751991 04:00:54.775807", "DAY", "SECOND", (1 << 63) - 1),
        ("178956970-7", "YEAR", "MONTH", (1 << 31) - 1),
    ],
)
def test_ranges(text: str, first: str, last: str, amount: int) -> None:
    found = of_range(text, first, last, negative=False)
    assert (found.sql, found.amount) == (f"INTERVAL '{text}' {first} TO {last}", amount)
    assert str(found.type) == f"INTERVAL {first} TO {last}"
    turned = of_range(text, first, last, negative=True)
    assert (turned.sql, turned.amount) == (f"INTERVAL -'{text}' {first} TO {last}", -amount)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1-12", "YEAR", "MONTH"),
        ("1 24", "DAY", "HOUR"),
        ("1", "DAY", "HOUR"),
        ("1 1", "HOUR", "DAY"),
        ("", "A", "B"),
        ("1", "DAY", "DAY"),
    ],
)
def test_what_are_no_ranges(text: str, first: str, last: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        of_range(text, first, last, negative=False)


def test_an_interval_has_as_many_characters_as_the_limit_and_no_more() -> None:
    most = interval._MAX_CHARS
    number = (most + 1) // 6
    plural = most - 6 * number + 1

    def words(days: int) -> str:
        return " ".join(["1 days"] * days + ["1 day"] * (number - days))

    assert len(words(plural)) == most
    assert of_words(words(plural)).amount == number * of_words("1 day").amount
    with pytest.raises(ValueError, match="write a number and a unit"):
        of_words(words(plural + 1))
