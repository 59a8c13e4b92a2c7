"""Booleans, which Arrow packs: columns that begin and end inside a byte."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.keys.booleans import Booleans
from asc.keys.column import NO_CONSTANTS
from asc.keys.domain import Domain


@pytest.mark.parametrize(("start", "stop"), [(0, 20), (3, 5), (7, 9), (8, 16), (13, 13)])
def test_slices_across_bytes(start: int, stop: int) -> None:
    values = [number % 3 == 0 for number in range(20)]
    out = np.empty(stop - start, dtype=np.int64)
    Booleans(pa.bool_(), Domain(0, 1, True)).write(pa.array(values).slice(start, stop - start), NO_CONSTANTS, out)
    assert out.tolist() == [int(value) for value in values[start:stop]]
