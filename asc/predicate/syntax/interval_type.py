"""The types of intervals: those of months, those of days and what is smaller, and calendar intervals of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pyarrow as pa

_MONTH_FIELDS = ("YEAR", "MONTH")
_DAY_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
FIELDS = (*_MONTH_FIELDS, *_DAY_FIELDS)
"""From the largest to the smallest."""

CALENDAR = pa.month_day_nano_interval()
"""Spark's calendar intervals: months, days and microseconds, which do not compare."""


class IntervalType(pa.ExtensionType):  # type: ignore[misc]
    """An interval from its first to its last field, such as DAY and SECOND.

    Made by :func:`interval_type` alone, so that Arrow finds the same object again in an array's type.
    """

    def __init__(self, first: str, last: str) -> None:
        self.first, self.last = first, last
        super().__init__(pa.int64(), f"asc.interval.{first}.{last}".lower())

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    def __str__(self) -> str:
        return f"INTERVAL {self.first}" + (f" TO {self.last}" if self.last != self.first else "")

    def __hash__(self) -> int:
        return hash((self.first, self.last))

    @property
    def fields(self) -> tuple[str, ...]:
        """From the largest to the smallest."""
        fields = _MONTH_FIELDS if self.first in _MONTH_FIELDS else _DAY_FIELDS
        return fields[fields.index(self.first) : fields.index(self.last) + 1]

    @property
    def of_months(self) -> bool:
        """Whether it counts months, not microseconds."""
        return self.first in _MONTH_FIELDS

    @property
    def zero(self) -> str:
        """No time at all, as Spark SQL of this very type."""
        return f"INTERVAL '0' {self.first}" + (f" '0' {self.last}" if self.last != self.first else "")


@cache
def interval_type(first: str, last: str) -> IntervalType:
    """Return the interval from one field to another; ValueError where there is none.

    >>> str(interval_type("DAY", "SECOND")), interval_type("YEAR", "YEAR").zero
    ('INTERVAL DAY TO SECOND', "INTERVAL '0' YEAR")
    """
    for fields in (_MONTH_FIELDS, _DAY_FIELDS):
        if first in fields and last in fields[fields.index(first) :]:
            return IntervalType(first, last)
    raise ValueError("from a larger to a smaller unit: YEAR TO MONTH, DAY TO SECOND, HOUR TO MINUTE, ...")


def spanned(types: Iterable[IntervalType]) -> IntervalType | None:
    """Return the narrowest interval that has the fields of all; None where months and days do not go together."""
    fields = {field for each in types for field in each.fields}
    for family in (_MONTH_FIELDS, _DAY_FIELDS):
        if fields <= set(family):
            found = [field for field in family if field in fields]
            return interval_type(found[0], found[-1])
    return None


DAYS = interval_type("DAY", "DAY")
"""Of whole days, so that a date stays one."""
DAY_TIME = interval_type("DAY", "SECOND")
YEAR_MONTH = interval_type("YEAR", "MONTH")
