"""Keys of the types that are stored as a signed integer: the integer itself."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.buffers import fixed_width
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace


class Integers(KeySpace):
    """The key space of signed integers of 8 to 64 bits.

    >>> Integers(pa.int8()).domain
    Domain(low=-128, high=127, discrete=True)
    """

    def __init__(self, data_type: pa.DataType) -> None:
        limit = 1 << (data_type.bit_width - 1)
        super().__init__(data_type, Domain(-limit, limit - 1, True))
        self._dtype = f"i{data_type.bit_width // 8}"

    @staticmethod
    def of(data_type: pa.DataType) -> Integers | None:
        return Integers(data_type) if pa.types.is_signed_integer(data_type) else None

    def key(self, value: int) -> int:
        return value

    def key_of(self, scalar: pa.Scalar) -> int:
        return int(scalar.as_py())

    def text(self, key: int) -> str:
        return str(key)

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        out[:] = fixed_width(values, self._dtype)
