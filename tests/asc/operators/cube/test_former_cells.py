"""Former cells: those of a batch as they were before it, and their bytes."""

from __future__ import annotations

import pyarrow as pa

from asc.operators.cube.cells import Cells
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.former_cells import FormerCells

DEFINITION = CubeDefinition.parse({"dimensions": [["a"]], "measures": ["sum(x) AS s"], "time": "t", "grain_s": 60})
SCHEMA = "a STRING, x BIGINT, t TIMESTAMP"
LAYOUT = Cube(DEFINITION, SCHEMA).layout


def cells_of(*rows: tuple[str | None, int, int]) -> Cells:
    """Return the cells of records of a group, a value and a minute."""
    cube = Cube(DEFINITION, SCHEMA)
    names, values, minutes = zip(*rows, strict=True)
    times = pa.array([60_000_000 * own for own in minutes], pa.timestamp("us", "UTC"))
    cube.fold(pa.table({"a": pa.array(names, pa.string()), "x": pa.array(values, pa.int64()), "t": times}))
    return cube.cells


def rows_of(cells: Cells) -> list[tuple[int, str | None, int]]:
    (sums,) = (own.of(cells.states) for own in LAYOUT.measures)
    return list(zip(cells.panes.tolist(), cells.keys[0].array().to_pylist(), map(int, sums.to_pylist()), strict=True))


def test_cells_of_a_batch_are_told_as_they_were_and_new_ones_as_new() -> None:
    before = cells_of(("p", 1, 0), ("q", 2, 0), (None, 3, 1), ("p", 4, 2))
    late = cells_of(("q", 10, 0), ("r", 10, 0), (None, 10, 1), ("p", 10, 1))
    own = FormerCells.of_bytes(LAYOUT, FormerCells.of(LAYOUT, late, before).to_bytes(LAYOUT))
    assert rows_of(own.cells) == [(0, "q", 2), (1, None, 3)]
    assert [each[:2] for each in rows_of(own.new)] == [(0, "r"), (1, "p")]
    part = own.between(1, 2)
    assert (rows_of(part.cells), [each[:2] for each in rows_of(part.new)]) == ([(1, None, 3)], [(1, "p")])


def test_where_nothing_was_before_everything_is_new() -> None:
    late = cells_of(("q", 10, 0))
    own = FormerCells.of(LAYOUT, late, Cells.none(LAYOUT))
    assert (own.cells.count, rows_of(own.new)) == (0, [(0, "q", 10)])
    again = FormerCells.of_bytes(LAYOUT, own.to_bytes(LAYOUT))
    assert (again.cells.count, again.new.count) == (0, 1)
