"""P-attributes: columns and scalar expressions that conjuncts constrain, and the keys their values compare by."""

from __future__ import annotations

import enum
import math
import struct
from dataclasses import dataclass, field

import pyarrow as pa

_SIGN_MASK = 0x7FFF_FFFF_FFFF_FFFF
NAN_KEY = 0x7FF8_0000_0000_0000
"""Key of every NaN: above the key of +infinity, as Spark orders it."""


class Kind(enum.Enum):
    """How the values of a p-attribute become totally ordered keys.

    INT    boolean (0, 1), integers, date (days), timestamp (microseconds), decimal of precision <= 18 (unscaled):
           the key is the int64 itself.
    FLOAT  float and double: the order-preserving int64 image of the double (:func:`float_key`).
    BYTES  string (UTF-8) and binary: the bytes; decimal of precision > 18: 16 big-endian bytes, sign bit flipped
           (:func:`decimal_key`). Compared as unsigned bytes.
    """

    INT = "int"
    FLOAT = "float"
    BYTES = "bytes"


def float_key(value: float) -> int:
    """Order-preserving int64 image of a double; NaN is one value above +infinity and -0.0 equals 0.0.

    >>> float_key(-1.5) < float_key(-0.0) == float_key(0.0) < float_key(float("inf")) < float_key(float("nan"))
    True
    """
    if math.isnan(value):
        return NAN_KEY
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits if bits >= 0 else bits ^ _SIGN_MASK


def float_of_key(key: int) -> float:
    """The double whose key this is (:func:`float_key`)."""
    bits = key if key >= 0 else key ^ _SIGN_MASK
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value


def decimal_key(unscaled: int) -> bytes:
    """Order-preserving 16-byte image of a 128-bit unscaled decimal.

    >>> decimal_key(-1) < decimal_key(0) < decimal_key(10**37)
    True
    """
    return (unscaled + (1 << 127)).to_bytes(16, "big")


def kind_of_type(data_type: pa.DataType) -> Kind | None:
    """The kind of a scalar type's keys; None for a type that cannot be a p-attribute (array, map, struct, ...)."""
    types = pa.types
    if types.is_decimal(data_type):
        return Kind.INT if data_type.precision <= 18 else Kind.BYTES
    if (
        types.is_boolean(data_type)
        or types.is_signed_integer(data_type)
        or types.is_date32(data_type)
        or (types.is_timestamp(data_type) and data_type.unit == "us")
    ):
        return Kind.INT
    if types.is_float32(data_type) or types.is_float64(data_type):
        return Kind.FLOAT
    if types.is_string(data_type) or types.is_binary(data_type):
        return Kind.BYTES
    return None


@dataclass(frozen=True, slots=True)
class PAttribute:
    """A column, or a deterministic scalar expression over columns, that some conjunct constrains (spec: p-attribute).

    ``sql`` is its canonical Spark SQL text and its identity; ``path`` is the column's path, None for an expression that
    Spark computes; ``type`` is the Arrow type of its values (boolean for a predicate that Spark judges whole).
    ``failure`` is the condition, as Spark SQL and never NULL, under which its evaluation fails, and with ANSI mode off
    its value is NULL for it; None where it cannot fail.
    """

    sql: str
    type: pa.DataType
    path: tuple[str, ...] | None = None
    failure: str | None = field(default=None, compare=False)

    @property
    def kind(self) -> Kind:
        kind = kind_of_type(self.type)
        if kind is None:
            raise TypeError(f"{self.sql} has type {self.type}, which no key represents")
        return kind

    def __hash__(self) -> int:
        return hash(self.sql)

    def __str__(self) -> str:
        return self.sql
