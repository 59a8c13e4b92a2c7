"""Keys of decimals: their digits without the decimal point, as an int64 for types of at most 18 digits, otherwise as
bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from decimal import Decimal

import numpy as np
import pyarrow as pa

from asc.keys.byte_strings import write_labels
from asc.keys.constraint import Key
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace

_SHORT_DIGITS = 18
"""The greatest number of digits that always fits 64 bits."""

_BIAS = 1 << 127


def decimal_key(unscaled: int) -> bytes:
    """Return the key of a decimal with 128 bits: 16 bytes, big-endian, with the sign bit flipped, which sort as the
    decimals do. ``unscaled``: the digits of the decimal as an integer.

    >>> decimal_key(-1) < decimal_key(0) < decimal_key(10**37)
    True
    """
    return (unscaled + _BIAS).to_bytes(16, "big")


def unscaled_of(value: Decimal) -> int:
    """Return the digits of a decimal as an integer, without the decimal point. The position of the point is the scale
    of the type.

    >>> unscaled_of(Decimal("-5.50"))
    -550
    """
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    magnitude: int = int("".join(map(str, digits))) * 10 ** max(exponent, 0)
    return -magnitude if sign else magnitude


class Decimals(KeySpace):
    """Base class of the key spaces of decimals of one precision and scale."""

    @abstractmethod
    def key(self, value: int) -> Key:
        """Return the key of a decimal. ``value``: its unscaled digits as an integer."""

    def key_of(self, scalar: pa.Scalar) -> Key:
        return self.key(unscaled_of(scalar.as_py()))

    def _text(self, unscaled: int) -> str:
        digits = tuple(int(digit) for digit in str(abs(unscaled)))
        return format(Decimal((int(unscaled < 0), digits, -self.type.scale)), "f")


class ShortDecimals(Decimals):
    """The key space of decimals of at most 18 digits, whose key is their unscaled digits.

    >>> ShortDecimals(pa.decimal128(10, 2)).text(550)
    '5.50'
    """

    def __init__(self, data_type: pa.DataType) -> None:
        limit = 10**data_type.precision - 1
        super().__init__(data_type, Domain(-limit, limit, True))

    @staticmethod
    def of(data_type: pa.DataType) -> ShortDecimals | None:
        is_short = pa.types.is_decimal128(data_type) and data_type.precision <= _SHORT_DIGITS
        return ShortDecimals(data_type) if is_short else None

    def key(self, value: int) -> int:
        return value

    def text(self, key: int) -> str:
        return self._text(key)

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        # The value has 128 bits in two's complement. Up to 18 digits fit into its low word.
        low = np.frombuffer(values.buffers()[1], dtype=np.int64)[::2]
        out[:] = low[values.offset : values.offset + len(values)]


class LongDecimals(Decimals):
    """The key space of decimals of more than 18 digits, whose key has 16 bytes (:func:`decimal_key`)."""

    labelled = True

    def __init__(self, data_type: pa.DataType) -> None:
        limit = 10**data_type.precision - 1
        super().__init__(data_type, Domain(decimal_key(-limit), decimal_key(limit), False))

    @staticmethod
    def of(data_type: pa.DataType) -> LongDecimals | None:
        is_long = pa.types.is_decimal128(data_type) and data_type.precision > _SHORT_DIGITS
        return LongDecimals(data_type) if is_long else None

    def key(self, value: int) -> bytes:
        return decimal_key(value)

    def text(self, key: bytes) -> str:
        return self._text(int.from_bytes(key, "big") - _BIAS)

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        words = np.frombuffer(values.buffers()[1], dtype="<u8").reshape(-1, 2)
        words = words[values.offset : values.offset + len(values)]
        image = np.empty((len(words), 2), dtype=">u8")
        image[:, 0] = words[:, 1] ^ np.uint64(1 << 63)
        image[:, 1] = words[:, 0]
        offsets = np.arange(len(words) + 1, dtype=np.int32) * 16
        write_labels(offsets, image.view(np.uint8).reshape(-1), dictionary, out)
