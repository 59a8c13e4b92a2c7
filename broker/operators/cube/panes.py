"""Panes: the pieces of a cube by pane, in separate structures for open and for closed panes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby, islice
from types import MappingProxyType

from asc.operators.cube.shards import WHOLE

_RUN_PANES = 64
"""The most panes of a run: of successive panes whose pieces are read together."""
_RUN_CELLS = 200_000
"""The most cells of a run, unless one pane has more."""
_LEAF_PANES = 512
"""The intended number of panes of a leaf: a part of the closed panes. A leaf may have the panes of one more run,
because two leaves never share a run. A change of a pane copies the leaf of the pane.
"""


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A piece in the store, without its bytes. ``number`` identifies one content as long as the store is open.
    ``cells``: the number of its cells. ``crc``: the CRC32 of its bytes.

    ``shard``: the shard to which all its cells belong. Pieces of a pane whose shards do not overlap have no cell in
    common.
    """

    number: int
    pane: int
    cells: int
    size_bytes: int
    crc: int
    is_damaged: bool = False
    shard: int = WHOLE


Pieces = Mapping[int, tuple[StoredPiece, ...]]
"""The pieces of each pane, by pane number, in the order of their commits."""

Run = tuple[tuple[StoredPiece, ...], ...]
"""Successive panes, each with its pieces."""


