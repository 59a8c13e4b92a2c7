"""The compiled loops over bitmaps, against doing it bit by bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.plan.region_kernels import admit_regions, find_groups

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


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 7)] * 5), min_size=1, max_size=8), st.integers(1, 6))
def test_groups_have_something_of_the_first_row(drawn: list[tuple[int, ...]], span: int) -> None:
    matrix, groups = np.array(drawn, dtype=np.uint64), np.empty(len(drawn), dtype=np.uint64)
    find_groups(matrix, span, groups)
    for row, found in zip(drawn, groups.tolist(), strict=True):
        some = {word // span for word, (own, live) in enumerate(zip(row, drawn[0], strict=True)) if own & live}
        assert found == sum(1 << group for group in some)
