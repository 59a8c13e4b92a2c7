"""Merging of the pieces of a cube after a batch, computed before the transaction writes anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from zlib import crc32

from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.layout import Layout
from asc.operators.cube.piece import Piece
from asc.operators.cube.shards import SHARDS_MOST, WHOLE, Shards
from broker.operators.cube.batch_time import BatchTime
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.new_piece import NewPiece
from broker.operators.cube.pane_shards import CUT_CELLS, PaneShards, ShardPiece, cell_count, first_merged
from broker.operators.cube.panes import Panes, StoredPiece, sound
from broker.operators.cube.step_cells import ReadAll
from broker.operators.cube.stored_view import StoredView
from broker.operators.cube.view_folding import ViewFolder

_Held = StoredPiece | Piece


@dataclass(frozen=True, slots=True)
class CubeLimits:
    """The limits of a cube: the cells of one pane, and the bytes and panes of all pieces. A cube that exceeds one of
    these three is parked.

    ``size_bytes`` includes the former cells that windows keep. ``query_s``: the most seconds that an answer may take.
    ``shards``: the most shards of a cube. ``cut_cells``: a pane with more cells is divided into the shards.
    """

    pane_cells: int = 1_000_000
    size_bytes: int = 1 << 30
    panes: int = 250_000
    query_s: float = 10.0
    shards: int = SHARDS_MOST
    cut_cells: int = CUT_CELLS


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The pieces of a cube after a batch. ``panes``: the base pieces. ``added``: the pieces to be written. ``gone``:
    the cells of the pieces to be deleted, by the number of the piece.

    ``apart``: the pieces of late records that are stored separately. ``views``, ``bands``: the stored views and bands.
    ``over``: the limit that the pieces exceed; None if they exceed no limit.
    """

    panes: Panes
    apart: Panes
    views: tuple[StoredView, ...]
    bands: tuple[StoredView, ...]
    added: tuple[NewPiece, ...]
    gone: Mapping[int, Cells]
    over: str | None = None

    @staticmethod
    def unmerged(state: CubeState, open_from: int | None) -> Merged:
        """Return the pieces of a cube without merging any. ``open_from``: the first open pane; None if all panes are
        open.
        """

        def closed(own: Panes) -> Panes:
            ended = {pane: held for pane, held in own.open.items() if open_from is not None and pane < open_from}
            return own.changed(ended, open_from)

        return Merged(closed(state.panes), closed(state.apart), state.views, state.bands, (), MappingProxyType({}))

    def kept_by(self, state: CubeState) -> CubeState:
        """Return ``state`` with the pieces of this result."""
        return replace(state, panes=self.panes, apart=self.apart, views=self.views, bands=self.bands)


@dataclass(slots=True)
class _Written:
    """The pieces that a merge writes and deletes, and the panes that the merge changes. ``shards``: the rules for the
    pieces of large panes.
    """

    shards: PaneShards
    new: list[NewPiece] = field(default_factory=list)
    gone: dict[int, Cells] = field(default_factory=dict)
    panes: set[int] = field(default_factory=set)


