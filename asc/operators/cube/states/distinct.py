"""Sketches of distinct values: HyperLogLog, in the form of Apache DataSketches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states.binary import binaries, content_of, offsets_of, stored_of
from asc.operators.cube.states.by_cell import Bounds, numbered_by_cell, sorted_by_cell
from asc.operators.cube.states.distinct_kernels import (
    DENSE_BYTES,
    OTHER,
    SOUND,
    Collected,
    Work,
    check,
    collect_sketches,
    collect_values,
    measure,
    plan_merge,
    write_sketches,
)
from asc.operators.cube.states.doubles import doubles
from asc.operators.cube.states.hash_kernels import coupons_of_bytes, coupons_of_pairs, coupons_of_words
from asc.operators.cube.states.memory import nulls_of, numbers
from asc.operators.cube.states.state import Places, Rows, State, Values
from asc.operators.cube.states.stored import Stored

LG_K = 12
"""The default binary logarithm of the number of registers. With it, the estimate is within 3.2 % of the number of
values at two sigma.
"""
LG_K_LEAST, LG_K_MOST = 8, 16


class Distinct(State):
    """A HyperLogLog sketch of the values that are not NULL. Two states of one set of values have equal bytes.

    The state has the form compact HLL_4 of Apache DataSketches, see :mod:`asc.operators.cube.states.distinct_kernels`.
    The state and its estimate depend only on the set of values, not on the order or the division of the records.

    Integers, dates, booleans, and timestamps in microseconds are hashed as BIGINT. FLOAT and DOUBLE are hashed as
    DOUBLE; -0.0 is hashed as 0.0, and every NaN as the same NaN. Texts and BINARY are hashed as their bytes, decimals
    as their unscaled value of 128 bits. Spark's ``hll_sketch_agg`` computes the same hashes of INT, BIGINT, STRING and
    BINARY, but ignores empty values.
    """

    storage = pa.binary()

    def __init__(self, lg_k: int = LG_K) -> None:
        if not LG_K_LEAST <= lg_k <= LG_K_MOST:
            raise CubeError("lg_k", lg_k, f"is out of range: give {LG_K_LEAST} to {LG_K_MOST}")
        self.lg_k = lg_k
        self.type = pa.binary()

    def values(self, column: pa.Array) -> Values:
        """Return the coupon of each value: an integer of 32 bits from a hash, which
        :mod:`asc.operators.cube.states.hash_kernels` describes.
        """
        coupons = np.zeros(len(column), dtype=np.uint32)
        if len(column):
            _hash(column, coupons)
        return Values(frozen(coupons), nulls_of(column))

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the sketches of the values by cell."""
        assert values is not None
        coupons, bounds = sorted_by_cell(values, rows, cells, count)
        most = self._coupons_most
        sizes = np.diff(bounds)
        starts = np.zeros(count, dtype=np.int64)
        held = np.minimum(sizes, most)
        np.cumsum(held[:-1], out=starts[1:])
        is_dense = sizes > most
        dense = np.where(is_dense, np.cumsum(is_dense) - 1, -1)
        collected = self._collected(starts, dense, int(held.sum()), int(is_dense.sum()))
        work = self._work()
        collect_values(frozen(coupons), bounds, self.lg_k, work, collected)
        return self._written(collected, work)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return by cell the sketch of the union of the cell's sets of values. Raise CubeError if a state is damaged,
        or has another ``lg_k``.
        """
        work = self._work()
        stored = self._checked(states, work)
        order, bounds = numbered_by_cell(cells, count)
        return self._merged(stored, order, bounds, work)

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the states unchanged, after a check: a question computes the estimate."""
        self.check_states(states)
        return states

    def check_states(self, states: pa.Array) -> None:
        """Raise CubeError if a state is damaged, or has another ``lg_k``. The library could write beyond its memory
        when it reads a damaged state.
        """
        self._checked(states, self._work())

    def _merged(self, stored: Stored, order: Rows, bounds: Bounds, work: Work) -> pa.Array:
        count = len(bounds) - 1
        starts, dense = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        coupons, rows = plan_merge(stored, order, bounds, self.lg_k, starts, dense)
        collected = self._collected(starts, dense, coupons, rows)
        collect_sketches(stored, order, bounds, self.lg_k, work, collected)
        return self._written(collected, work)

    def _checked(self, states: pa.Array, work: Work) -> Stored:
        stored = stored_of(states)
        state = check(stored, self.lg_k, work)
        if state == OTHER:
            raise CubeError("distinct with lg_k", self.lg_k, "is merged with another lg_k: merge states of one lg_k")
        if state != SOUND:
            raise CubeError("state", f"distinct with lg_k {self.lg_k}", "is damaged: restore a copy of the cubes")
        return stored

    @property
    def _coupons_most(self) -> int:
        return 3 << (self.lg_k - 5)

    def _collected(
        self, starts: npt.NDArray[np.int64], dense: npt.NDArray[np.int64], coupons: int, rows: int
    ) -> Collected:
        # The array has at least one row, because kernels refer to the first row even if no cell needs registers.
        registers = np.zeros((max(rows, 1), 1 << self.lg_k), dtype=np.uint8)
        counts = np.zeros(len(starts), dtype=np.int64)
        return Collected(counts, frozen(starts), np.empty(coupons, dtype=np.uint32), frozen(dense), registers)

    def _work(self) -> Work:
        sums = np.empty(2, dtype=np.float64)
        return Work(
            np.zeros(1 << (self.lg_k - 2), dtype=np.uint32),
            np.empty(self._coupons_most + 1, dtype=np.int64),
            np.empty(DENSE_BYTES, dtype=np.uint8),
            np.empty(64, dtype=np.int64),
            np.empty(256, dtype=np.int64),
            sums,
            sums.view(np.uint8),
        )

    def _written(self, collected: Collected, work: Work) -> pa.Array:
        sizes = np.empty(len(collected.counts), dtype=np.int64)
        measure(self.lg_k, collected, work, sizes)
        array, stored = binaries(sizes, "distinct sketches in bytes")
        write_sketches(self.lg_k, collected, work, stored)
        return array


def _hash(column: pa.Array, coupons: npt.NDArray[np.uint32]) -> None:
    """Write the coupon of each value to ``coupons``. The coupons of NULL values are arbitrary."""
    kind, types = column.type, pa.types
    if types.is_string(kind) or types.is_binary(kind):
        coupons_of_bytes(content_of(column), offsets_of(column), coupons)
    elif types.is_decimal(kind):
        coupons_of_pairs(numbers(column, np.uint64, 2), coupons)
    elif types.is_floating(kind):
        values = doubles(column) + 0.0
        values[np.isnan(values)] = np.nan
        coupons_of_words(frozen(values.view(np.uint64)), coupons)
    else:
        integers = column.cast(pa.int32()) if types.is_date(kind) else column
        coupons_of_words(numbers(integers.cast(pa.int64()), np.uint64), coupons)
