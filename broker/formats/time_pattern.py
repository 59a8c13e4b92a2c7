"""Patterns of Java's DateTimeFormatter, used to write times that Spark's parsers read with the same patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

_SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"),
    "December",
)
_PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", re.DOTALL)
_RESERVED = "{}#'"
_UTC_TEXTS = {
    **{"X" * count: "Z" for count in range(1, 6)},
    **{"x": "+00", "xx": "+0000", "xxx": "+00:00", "xxxx": "+0000", "xxxxx": "+00:00"},
    **{"Z": "+0000", "ZZ": "+0000", "ZZZ": "+0000", "ZZZZ": "GMT", "ZZZZZ": "Z"},
    **{"VV": "UTC", "z": "UTC", "O": "GMT", "OOOO": "GMT"},
}
"""The texts that zone letters of a pattern produce for UTC."""

_NUMBERS: dict[str, tuple[int, Callable[[datetime], int]]] = {
    "d": (2, lambda time: time.day),
    "D": (3, lambda time: time.timetuple().tm_yday),
    "H": (2, lambda time: time.hour),
    "k": (2, lambda time: time.hour or 24),
    "K": (2, lambda time: time.hour % 12),
    "h": (2, lambda time: time.hour % 12 or 12),
    "m": (2, lambda time: time.minute),
    "s": (2, lambda time: time.second),
}
"""The pattern letters that write a number, each with the largest number of repetitions and the function that returns
the number.
"""

_Write = Callable[[datetime], str]


@dataclass(frozen=True, slots=True)
class TimePattern:
    """A pattern that writes times as text.

    ``has_zone``: whether the text contains the zone, which is then UTC. Without a zone, the text is in local time.
    """

    text: str
    has_zone: bool
    _parts: tuple[_Write, ...]
    _shape: re.Pattern[str]

    @staticmethod
    def of(pattern: str, locale: str = "en-US") -> TimePattern:
        """Parse a pattern. Raise ValueError, which names the faulty letters, if this module cannot write times as Java
        writes them with the pattern.

        Unsupported are names of days and eras, names of months and halves of a day in a locale other than en-US, and
        12-hour values without the half of the day.

        >>> TimePattern.of("dd/MM/yyyy HH:mm:ss.SSS").written(datetime(2013, 1, 31, 9, 5, 0, 120000))
        '31/01/2013 09:05:00.120'
        """
        letters = {part[2] for part in _PART.finditer(pattern) if part[2]}
        if letters & {"h", "K"} and "a" not in letters:
            raise ValueError("h without a")  # mornings and afternoons would be read as the same
        found = list(_parts(pattern, locale))
        shape = "".join(shape for _, shape in found)
        zoned = any(part.group() in _UTC_TEXTS for part in _PART.finditer(pattern) if part[2])
        return TimePattern(pattern, zoned, tuple(write for write, _ in found), re.compile(shape, re.ASCII))

    def written(self, time: datetime) -> str:
        """Return a time in the pattern. If the pattern has a zone, convert a time with a zone to UTC.

        Raise ValueError for a year that the pattern would read back as another year.
        """
        moved = time.astimezone(timezone.utc) if self.has_zone and time.tzinfo is not None else time
        return "".join(write(moved) for write in self._parts)

    def is_shape_of(self, text: str) -> bool:
        """Return whether a text looks as if it was written with the pattern."""
        return self._shape.fullmatch(text) is not None


def _parts(pattern: str, locale: str) -> Iterator[tuple[_Write, str]]:
    """Yield, for each part of a pattern, the function that writes it and the regular expression that matches it."""
    for part in _PART.finditer(pattern):
        quoted, letter, sign = part.groups()
        if letter:
            yield _of_letters(part.group(), locale)
        elif sign is not None and sign in _RESERVED:
            raise ValueError(sign)
        elif sign not in ("[", "]"):
            # Brackets enclose an optional part, which is always written.
            literal = "'" if quoted == "" else quoted.replace("''", "'") if quoted is not None else sign
            yield _constant(literal), re.escape(literal)


_ENGLISH = ("en", "en-US")
"""Locales whose names are known here. Names in other locales differ between versions of Java."""


def _of_letters(letters: str, locale: str) -> tuple[_Write, str]:
    letter, count = letters[0], len(letters)
    if letters in _UTC_TEXTS:
        return _constant(_UTC_TEXTS[letters]), r"[A-Za-z0-9:+\-/_]+"
    if letter in _NUMBERS and count <= _NUMBERS[letter][0]:
        number = _NUMBERS[letter][1]
        return lambda time: f"{number(time):0{count}d}", rf"[0-9]{{{count},{max(count, _NUMBERS[letter][0])}}}"
    if letter == "y" and count == 2:
        return _year_of_century, "[0-9]{2}"
    if letter == "y" and count <= 6:
        return lambda time: f"{time.year:0{count}d}", rf"[0-9]{{{count},}}"
    if letter in "ML" and count <= 2:
        return lambda time: f"{time.month:0{count}d}", rf"[0-9]{{{count},2}}"
    if letter in "ML" and count <= 4 and locale in _ENGLISH:
        names = _SHORT if count == 3 else _MONTHS
        return lambda time: names[time.month - 1], "[A-Za-z]+"
    if letter == "S" and count <= 9:
        return lambda time: f"{time.microsecond:06d}000"[:count], rf"[0-9]{{1,{count}}}"
    if letters == "a" and locale in _ENGLISH:
        return lambda time: "PM" if time.hour >= 12 else "AM", "[APap][Mm]"
    raise ValueError(letters)


def _constant(text: str) -> _Write:
    return lambda _: text


def _year_of_century(time: datetime) -> str:
    if not 2000 <= time.year <= 2099:
        raise ValueError(f"year {time.year} in two digits")
    return f"{time.year % 100:02d}"
