"""Arrays of states, and their parts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from asc.operators.cube.states.memory import cut


def stream(array: pa.Array) -> bytes:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([array], ["a"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int32(), [1, 2, 3, None, 5, 6, 7]),
        (pa.int64(), [1, 2, 3, 4, 5, 6, 7]),
        (pa.binary(3), [b"abc", b"def", b"ghi", b"jkl", None, b"mno", b"pqr"]),
        (pa.decimal128(9, 2), [1, 2, None, 4, 5, 6, 7]),
        (pa.bool_(), [True, False, True, None, True, True, False]),
        (pa.string(), ["a", "bc", None, "", "def", "g", "hi"]),
    ],
    ids=str,
)
def test_parts_of_an_array_have_the_bytes_of_arrays_of_their_own(kind: pa.DataType, values: list[Any]) -> None:
    whole = pa.array([values[0], *values], kind).slice(1)
    bounds = [0, 3, 4, 7]
    found = list(cut(whole, bounds))
    wanted = [pa.array(values[start:stop], kind) for start, stop in pairwise(bounds)]
    assert found == wanted
    assert [stream(own) for own in found] == [stream(own) for own in wanted]
