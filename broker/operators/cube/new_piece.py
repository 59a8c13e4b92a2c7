"""New pieces, which the transaction of a commit writes to the store."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.cube.cells import Cells
from broker.operators.cube.panes import StoredPiece


@dataclass(frozen=True, slots=True, eq=False)
class NewPiece:
    """A piece to be written: the data of its row (``stored``) and its bytes (``data``).

    ``cells``: its cells, which the next batches may read; None for a piece of a view. ``is_apart``: whether the piece
    contains late records that are stored separately. ``view``: the number of the stored view to which it belongs; 0 for
    a piece of the base cuboid.
    """

    stored: StoredPiece
    data: bytes
    cells: Cells | None = None
    is_apart: bool = False
    view: int = 0
