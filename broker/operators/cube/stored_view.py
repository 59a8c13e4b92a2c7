"""Stored views: the pieces of a cube that are materialised for one view of its lattice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from asc.operators.cube.view import View
from broker.operators.cube.panes import ClosedPanes, Panes, Pieces, StoredPiece


@dataclass(frozen=True, slots=True, eq=False)
class StoredView:
    """A materialised view of a cube.

    ``number``: its row in the store, which its pieces name. ``panes``: the pieces, all of closed panes, by the number
    of the view's own pane. ``filled_to``: the pane of the view before which it is complete; None if it is not
    filled yet. ``is_pinned``: whether the definition of the cube asks for it; otherwise the optimiser has chosen it.

    Invariant: below ``filled_to``, its pieces are the base pieces of the same event time, rolled up. Records that join
    an older pane are merged into both in one transaction. Only closed base panes are rolled up.
    """

    number: int
    view: View
    is_pinned: bool
    panes: Panes
    filled_to: int | None = None

    @staticmethod
    def of(
        number: int, view: View, is_pinned: bool, pieces: Iterable[StoredPiece] = (), filled_to: int | None = None
    ) -> StoredView:
        """Return a view with its pieces."""
        held = list(pieces)
        end = max((piece.pane for piece in held), default=0) + 1
        return StoredView(number, view, is_pinned, Panes.of(held, end), filled_to)

    @property
    def closed(self) -> ClosedPanes:
        """Return the pieces by pane."""
        return self.panes.closed

    @property
    def end(self) -> int | None:
        """Return the pane of the cube before which the view is complete. Return None if it is not filled yet."""
        return None if self.filled_to is None else self.filled_to * self.view.panes

    def with_pieces(self, pieces: Pieces, filled_to: int | None) -> StoredView:
        """Return the view after a change. ``pieces``: the changed panes, each with all its pieces."""
        end = max(pieces, default=0) + 1
        return replace(self, panes=self.panes.changed(pieces, end), filled_to=filled_to)

    def emptied(self) -> StoredView:
        """Return the view without pieces, not filled yet."""
        return replace(self, panes=Panes.none(), filled_to=None)

    def has(self, piece: int) -> bool:
        """Return whether a piece belongs to the view. Cost: a pass over its pieces."""
        return any(own.number == piece for own in self.panes.pieces())