class PaneMerger:
    """The rules by which several pieces of a pane become one.

    A closed pane has one piece after the batch. An open pane gets a new piece with each commit that has records in it.
    When it has more than PIECES_MOST pieces, the newest pieces are merged into one; older pieces that are much larger
    stay separate. So each cell is rewritten a logarithmic number of times. Pieces are merged in the order of their
    commits.

    Cost: a batch reads the pieces of the panes that it closes, and the pieces that it merges.
    """

    def __init__(
        self,
        limits: CubeLimits,
        read: Callable[[Layout, StoredPiece], Cells],
        read_all: ReadAll,
        numbers: Iterator[int],
        threads: Executor | None = None,
    ) -> None:
        """Set limits and sources. ``read`` returns the cells of a piece, and ``read_all`` the cells of several pieces.

        ``numbers``: the numbers of new pieces. ``threads``: the threads that merge the pieces of shards; None merges
        them in the calling thread.

        The attribute ``views`` extends the stored views. The attribute ``seconds`` contains the seconds that the merge
        of each shard took, by cube and shard.
        """
        self._limits = limits
        self._read = read
        self._numbers = numbers
        self._threads = threads
        self.views = ViewFolder(read_all, numbers, limits.size_bytes)
        self.seconds: dict[CubeId, dict[int, float]] = {}

    def merge(
        self,
        state: CubeState,
        added: Cells | None,
        batch_time: BatchTime,
        late: Cells | None = None,
        *,
        window_bytes: int = 0,
        is_tight: bool = False,
    ) -> Merged:
        """Return the pieces of a cube after a batch. ``added``: the cells that the batch adds, None if there are none.

        ``late``: the cells of late records that are stored separately. ``window_bytes``: the bytes of former cells of
        the cube's windows after the batch. ``is_tight``: whether the pieces of each pane are merged into one, to save
        bytes.
        """
        layout, open_from = state.layout, batch_time.open_after(state.grain_us)
        if layout is None:
            return Merged.unmerged(state, open_from)
        written = _Written(self._pane_shards())
        begin_s = time.perf_counter()
        # Cells of panes that have moved to a band are added to the band, not to base pieces.
        base = None if added is None else added.between(state.base_from, None)
        panes = self._side(state, state.panes, base, open_from, written, is_tight=is_tight)
        apart = self._side(state, state.apart, late, open_from, written, is_apart=True, is_tight=is_tight)
        after = replace(state, panes=panes, apart=apart)
        if len(state.shards) == 1:
            written.shards.seconds[state.shards.numbers[0]] = time.perf_counter() - begin_s
        self._note(state.id, written.shards.seconds)
        over = None if added is None else self._over(after, written)
        # Exclude the bytes of views, because views are not extended beyond the limit, and do not park the cube.
        size_bytes = after.size_bytes - after.window_bytes - after.view_bytes + window_bytes
        is_wide = size_bytes > self._limits.size_bytes
        if over is None and added is not None and is_wide:
            if not is_tight:
                return self.merge(state, added, batch_time, late, window_bytes=window_bytes, is_tight=True)
            revisions = f", {window_bytes:,} of them for revisions of its windows" if window_bytes else ""
            detail = _limit(state.id.query, "cube_bytes", self._limits.size_bytes, "leave dimensions out")
            over = f"it has {size_bytes:,} bytes{revisions}, and {detail}"
        if over is not None:
            new, gone = tuple(written.new), MappingProxyType(written.gone)
            return Merged(panes, apart, state.views, state.bands, new, gone, over)
        fresh = {new.stored.number: new.cells for new in written.new if not (new.is_apart or new.cells is None)}
        # Extend only views that are already complete. The other views are filled between batches, as this may take
        # long.
        complete_to = batch_time.open_before(state.grain_us)
        views = self.views.after(after, added, open_from, fresh, complete_to=complete_to)
        gone = MappingProxyType({**written.gone, **views.gone})
        return Merged(panes, apart, views.views, views.bands, (*written.new, *views.added), gone)

    def _side(
        self,
        state: CubeState,
        panes: Panes,
        added: Cells | None,
        open_from: int | None,
        written: _Written,
        *,
        is_apart: bool = False,
        is_tight: bool,
    ) -> Panes:
        """Return the panes of one kind of pieces after a batch: with ``is_apart``, of late records that are stored
        separately; otherwise of all other records. Add the changes to ``written``.
        """
        layout = state.layout
        assert layout is not None
        changed: dict[int, tuple[StoredPiece, ...]] = {}
        for pane, held in _touched(panes, layout, added, open_from, is_tight=is_tight).items():
            is_whole = is_tight or (open_from is not None and pane < open_from)
            is_over = sum(map(cell_count, held)) > self._limits.pane_cells
            kept: Sequence[_Held | ShardPiece]
            if written.shards.is_cut(state.shards, held):
                is_one = is_whole or is_over
                kept = written.shards.folded(layout, state.shards, held, written.gone, is_whole=is_one)
            else:
                kept = self._one(layout, held, written.gone, is_whole=is_whole or is_over)
            changed[pane] = self._stored(layout, panes.pane(pane), kept, written.new, is_apart=is_apart)
        written.panes.update(changed)
        return panes.changed(changed, open_from)

    def _over(self, after: CubeState, written: _Written) -> str | None:
        """Return the limit of cells or panes that the pieces of a cube exceed. Return None if they exceed neither."""
        over = None
        for pane in sorted(written.panes):
            cells = sum(own.cells for side in (after.panes, after.apart) for own in sound(side.pane(pane)))
            if cells > self._limits.pane_cells:
                detail = _limit(after.id.query, "cube_cells", self._limits.pane_cells, "leave dimensions out")
                over = f"the pane of {instant_text(pane * after.grain_us)} has {cells:,} cells, and {detail}"
        if over is None and after.pane_count > self._limits.panes:
            detail = _limit(after.id.query, "cube_panes", self._limits.panes, "choose a longer grain")
            over = f"it has {after.pane_count:,} panes, and {detail}"
        return over

    def _one(self, layout: Layout, held: list[_Held], gone: dict[int, Cells], *, is_whole: bool) -> list[_Held]:
        """Return the pieces of a pane. If a merge is due, merge the newest pieces into one, and add the cells of
        replaced pieces to ``gone``. ``is_whole``: whether all pieces are merged.
        """
        start = 0 if is_whole else first_merged(list(map(cell_count, held)))
        if len(held) - start < 2:
            return held
        parts = []
        for own in held[start:]:
            if isinstance(own, StoredPiece):
                gone[own.number] = cells = self._read(layout, own)
            else:
                cells = Cells.of_piece(layout, own)
            parts.append(cells)
        return [*held[:start], *merged(layout, parts).pieces(layout)]

    def _stored(
        self,
        layout: Layout,
        former: tuple[StoredPiece, ...],
        kept: Sequence[_Held | ShardPiece],
        new: list[NewPiece],
        *,
        is_apart: bool,
    ) -> tuple[StoredPiece, ...]:
        """Return the pieces of a pane: first damaged pieces, then the others by their numbers. Add new pieces to
        ``new``. ``former``: the pieces before the merge. ``kept``: the pieces after it, without damaged ones.
        """
        pieces = []
        for held in kept:
            if isinstance(held, StoredPiece):
                pieces.append(held)
                continue
            if isinstance(held, ShardPiece):
                piece, shard, cells, data, crc = held.piece, held.shard, held.cells, held.data, held.crc
            else:
                piece, shard, cells, data = held, WHOLE, Cells.of_piece(layout, held), held.to_bytes()
                crc = crc32(data)
            stored = StoredPiece(next(self._numbers), piece.pane, piece.count, len(data), crc, shard=shard)
            new.append(NewPiece(stored, data, cells, is_apart))
            pieces.append(stored)
        pieces.sort(key=lambda own: own.number)
        return (*(own for own in former if own.is_damaged), *pieces)

    def divided(self, state: CubeState, shards: Shards) -> Merged:
        """Return the pieces of a cube with other shards. In open panes, pieces that belong to none of the shards
        ``shards`` are divided or merged.

        Closed panes keep their pieces until late records change the pane. Raise DamagedPieceError if a piece is
        damaged. Cost: that of the pieces of open panes whose shards have changed.
        """
        after = Merged.unmerged(state, None)
        layout = state.layout
        if layout is None:
            return after
        written = _Written(self._pane_shards())
        sides = []
        for panes, is_apart in ((state.panes, False), (state.apart, True)):
            changed = {}
            for pane, pieces in panes.open.items():
                held = sound(pieces)
                is_cut = written.shards.is_cut(shards, held)
                if is_cut and any(own.shard not in shards.numbers for own in held):
                    kept = written.shards.folded(layout, shards, held, written.gone, is_whole=False)
                    changed[pane] = self._stored(layout, pieces, kept, written.new, is_apart=is_apart)
            sides.append(panes.with_open(changed))
        return replace(after, panes=sides[0], apart=sides[1], added=tuple(written.new), gone=written.gone)

    def _pane_shards(self) -> PaneShards:
        return PaneShards(self._read, cut_cells=self._limits.cut_cells, threads=self._threads)

    def _note(self, cube: CubeId, seconds: Mapping[int, float]) -> None:
        noted = self.seconds.setdefault(cube, {})
        for shard, taken_s in seconds.items():
            noted[shard] = noted.get(shard, 0.0) + taken_s


def _limit(query: str, name: str, most: int, other: str) -> str:
    """Return a text with the limit that a cube exceeds, and the remedy. ``other``: the alternative to raising the
    limit.
    """
    return f"limits.{name} is {most:,}: raise it or {other}, then 'asc query resume {query}'"


def _touched(
    panes: Panes, layout: Layout, added: Cells | None, open_from: int | None, *, is_tight: bool
) -> dict[int, list[_Held]]:
    """Return the panes whose pieces a batch may merge, each with its undamaged pieces and the new piece of the batch.
    They are the panes with new cells, and the panes that the batch closes.
    """
    pieces_by_pane: dict[int, list[_Held]] = {}
    for pane, pieces in panes.open.items():
        if is_tight or (open_from is not None and pane < open_from):
            pieces_by_pane[pane] = list(sound(pieces))
    for piece in () if added is None else added.pieces(layout):
        if piece.pane not in pieces_by_pane:
            pieces_by_pane[piece.pane] = list(sound(panes.pane(piece.pane)))
        pieces_by_pane[piece.pane].append(piece)
    return pieces_by_pane
