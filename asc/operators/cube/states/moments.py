"""Co-moments: the exact sums from which variances, covariances and regressions are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states.binary import binary_array
from asc.operators.cube.states.doubles import doubles
from asc.operators.cube.states.memory import nulls_of
from asc.operators.cube.states.moment_kernels import (
    Packed,
    Sums,
    add_rows,
    add_states,
    are_sound,
    carry,
    find_spans,
    find_windows,
    plan_fold,
    plan_merge,
    write_states,
)
from asc.operators.cube.states.state import Places, Rows, State, Values

PART_WORDS = 2**22
"""The largest number of words of sums that are unpacked to digits of 64 bits at once; a single cell may have more."""
_STATE_BYTES_MAX = 2**31 - 1
"""The most bytes that the states of one Arrow array have together."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The words that the sums of cells may need. The fields are those of :class:`Sums`, for all cells."""

    counts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint8]
    firsts: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]

    def part(self, first: int, end: int, sums: int) -> Sums:
        """Return the sums of the cells from ``first`` to before ``end``, with the value 0. ``sums``: the number of sums
        of a cell.
        """
        starts = self.starts[first * sums : end * sums + 1]
        starts = starts - starts[0]
        digits = np.zeros(starts[-1], dtype=np.int64)
        return Sums(self.counts[first:end], self.codes[first:end], self.firsts[first:end], starts, digits)


class Moments(State):
    """The count, the sums, and the sums of products of some columns, over the rows in which no column is NULL.

    Values are doubles, as in Spark. All sums are exact integers, so that they depend neither on the order nor on the
    division of the records. A sum is stored in words of 32 bits, without low words of zero and
    high words that only repeat the sign. A sum usually has 1 to 3 words, at most 69; a sum of products 1 to 5, at most
    137. The bytes are described in :mod:`asc.operators.cube.states.moment_kernels`.
    """

    storage = pa.binary()
    type = pa.int64()

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.sums = columns + columns * (columns + 1) // 2

    def values(self, column: pa.Array) -> Values:
        """Return the values of one column as doubles, each rounded once."""
        return Values(doubles(column), nulls_of(column))

    def together(self, columns: Sequence[Values]) -> Values:
        """Return the values of several columns as rows, float64[rows, columns]. A row is NULL if one of its values is
        NULL.
        """
        nulls = np.zeros(0, dtype=np.bool_)
        for column in columns:
            if len(column.nulls):
                nulls = column.nulls | nulls if len(nulls) else column.nulls
        return Values(frozen(np.stack([column.numbers for column in columns], axis=1)), frozen(nulls.view()))

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the states of the complete rows by cell. A row is complete if no value is NULL."""
        assert values is not None
        bits = values.numbers.view(np.int64).reshape(-1, self.columns)
        counts, codes = np.zeros(count, dtype=np.int64), np.zeros((count, self.columns), dtype=np.uint8)
        lows = np.full((count, self.columns), 2**15 - 1, dtype=np.int16)
        highs = np.full((count, self.columns), -1, dtype=np.int16)
        find_spans(bits, values.nulls, rows, cells, counts, lows, highs, codes)
        firsts, starts = np.zeros((count, self.sums), dtype=np.int32), np.empty(count * self.sums + 1, dtype=np.int64)
        plan_fold(lows, highs, codes, firsts, starts)
        scratch = np.empty((3, self.columns), dtype=np.int64)

        def add(part: Sums, first: int) -> None:
            add_rows(bits, values.nulls, rows, cells, first, part, scratch)

        return self._in_parts(_Plan(counts, codes, firsts, starts), add)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the sums of partial sums by cell."""
        packed = self.packed(states)
        counts, codes = np.zeros(count, dtype=np.int64), np.zeros((count, self.columns), dtype=np.uint8)
        firsts = np.full((count, self.sums), 2**31 - 1, dtype=np.int32)
        lasts = np.zeros((count, self.sums), dtype=np.int32)
        find_windows(packed, cells, counts, codes, firsts, lasts)
        starts = np.empty(count * self.sums + 1, dtype=np.int64)
        plan_merge(codes, firsts, lasts, starts)

        def add(part: Sums, first: int) -> None:
            add_states(packed, cells, first, part)

        return self._in_parts(_Plan(counts, codes, firsts, starts), add)

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the number of complete rows of each state, which is 0 for NULL."""
        words, offsets = self.packed(states)
        places = offsets[:-1] >> 2
        has_rows = offsets[1:] > offsets[:-1]
        counts = np.zeros(len(states), dtype=np.int64)
        own = places[has_rows]
        counts[has_rows] = words[own].astype(np.int64) | (words[own + 1].astype(np.int64) << 32)
        return pa.array(counts)

    def packed(self, states: pa.Array) -> Packed:
        """Return states in the form that kernels read. Raise CubeError if a state is damaged."""
        _, offsets, content = states.buffers()
        if offsets is None or not len(states):
            return Packed(frozen(np.zeros(0, dtype=np.uint32)), frozen(np.zeros(len(states) + 1, dtype=np.int32)))
        places = np.frombuffer(offsets, dtype=np.int32)[states.offset : states.offset + len(states) + 1]
        size = 0 if content is None else content.size // 4
        words = np.frombuffer(content, dtype=np.uint32, count=size) if size else np.zeros(0, dtype=np.uint32)
        found = Packed(frozen(words.view()), frozen(places.view()))
        if not are_sound(found, self.sums):
            raise CubeError("state", f"co-moments of {self.columns}", "is damaged: restore a copy of the cubes")
        return found

    def _in_parts(self, plan: _Plan, add: Callable[[Sums, int], None]) -> pa.Array:
        """Return the states of cells as an Arrow array. A cell without a complete row is NULL.

        Cells are processed in parts, so that at most PART_WORDS words are in memory as digits of 64 bits, or the words
        of one cell. ``add`` adds all records or states to the digits of a part, given the part and its first cell.
        Cost: a pass over the records for each part, usually one part.
        """
        count, words_before = len(plan.counts), plan.starts[:: self.sums]
        bounds = [0]
        while bounds[-1] < count:
            most = words_before[bounds[-1]] + PART_WORDS
            bounds.append(max(int(np.searchsorted(words_before, most, side="right")) - 1, bounds[-1] + 1))
        # The array is larger than needed. The operating system allocates only the memory pages to which states are
        # written.
        words = np.empty(int(plan.starts[-1]) + (2 + self.sums) * count, dtype=np.uint32)
        offsets = np.zeros(count + 1, dtype=np.int32)
        for first, end in pairwise(bounds):
            part = plan.part(first, end, self.sums)
            add(part, first)
            sizes = np.empty(end - first, dtype=np.int64)
            carry(part, sizes)
            ends = int(offsets[first]) + np.cumsum(4 * sizes)
            if ends[-1] > _STATE_BYTES_MAX:
                remedy = f"group by fewer values: at most {_STATE_BYTES_MAX:,}"
                raise CubeError("co-moments in bytes", int(ends[-1]), remedy)
            offsets[first + 1 : end + 1] = ends
            write_states(part, Packed(words, offsets[first : end + 1]))
            # Free the digits before the next part allocates its own.
            del part
        content = words[: offsets[-1] >> 2]
        if len(bounds) <= 2:
            content = content.copy()
        return binary_array(content, offsets)