@dataclass(frozen=True)
class _Leaf:
    """A part of the closed panes, in ascending order. Panes with equal ``number // _RUN_PANES`` are in the same
    leaf.
    """

    panes: Pieces

    @cached_property
    def first(self) -> int:
        """Return the first pane of the leaf."""
        return next(iter(self.panes))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Return the panes of the leaf in runs, ascending, without damaged pieces."""
        runs: list[Run] = []
        run: list[tuple[StoredPiece, ...]] = []
        cells = 0
        for pane, held in self.panes.items():
            pieces = sound(held)
            if not pieces:
                continue
            added = sum(piece.cells for piece in pieces)
            if run and (_block(run[0][0].pane) != _block(pane) or cells + added > _RUN_CELLS):
                runs.append(tuple(run))
                run, cells = [], 0
            run.append(pieces)
            cells += added
        return (*runs, tuple(run)) if run else tuple(runs)

    @cached_property
    def sums(self) -> tuple[list[int], list[int]]:
        """Return the panes of the leaf, and the prefix sums of the cells of undamaged pieces: the sum before each pane,
        and at last the sum of all panes.
        """
        cells = [
            pieces[0].cells if len(pieces) == 1 and not pieces[0].is_damaged else _sound_cells(pieces)
            for pieces in self.panes.values()
        ]
        return list(self.panes), list(accumulate(cells, initial=0))

    @cached_property
    def sound_panes(self) -> tuple[int, ...]:
        """Return the panes of the leaf that have an undamaged piece."""
        return tuple(pane for pane, pieces in self.panes.items() if not all(piece.is_damaged for piece in pieces))


@dataclass(frozen=True, eq=False)
class ClosedPanes(Mapping[int, "tuple[StoredPiece, ...]"]):
    """The closed panes of a cube by number, ascending. They are stored in leaves, which the states of successive
    commits share.

    A run of panes ends at a multiple of _RUN_PANES. So a new pane changes only the last run, and readers continue to
    use the other runs. Cost of a change: proportional to the sizes of the leaves in which panes change, plus the number
    of the other leaves. ``blocks``: for searches, ``number // _RUN_PANES`` of the first pane of each leaf.
    """

    leaves: tuple[_Leaf, ...] = ()
    blocks: tuple[int, ...] = ()
    count: int = 0

    @staticmethod
    def _of(leaves: Iterable[_Leaf], count: int) -> ClosedPanes:
        kept = tuple(leaves)
        return ClosedPanes(kept, tuple(_block(leaf.first) for leaf in kept), count)

    def __getitem__(self, pane: int) -> tuple[StoredPiece, ...]:
        if not self.leaves:
            raise KeyError(pane)
        return self.leaves[self._place(pane)].panes[pane]

    def __iter__(self) -> Iterator[int]:
        for leaf in self.leaves:
            yield from leaf.panes

    def __len__(self) -> int:
        return self.count

    def changed(self, panes: Pieces) -> ClosedPanes:
        """Return the closed panes after a change. ``panes``: the changed and the additional panes, with all their
        pieces.
        """
        if not panes:
            return self
        leaves: list[tuple[_Leaf, ...]] = [(leaf,) for leaf in self.leaves] or [()]
        count = self.count
        for place, several in groupby(sorted(panes), self._place):
            own = {pane: panes[pane] for pane in several}
            former: Pieces = self.leaves[place].panes if self.leaves else {}
            both = {**former, **own}
            added = len(both) - len(former)
            leaves[place] = _leaves({pane: both[pane] for pane in sorted(both)} if added else both)
            count += added
        return ClosedPanes._of((leaf for several in leaves for leaf in several), count)

    @property
    def first(self) -> int | None:
        """Return the number of the oldest closed pane. Return None if no pane is closed."""
        return self.leaves[0].first if self.leaves else None

    @property
    def newest(self) -> tuple[StoredPiece, ...]:
        """Return the pieces of the newest closed pane. Return an empty tuple if no pane is closed."""
        return list(self.leaves[-1].panes.values())[-1] if self.leaves else ()

    def kept_from(self, pane: int) -> ClosedPanes:
        """Return the closed panes without those before the pane number ``pane``. Cost: proportional to the size of a
        leaf.
        """
        if not self.leaves:
            return self
        place = self._place(pane)
        kept = {each: own for each, own in self.leaves[place].panes.items() if each >= pane}
        leaves = (*(_leaves(kept) if kept else ()), *self.leaves[place + 1 :])
        return ClosedPanes._of(leaves, sum(len(leaf.panes) for leaf in leaves))

    def runs(self, first: int | None = None, end: int | None = None) -> Iterator[Run]:
        """Yield the runs that overlap the panes from ``first`` to before ``end``, ascending. None means no bound."""
        for leaf in islice(self.leaves, 0 if first is None else self._place(first), None):
            if end is not None and end <= leaf.first:
                return
            for run in leaf.runs:
                if (end is None or run[0][0].pane < end) and (first is None or first <= run[-1][0].pane):
                    yield run

    def cells(self, first: int, end: int) -> int:
        """Return the number of cells of undamaged pieces in the panes from ``first`` to before ``end``.

        Cost: two searches. The first call after a change also sums up the leaves that changed.
        """
        return self._cells_before(end) - self._cells_before(first) if first < end else 0

    def _cells_before(self, pane: int) -> int:
        if not self.leaves:
            return 0
        place = self._place(pane)
        panes, sums = self.leaves[place].sums
        return self.sums[place] + sums[bisect_left(panes, pane)]

    def following(self, pane: int | None) -> int | None:
        """Return the first pane from ``pane`` on that has an undamaged piece. Return None if there is none.

        If ``pane`` is None, the search begins at the first pane.
        """
        for leaf in islice(self.leaves, 0 if pane is None else self._place(pane), None):
            found = 0 if pane is None else bisect_left(leaf.sound_panes, pane)
            if found < len(leaf.sound_panes):
                return leaf.sound_panes[found]
        return None

    @cached_property
    def sums(self) -> list[int]:
        """Return the prefix sums of cells by leaf: the number of cells in all leaves before each leaf."""
        return list(accumulate((leaf.sums[1][-1] for leaf in self.leaves), initial=0))

    def _place(self, pane: int) -> int:
        """Return the index of the leaf that contains the pane ``pane``, or into which this pane would be inserted."""
        return max(0, bisect_right(self.blocks, _block(pane)) - 1)


def _block(pane: int) -> int:
    return pane // _RUN_PANES


def _leaves(panes: Pieces) -> tuple[_Leaf, ...]:
    """Return ascending panes as leaves of similar size."""
    wanted = -(-len(panes) // -(-len(panes) // _LEAF_PANES))
    found: list[dict[int, tuple[StoredPiece, ...]]] = [{}]
    last = None
    for pane, pieces in panes.items():
        if len(found[-1]) >= wanted and _block(pane) != last:
            found.append({})
        found[-1][pane] = pieces
        last = _block(pane)
    return tuple(_Leaf(MappingProxyType(own)) for own in found)


@dataclass(frozen=True, slots=True)
class Panes:
    """The pieces of a cube. Immutable: a commit shares the closed panes with the previous commit, unless it changes
    them.

    Invariant: a closed pane has one piece, or one piece of each shard. After a start with a shorter lateness, or if its
    pieces could not be merged, it may have more until a commit changes it.
    """

    closed: ClosedPanes
    open: Pieces
    cells: int = 0
    size_bytes: int = 0

    @staticmethod
    def none() -> Panes:
        """Return an empty set of panes."""
        return Panes(ClosedPanes(), MappingProxyType({}))

    @staticmethod
    def of(pieces: Iterable[StoredPiece], open_from: int | None) -> Panes:
        """Return the panes of the pieces ``pieces``, which are in the order of their commits.

        ``open_from``: the first open pane; None if all panes are open.
        """
        by_pane: dict[int, tuple[StoredPiece, ...]] = {}
        for piece in pieces:
            by_pane[piece.pane] = (*by_pane.get(piece.pane, ()), piece)
        return Panes.none().changed(by_pane, open_from)

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
        """Return the panes after a change. ``panes``: the changed and the additional panes, with all their pieces. No
        pane that was closed may become open.

        Cost: proportional to the open panes, and to the leaves of the changed closed panes.
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
        return Panes(self.closed.changed(closed), MappingProxyType(opened), cells, size_bytes)

    def with_open(self, panes: Pieces) -> Panes:
        """Return the panes after a change of open panes. ``panes``: the changed panes, with all their pieces."""
        # With None, all of these panes remain open.
        return self.changed(panes, None) if panes else self

    def kept_from(self, pane: int) -> Panes:
        """Return the open and closed panes without those before the pane number ``pane``."""
        closed = self.closed.kept_from(pane)
        opened = MappingProxyType({each: own for each, own in self.open.items() if each >= pane})
        cells, size_bytes = self.cells, self.size_bytes
        for own in self.before(pane):
            cells -= own.cells
            size_bytes -= own.size_bytes
        return Panes(closed, opened, cells, size_bytes)

    def before(self, pane: int) -> Iterator[StoredPiece]:
        """Yield the pieces of the panes before ``pane``."""
        for held in (self.closed, self.open):
            for each, pieces in held.items():
                if each < pane:
                    yield from pieces
                elif held is self.closed:
                    break

    def with_damage(self, pieces: Iterable[StoredPiece]) -> Panes:
        """Return the panes with some pieces marked as damaged."""
        gone = {piece.number for piece in pieces}
        return self._each(lambda own: tuple(replace(e, is_damaged=True) if e.number in gone else e for e in own))

    def without_damage(self) -> Panes:
        """Return the panes without the damaged pieces."""
        return self._each(sound)

    def _each(self, change: Callable[[tuple[StoredPiece, ...]], tuple[StoredPiece, ...]]) -> Panes:
        changed = ({pane: change(own) for pane, own in each.items()} for each in (self.closed, self.open))
        closed, opened = (MappingProxyType({pane: own for pane, own in each.items() if own}) for each in changed)
        own = [piece for each in (closed, opened) for pieces in each.values() for piece in pieces]
        cells, size_bytes = sum(piece.cells for piece in own), sum(piece.size_bytes for piece in own)
        return Panes(ClosedPanes().changed(closed), opened, cells, size_bytes)


def _sound_cells(pieces: Iterable[StoredPiece]) -> int:
    return sum(piece.cells for piece in pieces if not piece.is_damaged)


def sound(pieces: tuple[StoredPiece, ...]) -> tuple[StoredPiece, ...]:
    """Return the pieces that are not damaged."""
    if len(pieces) == 1 and not pieces[0].is_damaged:
        return pieces
    return tuple(piece for piece in pieces if not piece.is_damaged)
