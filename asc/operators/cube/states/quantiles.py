"""Sketches of quantiles: KLL, by Apache DataSketches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states.binary import check_total, stored_of
from asc.operators.cube.states.by_cell import numbered_by_cell, sorted_by_cell
from asc.operators.cube.states.doubles import doubles
from asc.operators.cube.states.memory import nulls_of
from asc.operators.cube.states.quantile_kernels import OTHER, SOUND, check
from asc.operators.cube.states.sketch_library import library
from asc.operators.cube.states.state import Places, Rows, State, Values
from asc.operators.cube.states.stored import Stored

K = 200
"""The default parameter of a sketch. With it, the error of a rank is at most 1.33 % in 99 % of all sketches."""
K_LEAST, K_MOST = 20, 4000
_LEVEL_ITEMS = 8 * 61
"""The most items of all levels that have the least capacity: 61 levels of 8 items."""


class Quantiles(State):
    """A KLL sketch of the values that are not NULL and not NaN, as doubles, each rounded once.

    The state is a sketch of Apache DataSketches, as the library serialises it. A value that occurs n times counts n
    times. A sketch of at most ``k`` values is exact. A larger sketch drops values at random, so that sketches of the
    same values differ. Their answers agree within the error bound, which depends only on ``k``, and not on the number
    of merges.
    """

    storage = pa.binary()
    type = pa.binary()

    def __init__(self, k: int = K) -> None:
        if not K_LEAST <= k <= K_MOST:
            raise CubeError("k", k, f"is out of range: give {K_LEAST} to {K_MOST:,}")
        self.k = k

    def values(self, column: pa.Array) -> Values:
        """Return the values as doubles. NaN counts as NULL, and -0.0 as 0.0."""
        values = doubles(column) + 0.0
        is_nan, nulls = np.isnan(values), nulls_of(column)
        if is_nan.any():
            nulls = frozen(is_nan | nulls if len(nulls) else is_nan)
        return Values(frozen(values), nulls)

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the sketches of the values by cell."""
        assert values is not None
        new_sketch = library().kll_doubles_sketch
        ordered, bounds = sorted_by_cell(values, rows, cells, count)
        states: list[bytes | None] = []
        for start, stop in pairwise(bounds.tolist()):
            if start == stop:
                states.append(None)
                continue
            sketch = new_sketch(self.k)
            sketch.update(ordered[start:stop])
            states.append(sketch.serialize())
        return self._array(states)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the merged sketches by cell. Raise CubeError if a state is damaged, or has another ``k``."""
        self.checked(states)
        read = library().kll_doubles_sketch.deserialize
        order, bounds = numbered_by_cell(cells, count)
        listed = states.to_pylist()
        ordered = [listed[place] for place in order.tolist()]
        merged: list[bytes | None] = []
        for start, stop in pairwise(bounds.tolist()):
            parts = [part for part in ordered[start:stop] if part is not None]
            if len(parts) < 2:
                merged.append(parts[0] if parts else None)
                continue
            sketch = read(parts[0])
            for part in parts[1:]:
                sketch.merge(read(part))
            merged.append(sketch.serialize())
        return self._array(merged)

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the states unchanged, after a check: a question computes quantiles and ranks from them."""
        self.checked(states)
        return states

    def sketches(self, states: pa.Array) -> list[Any]:
        """Return the library's sketch of each state, None for a cell without values. Raise CubeError if a state is
        damaged, or has another ``k``.
        """
        self.checked(states)
        read = library().kll_doubles_sketch.deserialize
        return [None if state is None else read(state) for state in states.to_pylist()]

    def checked(self, states: pa.Array) -> Stored:
        """Return states in the form that kernels read. Raise CubeError if a state is damaged, or has another ``k``."""
        stored = stored_of(states)
        items, item_bytes = self.item_memory()
        state = check(stored, self.k, items, item_bytes)
        if state == OTHER:
            raise CubeError("quantiles with k", self.k, "are merged with another k: merge states of one k")
        if state != SOUND:
            raise CubeError("state", f"quantiles with k {self.k}", "is damaged: restore a copy of the cubes")
        return stored

    def item_memory(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]]:
        """Return memory for the items of one sketch and two more values, as doubles and as bytes."""
        items = np.empty(3 * self.k + _LEVEL_ITEMS + 2, dtype=np.float64)
        return items, items.view(np.uint8)

    @staticmethod
    def _array(states: list[bytes | None]) -> pa.Array:
        check_total(sum(len(state) for state in states if state is not None), "quantile sketches in bytes")
        return pa.array(states, pa.binary())
