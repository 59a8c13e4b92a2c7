"""Cells, merged and rolled up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.schema import Schema

SCHEMA = Schema.from_ddl("s STRING, k INT, ts TIMESTAMP")
PLAIN = {"dimensions": [["s"], ["k"]], "measures": ["count(*) AS n"], "time": "ts", "grain_s": 1}
LAYOUT = Layout.of(CubeDefinition.parse(PLAIN), SCHEMA)
Row = tuple[int, str | None, int]


def cells(rows: list[Row]) -> Cells:
    given = [{"s": s, "k": k, "ts": second * 1_000_000} for second, s, k in rows]
    return folded(LAYOUT, Columns(pa.Table.from_pylist(given, SCHEMA.arrow), SCHEMA, "UTC")).cells


def listed(found: Cells) -> list[tuple[object, ...]]:
    keys = [key.array().to_pylist() for key in found.keys]
    return list(zip(found.panes.tolist(), *keys, found.states[0].to_pylist(), strict=True))


ONE = cells([(0, "b", 1), (1, "a", 1), (1, "c", 2)])
OTHER = cells([(0, "a", 1), (1, "c", 2), (2, None, 1)])


def test_merged_cells_are_those_of_all_records() -> None:
    expected = [(0, "a", 1, 1), (0, "b", 1, 1), (1, "a", 1, 1), (1, "c", 2, 2), (2, None, 1, 1)]
    assert listed(merged(LAYOUT, [ONE, OTHER])) == listed(merged(LAYOUT, [OTHER, ONE])) == expected
    assert merged(LAYOUT, [ONE, OTHER]).different_panes().tolist() == [0, 1, 2]


def test_panes_become_one() -> None:
    assert listed(merged(LAYOUT, [ONE, OTHER], by_pane=False)) == [
        *((0, None, 1, 1), (0, "a", 1, 2), (0, "b", 1, 1), (0, "c", 2, 2)),
    ]


def test_keys_are_rolled_up() -> None:
    found = merged(LAYOUT, [ONE.rolled_up([1]), OTHER.rolled_up([1])], by_pane=False)
    assert listed(found) == [(0, 1, 4), (0, 2, 2)]
    assert listed(merged(LAYOUT, [ONE.rolled_up([])], by_pane=False)) == [(0, 3)]


def test_nothing_merges_to_nothing() -> None:
    nothing = Cells.none(LAYOUT)
    assert merged(LAYOUT, [nothing, nothing]).count == 0
    assert listed(merged(LAYOUT, [nothing, ONE])) == listed(ONE)
    assert (nothing.different_panes().tolist(), list(nothing.pieces(LAYOUT))) == ([], [])


@pytest.mark.parametrize("cells_a_pane", [1, 100])
def test_panes_with_a_cell_are_those_of_all_cells(cells_a_pane: int) -> None:
    panes = [-7, -6, -3, 0, 1, 40]
    found = cells([(pane, "a", number) for pane in panes for number in range(cells_a_pane)])
    assert found.different_panes().tolist() == panes


def test_cells_between_panes() -> None:
    assert listed(ONE.between(1, None)) == [(1, "a", 1, 1), (1, "c", 2, 1)]
    assert listed(ONE.between(None, 1)) == [(0, "b", 1, 1)]
    assert ONE.between(None, None) is ONE
    assert ONE.between(2, 9).count == ONE.between(3, 1).count == 0


def test_a_piece_has_the_values_of_its_pane_alone() -> None:
    pieces = {piece.pane: piece for piece in merged(LAYOUT, [ONE, OTHER]).pieces(LAYOUT)}
    assert list(pieces) == [0, 1, 2]
    assert pieces[1].batch["d0"].dictionary.to_pylist() == ["a", "c"]
    assert pieces[2].batch["d0"].dictionary.to_pylist() == []
    back = merged(LAYOUT, [Cells.of_piece(LAYOUT, piece) for piece in pieces.values()])
    assert listed(back) == listed(merged(LAYOUT, [ONE, OTHER]))


def test_panes_that_are_far_apart() -> None:
    far = cells([(2**31, "a", 1), (-(2**31), "a", 1), (2**31, "a", 1)])
    assert listed(far) == [(-(2**31), "a", 1, 1), (2**31, "a", 1, 2)]
    assert listed(far.take(np.array([1]))) == [(2**31, "a", 1, 2)]


def test_a_piece_has_the_bytes_that_its_pane_alone_would_have() -> None:
    alone = cells([(0, "b", 1)])
    together = cells([(0, "b", 1), (1, "a", 1), (1, "c", 2)])
    first, _ = together.pieces(LAYOUT)
    assert [piece.to_bytes() for piece in alone.pieces(LAYOUT)] == [first.to_bytes()]


WIDE_SCHEMA = Schema.from_ddl("s STRING, k INT, ts TIMESTAMP, v INT, w DOUBLE, b BOOLEAN, c STRING")
WIDE_PLAIN = {
    "dimensions": [["s"], ["k"]],
    "measures": [
        "count(*) AS n",
        "sum(v) AS t",
        "min(v) AS l",
        "max(w) AS m",
        "sum(w) AS d",
        "min(c) AS c",
        "max(b) AS b",
    ],
    "time": "ts",
    "grain_s": 1,
}
WIDE = Layout.of(CubeDefinition.parse(WIDE_PLAIN), WIDE_SCHEMA)
ROWS = st.fixed_dictionaries(
    {
        "ts": st.integers(-3, 6).map(lambda second: second * 1_000_000),
        "s": st.sampled_from(["a", "b", "日", None]),
        "k": st.integers(0, 2) | st.none(),
        "v": st.integers(-9, 9) | st.none(),
        "w": st.sampled_from([0.5, -1.0]) | st.none(),
        "b": st.booleans() | st.none(),
        "c": st.sampled_from(["x", "yy", None]),
    }
)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROWS, max_size=30), kept=st.sampled_from([(0, 1), (0,), (1,), ()]), first=st.integers(-3, 6))
def test_pieces_of_many_panes_have_the_bytes_of_each_pane_alone(
    rows: list[dict[str, object]], kept: tuple[int, ...], first: int
) -> None:
    records = pa.Table.from_pylist(rows, WIDE_SCHEMA.arrow)
    base = folded(WIDE, Columns(records, WIDE_SCHEMA, "UTC")).cells
    # Cells of a slice, whose dictionaries have values that do not occur.
    found = merged(WIDE, [base.rolled_up(kept)]).between(first, None)
    alone = [found.take(np.arange(start, stop)) for start, stop in pairwise(found.bounds)]
    wanted = [(piece.pane, piece.to_bytes()) for own in alone for piece in own.pieces(WIDE)]
    assert [(piece.pane, piece.to_bytes()) for piece in found.pieces(WIDE)] == wanted
