"""Values and states in the order of their cells."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.frozen import frozen
from asc.operators.cube.states.by_cell import numbered_by_cell, sorted_by_cell
from asc.operators.cube.states.state import Values

ROWS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40)


@given(rows=ROWS)
def test_values_of_a_cell_stay_in_the_order_of_the_rows(rows: list[tuple[int, bool]]) -> None:
    values = Values(frozen(np.arange(len(rows) + 2.0)), frozen(np.array([True, *(null for _, null in rows), False])))
    cells = frozen(np.array([cell for cell, _ in rows], dtype=np.int32))
    ordered, bounds = sorted_by_cell(values, frozen(np.arange(1, len(rows) + 1)), cells, 4)
    for cell in range(4):
        expected = [place + 1.0 for place, (each, is_null) in enumerate(rows) if each == cell and not is_null]
        assert ordered[bounds[cell] : bounds[cell + 1]].tolist() == expected


@given(cells=st.lists(st.integers(0, 3), max_size=40))
def test_states_of_a_cell_stay_in_order(cells: list[int]) -> None:
    order, bounds = numbered_by_cell(frozen(np.array(cells, dtype=np.int32)), 4)
    for cell in range(4):
        expected = [place for place, each in enumerate(cells) if each == cell]
        assert order[bounds[cell] : bounds[cell + 1]].tolist() == expected
