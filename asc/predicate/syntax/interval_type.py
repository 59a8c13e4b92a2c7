"""The types of intervals.

There are intervals of years and months, intervals of days and smaller units, and calendar intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pyarrow as pa

_MONTH_FIELDS = ("YEAR", "MONTH")
_DAY_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
FIELDS = (*_MONTH_FIELDS, *_DAY_FIELDS)
"""The fields of intervals, from the largest to the smallest."""

CALENDAR = pa.month_day_nano_interval()
"""The type of Spark's calendar intervals, which have months, days and microseconds and cannot be compared."""


class IntervalType(pa.ExtensionType):  # type: ignore[misc]
    """The type of intervals from a first to a last field, such as from DAY to SECOND.

    Only :func:`interval_type` creates such types. It returns the same object each time, so that Arrow finds this object
    again as the element type of an array.
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
        """The fields of the type, from the largest to the smallest."""
        fields = _MONTH_FIELDS if self.first in _MONTH_FIELDS else _DAY_FIELDS
        return fields[fields.index(self.first) : fields.index(self.last) + 1]

    @property
    def of_months(self) -> bool:
        """True if the type counts months. Otherwise it counts microseconds."""
        return self.first in _MONTH_FIELDS

    @property
    def zero(self) -> str:
        """An interval of length zero, as Spark SQL that has exactly this type."""
        return f"INTERVAL '0' {self.first}" + (f" '0' {self.last}" if self.last != self.first else "")


@cache
def interval_type(first: str, last: str) -> IntervalType:
    """Return the type of intervals from the field ``first`` to the field ``last``. Raise ValueError if there is no such
    type.

    >>> str(interval_type("DAY", "SECOND")), interval_type("YEAR", "YEAR").zero
    ('INTERVAL DAY TO SECOND', "INTERVAL '0' YEAR")
    """
    for fields in (_MONTH_FIELDS, _DAY_FIELDS):
        if first in fields and last in fields[fields.index(first) :]:
            return IntervalType(first, last)
    raise ValueError("from a larger to a smaller unit: YEAR TO MONTH, DAY TO SECOND, HOUR TO MINUTE, ...")


def spanned(types: Iterable[IntervalType]) -> IntervalType | None:
    """Return the narrowest interval type that has the fields of all the types.

    Return None if there is no such type, because months and days cannot be combined.
    """
    fields = {field for each in types for field in each.fields}
    for family in (_MONTH_FIELDS, _DAY_FIELDS):
        if fields <= set(family):
            found = [field for field in family if field in fields]
            return interval_type(found[0], found[-1])
    return None


DAYS = interval_type("DAY", "DAY")
"""The type of intervals of whole days. A date plus such an interval is a date."""
DAY_TIME = interval_type("DAY", "SECOND")
YEAR_MONTH = interval_type("YEAR", "MONTH")
