"""Pairs in the order of their rows, and of the ordinals within a row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.evaluation.pairs import TooManyPairsError, by_row, doubled


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 199)), unique=True), st.sampled_from((4, 100)))
def test_pairs_by_row(drawn: list[tuple[int, int]], words: int) -> None:
    pairs = np.array([(10 + row) << 32 | ordinal for row, ordinal in drawn], dtype=np.int64)
    rows, ordinals = np.empty(len(drawn), dtype=np.int32), np.empty(len(drawn), dtype=np.int32)
    ends = np.empty(7, dtype=np.int64)
    # Of few ordinals in all those of a row are sorted by marks, of many by themselves.
    marks = np.zeros(words, dtype=np.uint64)
    without = by_row(pairs, 10, rows, ordinals, ends, marks)
    assert not marks.any()
    assert list(zip((rows - 10).tolist(), ordinals.tolist(), strict=True)) == sorted(drawn)
    assert without == 6 - len({row for row, _ in drawn})


def test_room_is_doubled_up_to_its_bound() -> None:
    array = doubled(np.array([3, 4], dtype=np.int64), 3, 1.5)
    assert len(array) == 4
    assert array[:2].tolist() == [3, 4]
    with pytest.raises(TooManyPairsError) as raised:
        doubled(array, 3, 1.5)
    assert raised.value.rows == 1.5
