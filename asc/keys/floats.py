"""Keys of floats and doubles: int64 with the same order as the doubles."""

from __future__ import annotations

import math
import struct

import numpy as np
import pyarrow as pa

from asc.frozen import frozen
from asc.keys.buffers import fixed_width
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.float_bits import NAN_KEY, SIGN_MASK
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace


def float_key(value: float) -> int:
    """Return the key of a double: an int64 that is smaller for a smaller double. As in Spark, NaN is one value above
    +infinity, and -0.0 equals 0.0.

    >>> float_key(-1.5) < float_key(-0.0) == float_key(0.0) < float_key(float("inf")) < float_key(float("nan"))
    True
    """
    if math.isnan(value):
        return NAN_KEY
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits if bits >= 0 else bits ^ SIGN_MASK


def float_of_key(key: int) -> float:
    """Return the double that has a key (:func:`float_key`)."""
    bits = key if key >= 0 else key ^ SIGN_MASK
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value


class Floats(KeySpace):
    """The key space of floats and doubles; a float has the key of the equal double."""

    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, Domain(float_key(float("-inf")), NAN_KEY, True))
        self._is_single = data_type == pa.float32()

    @staticmethod
    def of(data_type: pa.DataType) -> Floats | None:
        return Floats(data_type) if data_type in (pa.float32(), pa.float64()) else None

    def key(self, value: float) -> int:
        return float_key(float(value))

    def key_of(self, scalar: pa.Scalar) -> int:
        return float_key(scalar.as_py())

    def text(self, key: int) -> str:
        return repr(float_of_key(key))

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        # Imported late: a caller that only parses predicates does not load the kernels.
        from asc.keys.key_kernels import float_keys

        numbers = fixed_width(values, np.float32 if self._is_single else np.float64)
        float_keys(frozen(numbers.astype(np.float64, copy=False)), out)
