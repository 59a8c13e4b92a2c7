"""The cells of one step of views, which views share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from asc.operators.cube.cells import Cells, joined
from asc.operators.cube.layout import Layout
from broker.operators.cube import step_cells
from broker.operators.cube.panes import StoredPiece
from broker.operators.cube.step_cells import StepCells
from tests.broker.operators.cube.test_reading import LAYOUT, PIECES, STORED

CELLS = [Cells.of_piece(LAYOUT, piece) for piece in PIECES]


class Reading:
    """A reader of pieces, with the numbers that were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __call__(self, layout: Layout, pieces: Sequence[StoredPiece], *, is_kept: bool) -> list[Cells]:
        assert not is_kept
        self.read += [own.number for own in pieces]
        return [CELLS[own.number] for own in pieces]


def rows(cells: Cells) -> list[tuple[object, ...]]:
    return list(zip(cells.panes.tolist(), *(key.array().to_pylist() for key in cells.keys), strict=True))


def test_views_share_the_cells_of_a_run() -> None:
    reading = Reading()
    step = StepCells(LAYOUT, reading, {1: CELLS[1]}, is_kept=False)
    run = step.run(STORED[:3])
    assert step.run(STORED[:3]) is run
    assert (reading.read, rows(run)) == ([0, 2], rows(joined(LAYOUT, CELLS[:3])))


def test_written_pieces_are_read_from_memory_as_a_run_or_alone() -> None:
    reading = Reading()
    step = StepCells(LAYOUT, reading, {}, is_kept=False)
    whole = joined(LAYOUT, CELLS)
    step.write([own.number for own in STORED], whole)
    assert step.run(STORED) is whole
    assert [rows(own) for own in step.pieces(STORED[1:3])] == [rows(own) for own in CELLS[1:3]]
    assert rows(step.run(STORED[2:])) == rows(joined(LAYOUT, CELLS[2:]))
    assert reading.read == []


def test_the_oldest_runs_are_dropped_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_cells, "_RUNS_CELLS", 2 * CELLS[0].count)
    reading = Reading()
    step = StepCells(LAYOUT, reading, {}, is_kept=False)
    for number in (0, 1, 1, 2, 2, 0):
        step.run([STORED[number]])
    assert reading.read == [0, 1, 2, 0]
    step.run(STORED)
    assert step.run(STORED[3:]).count == CELLS[3].count
