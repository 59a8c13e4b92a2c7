"""Keys of dates and timestamps: the stored number of days or microseconds since 1970."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from asc.keys.integers import Integers

_EPOCH = dt.datetime(1970, 1, 1)


class Dates(Integers):
    """The key space of dates, whose keys are days since 1970.

    >>> Dates(pa.date32()).text(15706)
    "DATE '2013-01-01'"
    """

    @staticmethod
    def of(data_type: pa.DataType) -> Dates | None:
        return Dates(data_type) if pa.types.is_date32(data_type) else None

    def key_of(self, scalar: pa.Scalar) -> int:
        return int(scalar.value)

    def text(self, key: int) -> str:
        try:
            return f"DATE '{(_EPOCH + dt.timedelta(days=key)).date().isoformat()}'"
        except OverflowError:
            return f"DATE {key} days from 1970"


class Timestamps(Integers):
    """The key space of timestamps, whose keys are microseconds since 1970: in UTC with a time zone, in local time
    without one.

    >>> Timestamps(pa.timestamp("us", tz="UTC")).text(1_000_000)
    "TIMESTAMP '1970-01-01 00:00:01Z'"
    """

    @staticmethod
    def of(data_type: pa.DataType) -> Timestamps | None:
        return Timestamps(data_type) if pa.types.is_timestamp(data_type) and data_type.unit == "us" else None

    def key_of(self, scalar: pa.Scalar) -> int:
        return int(scalar.value)

    def text(self, key: int) -> str:
        word, zone = ("TIMESTAMP", "Z") if self.type.tz else ("TIMESTAMP_NTZ", "")
        try:
            return f"{word} '{(_EPOCH + dt.timedelta(microseconds=key)).isoformat(sep=' ')}{zone}'"
        except OverflowError:
            return f"{word} {key} microseconds from 1970"

    def readable(self, values: pa.Array) -> pa.Array | None:
        # Arrow stores a timestamp with any time zone as microseconds of UTC; the time zone only matters for display.
        given = values.type
        is_same = pa.types.is_timestamp(given) and given.unit == "us" and (given.tz is None) == (self.type.tz is None)
        return values if is_same else None
