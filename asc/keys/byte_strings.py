"""Keys of strings and binaries: the bytes of the values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.keys.constraint import Interval
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace

_ANY_BYTES = Domain(b"", None, False)


class Strings(KeySpace):
    """The key space of strings, whose keys are their UTF-8 bytes.

    >>> Strings.of(pa.string()).key("Łódź").decode()
    'Łódź'
    """

    labelled = True

    @staticmethod
    def of(data_type: pa.DataType) -> Strings | None:
        return Strings(data_type, _ANY_BYTES) if pa.types.is_string(data_type) else None

    def key(self, value: str) -> bytes:
        return value.encode()

    def key_of(self, scalar: pa.Scalar) -> bytes:
        # Not all strings of Spark are UTF-8, nor are the texts of arrays (:mod:`asc.keys.like`).
        content: bytes = scalar.as_buffer().to_pybytes()
        return content

    def text(self, key: bytes) -> str:
        return quoted(key.decode("utf-8", errors="backslashreplace"))

    def readable(self, values: pa.Array) -> pa.Array | None:
        types, given = pa.types, values.type
        if types.is_string(given):
            return values
        return values.cast(self.type) if types.is_large_string(given) or types.is_string_view(given) else None

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        write_variable(values, dictionary, out)


class Binaries(KeySpace):
    """The key space of binary values, whose keys are their bytes."""

    labelled = True

    @staticmethod
    def of(data_type: pa.DataType) -> Binaries | None:
        return Binaries(data_type, _ANY_BYTES) if pa.types.is_binary(data_type) else None

    def key(self, value: bytes) -> bytes:
        return value

    def key_of(self, scalar: pa.Scalar) -> bytes:
        plain: bytes = scalar.as_py()
        return plain

    def text(self, key: bytes) -> str:
        return f"X'{key.hex().upper()}'"

    def readable(self, values: pa.Array) -> pa.Array | None:
        types, given = pa.types, values.type
        if types.is_binary(given):
            return values
        return values.cast(self.type) if types.is_large_binary(given) or types.is_binary_view(given) else None

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        write_variable(values, dictionary, out)


def quoted(value: str) -> str:
    r"""Return a string as a Spark literal that decodes to the string.

    Spark substitutes variables, also of the process's environment, in the text of an expression before parsing it. So
    text that looks like a variable is escaped.

    >>> print(quoted("it's ${env:HOME}"))
    'it\'s $\{env:HOME}'
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\u0000").replace("${", "$\\{")
    return f"'{escaped}'"


def starting_with(prefix: str) -> Interval:
    """Return the interval of the strings that begin with a prefix of at least one character.

    >>> starting_with("Os")
    ((b'Os', 0), (b'Ot', 0))
    """
    first = prefix.encode()
    # No UTF-8 text ends in the byte FF, so the last byte can be increased by one.
    return (first, 0), (first[:-1] + bytes([first[-1] + 1]), 0)


def write_variable(values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
    """Write the label that each string or binary of an array has in ``dictionary`` into ``out``."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[values.offset : values.offset + len(values) + 1]
    write_labels(ends, np.frombuffer(data if data is not None else b"", dtype=np.uint8), dictionary, out)


def write_labels(
    offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8], dictionary: Dictionary, out: Keys
) -> None:
    """Write the label that each byte string ``data[offsets[i]:offsets[i + 1]]`` has in ``dictionary`` into ``out``."""
    # Imported late: a caller that only parses predicates does not load the kernels.
    from asc.keys.key_kernels import bytes_keys

    # Buffers from IPC are read-only, buffers made in Python are writable. The kernel is compiled for one kind only.
    ends, content = frozen(offsets), frozen(data)
    bytes_keys(ends, content, dictionary.offsets, dictionary.data, dictionary.heads, dictionary.labels, out)
