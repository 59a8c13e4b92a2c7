"""Random predicates that mostly compare a column with a constant drawn from very many values, for columns of each type.
The module also draws rows that contain some of these values.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa

from asc.schema import Schema

DDL = "s STRING, b BINARY, n BIGINT, d DOUBLE, c DECIMAL(24, 2), t TIMESTAMP, alt INT"
SCHEMA = Schema.from_ddl(DDL)

_EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)


class Drawn:
    """A generator of predicates and rows. The predicates draw the constants of each column from about ``values``
    distinct values. The same seed gives the same predicates and rows.
    """

    def __init__(self, seed: int, values: int) -> None:
        self.random = np.random.default_rng(seed)
        self.values = values

    def predicate(self) -> str:
        """Return a predicate as SQL. Most predicates are equalities or lists of values, alone or with a condition on
        the column ``alt``. About one in five has a conjunct without an equality or a list of values.
        """
        first, second, third = (self.equality() for _ in range(3))
        least = int(self.random.integers(0, 100))
        forms = [
            *[first] * 6,
            *[f"{first} AND alt > {least}"] * 4,
            f"{first} AND (alt < {least} OR alt IS NULL)",
            f"{first} AND alt IN (1, 5, 9, {least})",
            f"{first} AND {second}",
            f"({first} AND alt > {least}) OR ({first} AND alt < {least - 40})",
            f"{first} OR {second}",
            f"({first} OR {second}) AND {third}",
            f"NOT ({first})",
            f"{first} OR alt > {least}",
            f"{first} AND s LIKE '%1%'",
            f"{first} OR s IS NULL",
            f"alt > {least}",
        ]
        return forms[self.random.integers(0, len(forms))]

    def equality(self) -> str:
        """Return a predicate that holds if a column equals a value, or is in a list of a few values."""
        numbers = self.random.integers(0, self.values, int(self.random.choice([1, 1, 1, 2, 5]))).tolist()
        column = str(self.random.choice(["s", "s", "s", "n", "n", "b", "d", "c", "t"]))
        texts = list(dict.fromkeys(_text(column, number) for number in numbers))
        return f"{column} = {texts[0]}" if len(texts) == 1 else f"{column} IN ({', '.join(texts)})"

    def rows(self, count: int) -> pa.Table:
        """Draw rows. About four in five values are values that predicates may have, and the others are beyond these
        values. The rows also contain NULL, NaN and both zeros.
        """
        drawn = self.random.integers(0, self.values * 5 // 4, (6, count))
        absent = self.random.random((7, count)) < 0.08
        moments = [_EPOCH + timedelta(microseconds=number) for number in drawn[5].tolist()]
        return pa.table(
            {
                "s": pa.array([f"v{number}" for number in drawn[0]], mask=absent[0]),
                "b": pa.array([_bytes(number) for number in drawn[1].tolist()], mask=absent[1]),
                "n": pa.array(drawn[2] * 10**12 - 5 * 10**12, mask=absent[2]),
                "d": pa.array([_double(number) for number in drawn[3].tolist()], mask=absent[3]),
                "c": pa.array(
                    [Decimal(number) / 4 for number in drawn[4].tolist()], pa.decimal128(24, 2), mask=absent[4]
                ),
                "t": pa.array(moments, pa.timestamp("us", "UTC"), mask=absent[5]),
                "alt": pa.array(self.random.integers(0, 100, count), pa.int32(), mask=absent[6]),
            }
        )


def _bytes(number: int) -> bytes:
    return b"\x00" * (number % 9) + bytes([number % 256])


def _decimal(number: int) -> Decimal:
    return Decimal(number) / 4


def _double(number: int) -> float:
    return {0: -0.0, 1: float("nan"), 2: 0.0, 3: float("-inf")}.get(number, number / 8)


def _text(column: str, number: int) -> str:
    """Return the SQL literal that represents a number in a column. In some columns, numbers that are far apart have the
    same literal.
    """
    if column == "d":
        return {0: "0.0D", 2: "-0.0D"}.get(number, f"{number / 8}D")
    return {
        "s": f"'v{number}'",
        "b": f"X'{_bytes(number).hex()}'",
        "n": str(number * 10**12 - 5 * 10**12),
        "c": f"{_decimal(number):.2f}",
        "t": f"TIMESTAMP '{_EPOCH + timedelta(microseconds=number):%Y-%m-%d %H:%M:%S.%f}'",
    }[column]
