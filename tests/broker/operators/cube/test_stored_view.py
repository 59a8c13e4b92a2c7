"""Stored views: their pieces and the pane before which they are complete."""

from __future__ import annotations

from asc.operators.cube.view import View
from broker.operators.cube.panes import StoredPiece
from broker.operators.cube.stored_view import StoredView


def test_all_its_pieces_are_of_closed_panes() -> None:
    pieces = [StoredPiece(7, -3, 4, 100, 0), StoredPiece(8, 2, 5, 100, 0)]
    view = StoredView.of(1, View((1,), 24), "pinned", pieces, 3)
    assert (list(view.closed), view.panes.open, view.end) == ([-3, 2], {}, 72)
    assert (view.has(7), view.has(9)) == (True, False)
    later = view.with_pieces({2: (StoredPiece(9, 2, 6, 90, 0),), 5: (StoredPiece(10, 5, 1, 10, 0),)}, 6)
    assert (list(later.closed), later.panes.open, later.panes.cells, later.end) == ([-3, 2, 5], {}, 11, 144)
    assert (later.emptied().panes.count, later.emptied().end) == (0, None)
