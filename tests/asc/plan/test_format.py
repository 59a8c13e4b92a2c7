"""Arrays as bytes: they come back as they were, and bytes that are none are refused."""

from __future__ import annotations

import contextlib
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.plan.format import from_bytes, message, strings_of, to_bytes

ARRAYS = {"odd": np.arange(3, dtype=np.uint8), "many": np.arange(12, dtype=np.int32).reshape(3, 4)}
DATA = to_bytes({"kind": "block", "of": [1, "two"]}, ARRAYS)


@pytest.mark.parametrize("buffer", [DATA, memoryview(b"?" + DATA)[1:]], ids=["aligned", "not aligned"])
def test_arrays_come_back_and_cannot_be_written(buffer: bytes | memoryview) -> None:
    says, arrays = from_bytes(buffer)
    assert says == {"kind": "block", "of": [1, "two"]}
    assert {name: array.tolist() for name, array in arrays.items()} == {n: a.tolist() for n, a in ARRAYS.items()}
    with pytest.raises(ValueError, match="read-only"):
        arrays["many"][0] = 0


@pytest.mark.parametrize("strings", [[], ["", "Oslo", "Ærø"]])
def test_strings_come_back(strings: list[str]) -> None:
    array = pa.array(["before", *strings], pa.string()).slice(1)
    assert strings_of(message(array)).to_pylist() == strings
    assert message(array).tobytes() == message(pa.array(strings, pa.string())).tobytes()


def summed(rest: bytes) -> bytes:
    return b"ASCPLN10" + crc32(rest).to_bytes(4, "little") + rest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"ASCPLN10",
        b"ASCPLN10" + b"\xff" * 30,
        summed(b""),
        summed(b"\xff" * 40),
        summed(b"\x02\0\0\0{}"),
        summed(b"\x02\0\0\0[]"),
        summed(b'\x14\0\0\0{"arrays":[[1,2,3]]}'),
    ],
)
def test_bytes_that_are_no_arrays(data: bytes) -> None:
    with pytest.raises(PlanError, match="plan"):
        from_bytes(data)


def test_bytes_cut_short() -> None:
    with pytest.raises(PlanError, match="cut short"):
        from_bytes(DATA[: len(DATA) // 2])


def test_any_damaged_byte_is_found() -> None:
    for position in range(len(DATA)):
        damaged = bytearray(DATA)
        damaged[position] ^= (0x01, 0x10, 0x80)[position % 3]
        with pytest.raises(PlanError, match="plan"):
            from_bytes(bytes(damaged))
        # a sum that fits lies: whatever comes out, no other exception does
        with contextlib.suppress(PlanError):
            from_bytes(summed(bytes(damaged[12:])))


def test_what_was_checked_is_not_summed_again() -> None:
    damaged = bytearray(DATA)
    damaged[-1] ^= 1
    from_bytes(bytes(damaged), is_checked=True)
    with pytest.raises(PlanError, match="damaged"):
        from_bytes(bytes(damaged))


@pytest.mark.parametrize("dtype", ['"," ', '"<M8"', '"|O8"', '"i4,"', "[1]  ", "null "])
def test_an_array_of_another_type_is_refused(dtype: str) -> None:
    assert b'"<i4"' in DATA
    with pytest.raises(PlanError, match="another version wrote them"):
        from_bytes(summed(DATA[12:].replace(b'"<i4"', dtype.encode())))
