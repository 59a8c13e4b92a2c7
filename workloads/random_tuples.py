"""Random tuples over a schema with every type, used to compare the fast path with Spark.

Values and literals are drawn from small overlapping pools with the extremes of each type, so that predicates hit their
boundaries. The pools contain NULL, NaN, both zeros, infinities, the ends of every integer type, empty and non-ASCII
strings, prefixes of other strings, and instants around a change of the clocks. Everything is reproducible from a seed.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

ALL_TYPES_DDL = (
    "flag BOOLEAN, tiny TINYINT, small SMALLINT, n INT, m INT, big BIGINT, f FLOAT, d DOUBLE, price DECIMAL(10,2), "
    "wide DECIMAL(30,5), s STRING, city STRING, raw BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, "
    "place STRUCT<x: INT, name: STRING, inner: STRUCT<z: DOUBLE>>"
)

_STRINGS = (
    "",
    "a",
    "ab",
    "abc",
    "abcd",
    "abd",
    "b",
    "B",
    "Zürich",
    "oslo",
    "Oslo",
    "東京",
    "🚀",
    "\uffff",
    "a%b",
    "a_b",
    "it's",
    "0",
    "5",
    "true",
)
_DAYS = tuple(
    dt.date.fromisoformat(d)
    for d in (
        "0001-01-01",
        "1582-10-15",
        "1969-12-31",
        "1970-01-01",
        "2013-03-10",
        "2013-07-04",
        "9999-12-31",
    )
)
_INSTANTS = tuple(
    dt.datetime.fromisoformat(text)
    for text in (
        "0001-01-01 00:00:00",
        "1969-12-31 23:59:59.999999",
        "1970-01-01 00:00:00",
        "2013-03-10 02:30:00",
        "2013-03-10 07:30:00",
        "2013-11-03 01:30:00",
        "2013-11-03 05:30:00",
        "2013-07-04 12:00:00.000001",
        "9999-12-31 23:59:59.999999",
    )
)
_DOUBLES = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    5.0,
    5.5,
    16777216.0,
    16777217.0,
    2.0**53,
    1e300,
    -1e300,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
)
_FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.10000000149011612,
    5.0,
    5.5,
    16777216.0,
    3.4028234663852886e38,
    1e-45,
    math.inf,
    -math.inf,
    math.nan,
)


def _integers(bits: int) -> tuple[int, ...]:
    limit = 1 << (bits - 1)
    near = (-1, 0, 1, 2, 5, 6, 7, 10, 100)
    return (*near, -limit, -limit + 1, limit - 1, limit - 2)


POOLS: dict[str, tuple[Any, ...]] = {
    "flag": (True, False),
    "tiny": _integers(8),
    "small": _integers(16),
    "n": (*_integers(32), 16777216, 16777217),
    "m": _integers(32),
    "big": (*_integers(64), 2**53, 2**53 + 1, 2**31, -(2**31) - 1),
    "f": _FLOATS,
    "d": _DOUBLES,
    "price": tuple(
        Decimal(t) for t in ("0.00", "5.00", "5.50", "5.49", "-0.01", "99999999.99", "-99999999.99", "0.10")
    ),
    "wide": tuple(
        Decimal(t)
        for t in (
            "0.00000",
            "5.00000",
            "5.50000",
            "-0.00001",
            "9999999999999999999999999.99999",
            "-9999999999999999999999999.99999",
            "0.10000",
        )
    ),
    "s": _STRINGS,
    "city": _STRINGS,
    "raw": (b"", b"\x00", b"a", b"ab", b"\xff", b"\xff\x00", b"\x7f", b"\x80"),
    "day": _DAYS,
    "ts": _INSTANTS,
    "ntz": _INSTANTS,
    "place.x": _integers(32),
    "place.name": _STRINGS,
    "place.inner.z": _DOUBLES,
}

_ARROW_TYPES: dict[str, pa.DataType] = {
    "flag": pa.bool_(),
    "tiny": pa.int8(),
    "small": pa.int16(),
    "n": pa.int32(),
    "m": pa.int32(),
    "big": pa.int64(),
    "f": pa.float32(),
    "d": pa.float64(),
    "price": pa.decimal128(10, 2),
    "wide": pa.decimal128(30, 5),
    "s": pa.string(),
    "city": pa.string(),
    "raw": pa.binary(),
    "day": pa.date32(),
    "ts": pa.timestamp("us", tz="UTC"),
    "ntz": pa.timestamp("us"),
    "place": pa.struct([("x", pa.int32()), ("name", pa.string()), ("inner", pa.struct([("z", pa.float64())]))]),
}


def random_tuples(seed: int, rows: int, null_share: float = 0.15) -> pa.Table:
    """Return a table of ``rows`` random tuples with the columns of :data:`ALL_TYPES_DDL`. Each value, struct and field
    of a struct is NULL with the probability ``null_share``.
    """
    rng = random.Random(seed)

    def draw(path: str) -> Any:
        return None if rng.random() < null_share else rng.choice(POOLS[path])

    def place() -> dict[str, Any] | None:
        if rng.random() < null_share:
            return None
        inner = None if rng.random() < null_share else {"z": draw("place.inner.z")}
        return {"x": draw("place.x"), "name": draw("place.name"), "inner": inner}

    columns = {name: [place() if name == "place" else draw(name) for _ in range(rows)] for name in _ARROW_TYPES}
    return pa.table({name: pa.array(columns[name], _ARROW_TYPES[name]) for name in _ARROW_TYPES})


def sql_literal(value: Any) -> str:
    r"""Return a Python value as a Spark SQL literal of the matching type.

    >>> print(sql_literal("it's"), sql_literal(float("nan")), sql_literal(Decimal("5.50")))
    'it\'s' CAST('NaN' AS DOUBLE) 5.50
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            name = "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
            return f"CAST('{name}' AS DOUBLE)"
        return f"{value!r}D"
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)
