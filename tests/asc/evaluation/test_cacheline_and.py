"""Eight words at a time, against word by word."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.compiled import compiled
from asc.evaluation.cacheline_and import and_lines, or_lines

words = st.lists(st.sampled_from([0, 1, 2**63, 0xF0F0, 2**64 - 1]), min_size=8, max_size=8)


@compiled
def _both(start: np.ndarray, lines: np.ndarray, offsets: np.ndarray, found: np.ndarray) -> tuple[int, int]:
    count = np.uint64(offsets.size)
    addresses = np.uint64(start.ctypes.data), np.uint64(lines.ctypes.data), np.uint64(offsets.ctypes.data)
    first = and_lines(np.uint64(found[0].ctypes.data), *addresses, count)  # type: ignore[call-arg, misc]
    second = or_lines(np.uint64(found[1].ctypes.data), *addresses, count)  # type: ignore[call-arg, misc]
    return first, second


@settings(deadline=None)  # the first call compiles
@given(words, st.lists(words, min_size=1, max_size=5), st.data())
def test_lines_are_words_side_by_side(start: list[int], lines: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, max_size=6))
    offsets = np.array([64 * line for line in chosen], dtype=np.int64)
    found = np.empty((2, 8), dtype=np.uint64)
    own = np.array(lines, dtype=np.uint64)
    unions = _both(np.array(start, dtype=np.uint64), own, offsets, found)
    read = np.vstack([np.array(start, dtype=np.uint64), own[chosen]])
    assert found[0].tolist() == np.bitwise_and.reduce(read).tolist()
    assert found[1].tolist() == np.bitwise_or.reduce(read).tolist()
    assert [int(union) for union in unions] == np.bitwise_or.reduce(found, axis=1).tolist()
