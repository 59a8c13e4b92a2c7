"""The compiled loop that fills bitmaps, against filling them bit by bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.plan.kernels import admit_regions

ROWS, BITS = 6, 130
spans = st.tuples(st.integers(0, BITS - 1), st.integers(0, ROWS - 1), st.integers(0, ROWS - 1))


@settings(deadline=None)  # the first call compiles
@given(st.lists(spans, max_size=10))
def test_each_bit_in_its_rows(drawn: list[tuple[int, int, int]]) -> None:
    regions = np.zeros((ROWS, 3), dtype=np.uint64)
    bits, lows, highs = (np.array([own[place] for own in drawn], dtype=np.int64) for place in range(3))
    admit_regions(regions, bits, lows, highs)
    found = {(row, bit) for row in range(ROWS) for bit in range(192) if int(regions[row, bit // 64]) >> bit % 64 & 1}
    assert found == {(row, bit) for bit, low, high in drawn for row in range(low, high + 1)}
