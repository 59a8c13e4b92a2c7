"""Single values as keys: what the reference evaluates, one tuple at a time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from asc.keys.attribute import Kind, PAttribute, decimal_key, float_key
from asc.keys.constraint import Key


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


def _unscaled(value: Decimal) -> int:
    """The digits of a decimal of the column's own scale as one integer, exactly."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)))
    return -number if sign else number
