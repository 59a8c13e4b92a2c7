"""Panes: the pieces of a cube, by open and closed pane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

_RUN_PANES = 64
"""The panes of a run, at most."""
_RUN_CELLS = 200_000
"""The cells of a run, but where one pane has more."""


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A piece in the store, without its bytes. ``number`` names one content for as long as the store is open."""

    number: int
    pane: int
    cells: int
    size_bytes: int
    crc: int
    is_damaged: bool = False


Pieces = Mapping[int, tuple[StoredPiece, ...]]
"""By pane its pieces, in the order of their commits."""

Run = tuple[tuple[StoredPiece, ...], ...]
"""Some panes after one another, each with its pieces."""


@dataclass(frozen=True)
class ClosedPanes:
    """The closed panes of a cube, which the states of many commits share."""

    panes: Pieces

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Return the closed panes in runs, ascending, without damaged pieces.

        A run ends at a multiple of _RUN_PANES, so that a pane more changes the last one alone: what is kept of the
        others stays.
        """
        found: list[Run] = []
        own: list[tuple[StoredPiece, ...]] = []
        cells = 0
        for pane in sorted(self.panes):
            pieces = sound(self.panes[pane])
            if not pieces:
                continue
            added = sum(piece.cells for piece in pieces)
            if own and (own[0][0].pane // _RUN_PANES != pane // _RUN_PANES or cells + added > _RUN_CELLS):
                found.append(tuple(own))
                own, cells = [], 0
            own.append(pieces)
            cells += added
        return (*found, tuple(own)) if own else tuple(found)


@dataclass(frozen=True, slots=True)
class Panes:
    """The pieces of a cube. Immutable: a commit shares the closed ones with the one before, unless it changes them.

    Invariant: a closed pane has one piece, but after a start with a shorter lateness, until a commit changes it.
    """

    shared: ClosedPanes
    open: Pieces
    cells: int = 0
    size_bytes: int = 0

    @staticmethod
    def of(pieces: Iterable[StoredPiece], open_from: int | None) -> Panes:
        """Return the panes of pieces, which are in the order of their commits.

        ``open_from``: the first pane that is open; None where all are.
        """
        by_pane: dict[int, tuple[StoredPiece, ...]] = {}
        for piece in pieces:
            by_pane[piece.pane] = (*by_pane.get(piece.pane, ()), piece)
        return Panes(ClosedPanes(MappingProxyType({})), MappingProxyType({})).changed(by_pane, open_from)

    @property
    def closed(self) -> Pieces:
        """Return the pieces of the closed panes."""
        return self.shared.panes

    @property
    def runs(self) -> tuple[Run, ...]:
        """Return the closed panes in runs, ascending, without damaged pieces."""
        return self.shared.runs

    @property
    def count(self) -> int:
        """Return the number of panes that have a piece."""
        return len(self.closed) + len(self.open)

    def pane(self, pane: int) -> tuple[StoredPiece, ...]:
        """Return the pieces of a pane."""
        return self.open.get(pane) or self.closed.get(pane, ())

    def pieces(self) -> Iterator[StoredPiece]:
        """Yield all pieces."""
        for own in (self.closed, self.open):
            for several in own.values():
                yield from several

    def changed(self, panes: Pieces, open_from: int | None) -> Panes:
        """Return them with other pieces of some panes, none of which were closed and are open now.

        Cost: that of the open panes, and of the closed ones where one of these changes.
        """
        closed: dict[int, tuple[StoredPiece, ...]] = {}
        opened = dict(self.open)
        cells, size_bytes = self.cells, self.size_bytes
        for pane, pieces in panes.items():
            former = self.pane(pane)
            cells += sum(own.cells for own in pieces) - sum(own.cells for own in former)
            size_bytes += sum(own.size_bytes for own in pieces) - sum(own.size_bytes for own in former)
            opened.pop(pane, None)
            if pieces:
                (closed if open_from is not None and pane < open_from else opened)[pane] = pieces
        shared = ClosedPanes(MappingProxyType({**self.closed, **closed})) if closed else self.shared
        return Panes(shared, MappingProxyType(opened), cells, size_bytes)

    def with_damage(self, pieces: Iterable[StoredPiece]) -> Panes:
        """Return them with some pieces marked as damaged."""
        gone = {piece.number for piece in pieces}
        return self._each(lambda own: tuple(replace(e, is_damaged=True) if e.number in gone else e for e in own))

    def without_damage(self) -> Panes:
        """Return them without the damaged pieces."""
        return self._each(sound)

    def _each(self, change: Callable[[tuple[StoredPiece, ...]], tuple[StoredPiece, ...]]) -> Panes:
        changed = ({pane: change(own) for pane, own in each.items()} for each in (self.closed, self.open))
        closed, opened = (MappingProxyType({pane: own for pane, own in each.items() if own}) for each in changed)
        own = [piece for each in (closed, opened) for pieces in each.values() for piece in pieces]
        return Panes(
            ClosedPanes(closed), opened, sum(piece.cells for piece in own), sum(piece.size_bytes for piece in own)
        )


def sound(pieces: Iterable[StoredPiece]) -> tuple[StoredPiece, ...]:
    """Return the pieces that are not damaged."""
    return tuple(piece for piece in pieces if not piece.is_damaged)
