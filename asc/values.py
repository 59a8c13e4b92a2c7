"""Single values as keys: what the reference evaluates, one tuple at a time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from asc.attribute import Kind, PAttribute, decimal_key, float_key, float_of_key
from asc.predicate.constraint import Key


def key_of(attribute: PAttribute, value: pa.Scalar) -> Key | None:
    """The key of an Arrow scalar of the p-attribute's type; None for NULL.

    >>> key_of(PAttribute("city", pa.string()), pa.scalar("Łódź")).decode()
    'Łódź'
    """
    if not value.is_valid:
        return None
    if attribute.kind is Kind.FLOAT:
        return float_key(value.as_py())
    if pa.types.is_decimal(value.type):
        unscaled = _unscaled(value.as_py())
        return unscaled if attribute.kind is Kind.INT else decimal_key(unscaled)
    if attribute.kind is Kind.BYTES:
        plain = value.as_py()
        return plain.encode() if isinstance(plain, str) else plain
    if pa.types.is_boolean(value.type):
        return int(value.as_py())
    # Dates and timestamps are the days and microseconds they are stored as.
    return int(value.value) if pa.types.is_temporal(value.type) else int(value.as_py())


def keys_of(
    attributes: Sequence[PAttribute], columns: Sequence[pa.Array | pa.ChunkedArray], row: int
) -> list[Key | None]:
    """The keys of one row."""
    return [key_of(attribute, column[row]) for attribute, column in zip(attributes, columns, strict=True)]


def text_of(attribute: PAttribute, key: Key | None) -> str:
    """A key as people write the value.

    >>> text_of(PAttribute("price", pa.decimal128(10, 2)), 550), text_of(PAttribute("day", pa.date32()), 15_888)
    ('5.50', '2013-07-02')
    """
    if key is None:
        return "NULL"
    types, data_type = pa.types, attribute.type
    if attribute.kind is Kind.FLOAT:
        return repr(float_of_key(key))
    if types.is_decimal(data_type):
        unscaled = key if attribute.kind is Kind.INT else int.from_bytes(key, "big") - (1 << 127)
        digits = str(abs(unscaled)).rjust(data_type.scale + 1, "0")
        whole, part = digits[: len(digits) - data_type.scale], digits[len(digits) - data_type.scale :]
        return f"{'-' if unscaled < 0 else ''}{whole}{'.' if part else ''}{part}"
    if types.is_string(data_type):
        return repr(key.decode("utf-8", "replace"))
    if types.is_binary(data_type):
        return f"X'{key.hex().upper()}'"
    if types.is_boolean(data_type):
        return "TRUE" if key else "FALSE"
    if types.is_temporal(data_type):
        return _moment(key, data_type)
    return str(key)


def _moment(key: int, data_type: pa.DataType) -> str:
    unit = dt.timedelta(days=1) if pa.types.is_date(data_type) else dt.timedelta(microseconds=1)
    try:
        moment = dt.datetime(1970, 1, 1) + key * unit
    except OverflowError:  # Spark knows years that Python does not.
        return str(key)
    if pa.types.is_date(data_type):
        return moment.date().isoformat()
    return f"{moment.isoformat(sep=' ')}{'' if data_type.tz is None else ' ' + data_type.tz}"


def _unscaled(value: Decimal) -> int:
    """The digits of a decimal of the column's own scale as one integer, exactly."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)))
    return -number if sign else number
