"""Stored views: the pieces of a cube that are materialised for one view of its lattice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from asc.operators.cube.view import View
from broker.operators.cube.panes import ClosedPanes, Panes, Pieces, StoredPiece

Role = Literal["band", "pinned", "chosen"]
"""The reason why a view is stored: as a band of older panes, by the cube's definition, or by the optimiser's choice."""
ROLES: tuple[Role, ...] = ("pinned", "chosen", "band")


@dataclass(frozen=True, slots=True, eq=False)
class StoredView:
    """A materialised view of a cube.

    ``number``: the number of its row in the store; the rows of its pieces contain this number. ``panes``: the pieces,
    all of closed panes, by the number of the view's pane. ``filled_to``: the pane of the view before which it is
    complete; None if it is not filled yet. ``role``: why it is stored. A ``band`` contains panes that have reached an
    age, in place of finer pieces. A ``pinned`` view is in the field ``materialise`` of the cube's definition. A
    ``chosen`` view was chosen by the optimiser.

    Invariant: below ``filled_to``, its pieces are the kept pieces of the same event time, rolled up. Late records of
    such a pane are merged into the kept pieces and the view in one transaction. Only closed panes are rolled up.
    """

    number: int
    view: View
    role: Role
    panes: Panes
    filled_to: int | None = None

    @staticmethod
    def of(
        number: int, view: View, role: Role, pieces: Iterable[StoredPiece] = (), filled_to: int | None = None
    ) -> StoredView:
        """Return a stored view with the pieces ``pieces``. ``number``: the number of its row. ``role``: the reason why
        the view is stored. ``filled_to``: the pane of the view before which it is complete; None if it is not filled
        yet.
        """
        held = list(pieces)
        end = max((piece.pane for piece in held), default=0) + 1
        return StoredView(number, view, role, Panes.of(held, end), filled_to)

    @property
    def closed(self) -> ClosedPanes:
        """Return the pieces of the view by the number of the view's pane. All panes of a view are closed."""
        return self.panes.closed

    @property
    def end(self) -> int | None:
        """Return the pane of the cube before which the view is complete. Return None if it is not filled yet."""
        return None if self.filled_to is None else self.filled_to * self.view.panes

    def with_pieces(self, pieces: Pieces, filled_to: int | None) -> StoredView:
        """Return the view after a change. ``pieces``: the changed panes, each with all its pieces."""
        end = max(pieces, default=0) + 1
        return replace(self, panes=self.panes.changed(pieces, end), filled_to=filled_to)

    def without_damage(self) -> StoredView:
        """Return the view without damaged pieces."""
        sound = [piece for piece in self.panes.pieces() if not piece.is_damaged]
        if sum(piece.cells for piece in sound) == self.panes.cells:
            return self
        return StoredView.of(self.number, self.view, self.role, sound, self.filled_to)

    def kept_from(self, pane: int) -> StoredView:
        """Return the view without its panes that begin before the pane ``pane`` of the cube."""
        first = -(-pane // self.view.panes)
        following = self.closed.first
        return self if following is None or following >= first else replace(self, panes=self.panes.kept_from(first))

    def emptied(self) -> StoredView:
        """Return the view without pieces, marked as not filled yet, so that it is filled again."""
        return replace(self, panes=Panes.none(), filled_to=None)

    def has(self, piece: int) -> bool:
        """Return whether a piece belongs to the view. Cost: a pass over its pieces."""
        return any(own.number == piece for own in self.panes.pieces())
