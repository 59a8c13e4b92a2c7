"""Keys of booleans: the key of FALSE is 0, and the key of TRUE is 1."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.buffers import bits
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace


class Booleans(KeySpace):
    """The key space of boolean values: FALSE sorts below TRUE."""

    @staticmethod
    def of(data_type: pa.DataType) -> Booleans | None:
        return Booleans(data_type, Domain(0, 1, True)) if pa.types.is_boolean(data_type) else None

    def key(self, value: bool) -> int:
        return int(value)

    def key_of(self, scalar: pa.Scalar) -> int:
        return int(scalar.as_py())

    def text(self, key: int) -> str:
        return "TRUE" if key else "FALSE"

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        out[:] = bits(values.buffers()[1], values.offset, len(values))
