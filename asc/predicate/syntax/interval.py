"""Constant intervals: their text for Spark, their types and their lengths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from asc.predicate.syntax.interval_type import FIELDS, IntervalType, interval_type
from asc.predicate.syntax.literal import INT64_MAX

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
_FIELD_OF = {"WEEK": "DAY", "MILLISECOND": "SECOND", "MICROSECOND": "SECOND"}
UNITS = frozenset(name + plural for name in (*_MONTHS, *_MICROS) for plural in ("", "S"))
"""The units of an interval in upper case, singular and plural."""

_DIGITS = r"(?:[0-9]{1,19}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})"
_NUMBER = re.compile(rf"\s*([+-]?)\s*({_DIGITS})\s*\Z")
_CLOCK = r"([0-9]{1,2})"
_RANGES = {
    ("YEAR", "MONTH"): r"([0-9]{1,9})-([0-9]{1,2})",
    ("DAY", "HOUR"): rf"([0-9]{{1,10}}) {_CLOCK}",
    ("DAY", "MINUTE"): rf"([0-9]{{1,10}}) {_CLOCK}:{_CLOCK}",
    ("DAY", "SECOND"): rf"([0-9]{{1,10}}) {_CLOCK}:{_CLOCK}:{_CLOCK}(?:\.[0-9]{{1,9}})?",
    ("HOUR", "MINUTE"): rf"([0-9]{{1,10}}):{_CLOCK}",
    ("HOUR", "SECOND"): rf"([0-9]{{1,10}}):{_CLOCK}:{_CLOCK}(?:\.[0-9]{{1,9}})?",
    ("MINUTE", "SECOND"): rf"([0-9]{{1,10}}):{_CLOCK}(?:\.[0-9]{{1,9}})?",
}
_BELOW = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
_WORDS = re.compile(rf"([+-]?\s*{_DIGITS})\s+([A-Za-z]+)(?:\s+|\Z)")


@dataclass(frozen=True, slots=True)
class Interval:
    """A constant interval: its text as Spark reads it, its type, and its length in months or microseconds."""

    sql: str
    type: IntervalType
    amount: int

    @property
    def in_last_field(self) -> Decimal:
        """The length in units of the last field of the type: 26 for a day and two hours, whose last field is HOUR."""
        unit_sizes = _MONTHS if self.type.of_months else _MICROS
        return Decimal(self.amount) / unit_sizes[self.type.last]


def of_units(parts: Sequence[tuple[str, str]]) -> Interval:
    """Return the sum of pairs of a number and a unit, such as ``[("1", "DAY"), ("-2", "HOURS")]``, as an interval.

    Raise ValueError if the pairs are no interval.
    """
    months, micros = 0, Decimal(0)
    fields: set[str] = set()
    for text, unit in parts:
        name = unit.upper().removesuffix("S")
        match = _NUMBER.match(text) if len(text) <= _MAX_CHARS else None
        if match is None or unit.upper() not in UNITS:
            raise ValueError("write a number and a unit: INTERVAL 1 DAY")
        if name != "SECOND" and "." in text:
            raise ValueError("only seconds have a fraction")
        number = Decimal(match.group(1) + match.group(2))
        fields.add(_FIELD_OF.get(name, name))
        if name in _MONTHS:
            months += int(number) * _MONTHS[name]
        else:
            micros += number * _MICROS[name]
    if not fields:
        raise ValueError("write a number and a unit: INTERVAL 1 DAY")
    if not fields.isdisjoint(_MONTHS) and not fields <= _MONTHS.keys():
        raise ValueError("years and months do not go together with days and what is smaller")
    if abs(months) > _MAX_MONTHS or abs(micros) > INT64_MAX:
        raise ValueError("it is longer than Spark's intervals")
    sql = " ".join(f"'{_plain(text)}' {unit.upper()}" for text, unit in parts)
    ordered = [field for field in FIELDS if field in fields]
    return Interval(f"INTERVAL {sql}", interval_type(ordered[0], ordered[-1]), months or int(micros))


def signed(text: str, sign: str) -> str:
    """Return the text of a number combined with the sign that precedes it. The number may have a sign, too.

    >>> signed("5", "-"), signed(" -5", "-"), signed("+5", "")
    ('-5', '5', '5')
    """
    match = re.match(r"\s*([+-]?)(?![+-])", text)
    if match is None:
        raise ValueError("write a number and a unit: INTERVAL 1 DAY")
    return "-" * ((sign == "-") != (match.group(1) == "-")) + text[match.end() :]


def of_words(text: str) -> Interval:
    """Return the interval of a text with units, such as ``1 day 2 hours``. Raise ValueError if the text is no interval.

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
    """Return the interval of a text such as ``1 12:30`` with the given first and last unit.

    ``negative``: whether a minus precedes the text. Raise ValueError if the text is no such interval.
    """
    kind, text = interval_type(first, last), text.strip()
    match = re.fullmatch(rf"([+-]?){_RANGES.get((first, last), '(?!)')}", text)
    if match is None:
        raise ValueError(f"no interval from {first} to {last}: write '1-2' YEAR TO MONTH, '1 02:03:04' DAY TO SECOND")
    numbers = [int(group) for group in match.groups()[1:]]
    for number, unit in list(zip(numbers, kind.fields, strict=True))[1:]:
        if number >= _BELOW[unit]:
            raise ValueError(f"{unit} is below {_BELOW[unit]}")
    unit_sizes = _MONTHS if kind.of_months else _MICROS
    amount = sum(number * unit_sizes[unit] for number, unit in zip(numbers, kind.fields, strict=True))
    amount += int(text.partition(".")[2][:6].ljust(6, "0")) if "." in text else 0
    if amount > (_MAX_MONTHS if kind.of_months else INT64_MAX):
        raise ValueError("it is longer than Spark's intervals")
    turned = negative != text.startswith("-")
    return Interval(f"INTERVAL {'-' * negative}'{text}' {first} TO {last}", kind, -amount if turned else amount)


def _plain(text: str) -> str:
    return "".join(text.split()).removeprefix("+")
