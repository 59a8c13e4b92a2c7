"""Constant intervals: their text for Spark and their types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from asc.predicate.literal import INT64_MAX

DAY_TIME = pa.duration("us")
"""Stands for Spark's day-time intervals, whatever their fields."""
YEAR_MONTH = pa.month_day_nano_interval()
"""Stands for Spark's year-month intervals."""

_MAX_CHARS = 200
_MAX_MONTHS = (1 << 31) - 1
_DAY_MICROS = 86_400 * 10**6
_MONTHS = {"YEAR": 12, "MONTH": 1}
_MICROS = {
    "WEEK": 7 * _DAY_MICROS,
    "DAY": _DAY_MICROS,
    "HOUR": 3_600 * 10**6,
    "MINUTE": 60 * 10**6,
    "SECOND": 10**6,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
UNITS = frozenset(name + plural for name in (*_MONTHS, *_MICROS) for plural in ("", "S"))
"""The units of an interval, upper case, singular and plural."""

_NUMBER = re.compile(r"\s*([+-]?)\s*([0-9]{1,18}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*\Z")
_CLOCK = r"([0-9]{1,2})"
_RANGES = {
    ("YEAR", "MONTH"): r"([0-9]{1,8})-([0-9]{1,2})",
    ("DAY", "HOUR"): rf"([0-9]{{1,7}}) {_CLOCK}",
    ("DAY", "MINUTE"): rf"([0-9]{{1,7}}) {_CLOCK}:{_CLOCK}",
    ("DAY", "SECOND"): rf"([0-9]{{1,7}}) {_CLOCK}:{_CLOCK}:{_CLOCK}(?:\.[0-9]{{1,9}})?",
    ("HOUR", "MINUTE"): rf"([0-9]{{1,7}}):{_CLOCK}",
    ("HOUR", "SECOND"): rf"([0-9]{{1,7}}):{_CLOCK}:{_CLOCK}(?:\.[0-9]{{1,9}})?",
    ("MINUTE", "SECOND"): rf"([0-9]{{1,7}}):{_CLOCK}(?:\.[0-9]{{1,9}})?",
}
_BELOW = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
_WORDS = re.compile(r"([+-]?\s*[0-9]{1,18}(?:\.[0-9]{1,9})?)\s+([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class Interval:
    """A constant interval: ``sql`` as Spark reads it, and DAY_TIME or YEAR_MONTH. ``of_days``: of whole days and
    nothing smaller, so that a date stays one.
    """

    sql: str
    type: pa.DataType
    of_days: bool = False


def of_units(parts: Sequence[tuple[str, str]]) -> Interval:
    """The interval of numbers and units, such as ``[("1", "DAY"), ("-2", "HOURS")]``; ValueError for what is none."""
    months, micros = 0, Decimal(0)
    kinds: set[pa.DataType] = set()
    names = [unit.upper().removesuffix("S") for _, unit in parts]
    for (text, unit), name in zip(parts, names, strict=True):
        match = _NUMBER.match(text) if len(text) <= _MAX_CHARS else None
        if match is None or unit.upper() not in UNITS:
            raise ValueError("write a number and a unit: INTERVAL 1 DAY")
        number = Decimal(match.group(2))
        if name != "SECOND" and "." in text:
            raise ValueError("only seconds have a fraction")
        kinds.add(YEAR_MONTH if name in _MONTHS else DAY_TIME)
        if name in _MONTHS:
            months += int(number) * _MONTHS[name]
        else:
            micros += number * _MICROS[name]
    if len(kinds) > 1:
        raise ValueError("years and months do not go together with days and what is smaller")
    if not kinds:
        raise ValueError("write a number and a unit: INTERVAL 1 DAY")
    if months > _MAX_MONTHS or micros > INT64_MAX:
        raise ValueError("it is longer than Spark's intervals")
    sql = " ".join(f"'{_plain(text)}' {unit.upper()}" for text, unit in parts)
    return Interval(f"INTERVAL {sql}", kinds.pop(), of_days=set(names) <= {"DAY", "WEEK"})


def of_words(text: str) -> Interval:
    """The interval of one text with its units, such as ``1 day 2 hours``; ValueError for what is none.

    >>> of_words("1 day 2 hours").sql
    "INTERVAL '1' DAY '2' HOURS"
    """
    words = text.split()
    body = " ".join(words[1:] if words[:1] and words[0].lower() == "interval" else words)
    parts = _WORDS.findall(body) if len(body) <= _MAX_CHARS else []
    if not parts or "".join(body.split()) != "".join("".join(part) for part in parts).replace(" ", ""):
        raise ValueError("write a number and a unit: INTERVAL 1 DAY")
    return of_units([(number, unit) for number, unit in parts])


def of_range(text: str, first: str, last: str, negative: bool) -> Interval:
    """The interval of a text such as ``1 12:30`` with its first and last unit; ValueError for what is none."""
    pattern = _RANGES.get((first, last))
    if pattern is None:
        raise ValueError("from a larger to a smaller unit: YEAR TO MONTH, DAY TO SECOND, HOUR TO MINUTE, ...")
    match = re.fullmatch(rf"([+-]?){pattern}", text)
    if match is None:
        raise ValueError(f"no interval from {first} to {last}: write '1-2' YEAR TO MONTH, '1 02:03:04' DAY TO SECOND")
    units = ["YEAR", "MONTH"] if first == "YEAR" else ["DAY", "HOUR", "MINUTE", "SECOND"]
    units = units[units.index(first) : units.index(last) + 1]
    numbers = [int(group) for group in match.groups()[1:]]
    for number, unit in list(zip(numbers, units, strict=True))[1:]:
        if number >= _BELOW[unit]:
            raise ValueError(f"{unit} is below {_BELOW[unit]}")
    sign = "-" if negative else ""
    sql = f"INTERVAL {sign}'{text}' {first} TO {last}"
    return Interval(sql, YEAR_MONTH if first == "YEAR" else DAY_TIME)


def _plain(text: str) -> str:
    return "".join(text.split()).removeprefix("+")
