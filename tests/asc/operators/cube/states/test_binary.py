"""States of variable size: their memory, and the bound on their bytes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states import binary
from asc.operators.cube.states.binary import binaries, content_of, offsets_of, stored_of
from asc.operators.cube.states.distinct import Distinct
from asc.operators.cube.states.quantiles import Quantiles


def test_a_written_array_has_its_values_and_null_for_those_without_bytes() -> None:
    array, stored = binaries(np.array([2, 0, 3]), "states")
    stored.content[:] = np.frombuffer(b"abcde", dtype=np.uint8)
    assert array.to_pylist() == [b"ab", None, b"cde"]
    array.validate(full=True)


@pytest.mark.parametrize(
    "array", [pa.array([b"abc", None, b"de", b"f"]), pa.array([], pa.binary()), pa.nulls(3, pa.binary())]
)
def test_a_part_of_an_array_is_read_in_place(array: pa.Array) -> None:
    part = array.slice(1)
    content, offsets = stored_of(part)
    read = [bytes(content[start:stop]) for start, stop in pairwise(offsets)]
    assert read == [value or b"" for value in part.to_pylist()]
    assert not content_of(part).flags.writeable
    assert not offsets_of(part).flags.writeable


@pytest.mark.parametrize(("state", "subject"), [(Distinct(), "distinct"), (Quantiles(), "quantile")])
def test_states_of_more_bytes_than_an_array_has_are_refused(
    state: Distinct | Quantiles, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = state.values(pa.array(np.arange(3_000.0)))
    rows, cells = frozen(np.arange(3_000)), frozen((np.arange(3_000) % 3).astype(np.int32))
    size_bytes = sum(len(content) for content in state.fold(values, rows, cells, 3).to_pylist())
    monkeypatch.setattr(binary, "_STATE_BYTES_MAX", size_bytes + (size_bytes // 2 if subject == "quantile" else 0))
    state.fold(values, rows, cells, 3)
    monkeypatch.setattr(binary, "_STATE_BYTES_MAX", size_bytes // 2)
    with pytest.raises(CubeError, match=rf"{subject} sketches in bytes \d+: group by fewer values: at most"):
        state.fold(values, rows, cells, 3)
