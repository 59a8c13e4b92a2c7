"""The pieces of large panes, which are divided into shards, and the merging of these pieces after a batch, in
threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import numpy.typing as npt

from asc.operators.cube.cell_places import places_of
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.layout import Layout
from asc.operators.cube.piece import Piece
from asc.operators.cube.shards import WHOLE, Shards
from broker.operators.cube.panes import StoredPiece

PIECES_MOST = 32
"""The most pieces of an open pane. If a batch adds one more, the last pieces are merged into one."""
_PIECES_LEAST = 8
"""The most pieces of one shard of an open pane, if there are many shards."""
_WIDER = 2
"""A piece is not merged yet if it has more than this many times the cells of all later pieces of its pane."""

CUT_CELLS = 50_000
"""A pane with more cells is divided into the shards of its cube. A smaller pane is not divided, because each additional
piece takes some 0.1 ms to write.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ShardPiece:
    """A piece of one shard that is to be written. ``cells``: the cells of the piece. ``data``: its bytes. ``crc``: the
    CRC32 of ``data``.
    """

    shard: int
    piece: Piece
    cells: Cells
    data: bytes
    crc: int


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some rows of cells, by index. A thread copies these rows to a new piece."""

    cells: Cells
    rows: npt.NDArray[np.int64]


@dataclass(slots=True)
class _Shard:
    """The pieces of a shard in a pane, and the rows that become pieces of the shard, in the order of their commits.

    ``is_cut``: whether some rows come from a stored piece that also has cells of other shards.
    """

    parts: list[StoredPiece | _Rows] = field(default_factory=list)
    is_cut: bool = False

    def start(self, most: int, *, is_whole: bool) -> int:
        """Return the index of the first part that is merged or newly written, as all parts after it are. Return the
        number of parts if no part is. ``most``: the pieces up to which no stored piece is merged.
        """
        count = len(self.parts)
        is_new = count > 0 and isinstance(self.parts[-1], _Rows)
        if is_whole or self.is_cut:
            return 0 if count > 1 or is_new else count
        sizes = [own.cells if isinstance(own, StoredPiece) else len(own.rows) for own in self.parts]
        return min(first_merged(sizes, most), count - is_new)


class PaneShards:
    """The rules by which the pieces of a large pane are divided into the shards of their cube.

    A pane is cut when it has more than ``cut_cells`` cells. Then each shard has separate pieces, which are merged by
    the same rules as those of a pane. If the shards of the cube change, older pieces are divided when their pane
    changes. No answer depends on the shard of a piece. The shard only shows which pieces have no cell in common.

    Cost: a batch reads and writes the pieces of the shards that it changes, each shard in a thread.
    """

    def __init__(
        self,
        read: Callable[[Layout, StoredPiece], Cells],
        *,
        cut_cells: int = CUT_CELLS,
        threads: Executor | None = None,
    ) -> None:
        """Set the source of cells. ``read`` returns the cells of a piece. ``threads``: the threads in which the pieces
        of shards are merged; None merges them in the calling thread.

        The attribute ``seconds`` contains the seconds that the merge of each shard took.
        """
        self._read = read
        self._cut_cells = cut_cells
        self._threads = threads
        self.seconds: dict[int, float] = {}

    def is_cut(self, shards: Shards, held: Sequence[StoredPiece | Piece]) -> bool:
        """Return whether a pane is cut into shards. ``held``: its pieces, and the new piece of a batch."""
        if any(isinstance(own, StoredPiece) and own.shard != WHOLE for own in held):
            return True
        return len(shards) > 1 and sum(map(cell_count, held)) > self._cut_cells

    def folded(
        self,
        layout: Layout,
        shards: Shards,
        held: Sequence[StoredPiece | Piece],
        gone: dict[int, Cells],
        *,
        is_whole: bool,
    ) -> list[StoredPiece | ShardPiece]:
        """Return the pieces of a cut pane. Add the cells of stored pieces that are replaced to ``gone``.

        ``held``: the stored pieces, and the new piece of a batch. ``is_whole``: whether all pieces of a shard are
        merged.
        """
        by_shard = {number: _Shard() for number in shards.numbers}
        for piece in held:
            if isinstance(piece, StoredPiece) and piece.shard in by_shard:
                by_shard[piece.shard].parts.append(piece)
                continue
            is_stored = isinstance(piece, StoredPiece)
            if isinstance(piece, StoredPiece):
                gone[piece.number] = cells = self._read(layout, piece)
            else:
                cells = Cells.of_piece(layout, piece)
            for number, rows in shards.divided(places_of(cells)):
                by_shard[number].parts.append(_Rows(cells, rows))
                by_shard[number].is_cut |= is_stored
        most = max(_PIECES_LEAST, PIECES_MOST // len(shards))
        kept: list[StoredPiece | ShardPiece] = []
        work: list[tuple[int, Sequence[StoredPiece | _Rows]]] = []
        for number, shard in by_shard.items():
            start = shard.start(most, is_whole=is_whole)
            # All parts before the start are stored pieces.
            kept += [own for own in shard.parts[:start] if isinstance(own, StoredPiece)]
            if start < len(shard.parts):
                work.append((number, shard.parts[start:]))
        for new, replaced, taken_s in self._all(layout, work):
            kept.append(new)
            gone.update(replaced)
            self.seconds[new.shard] = self.seconds.get(new.shard, 0.0) + taken_s
        return kept

    def _all(
        self, layout: Layout, work: Sequence[tuple[int, Sequence[StoredPiece | _Rows]]]
    ) -> list[tuple[ShardPiece, Mapping[int, Cells], float]]:
        if self._threads is None or len(work) < 2:
            return [self._one(layout, *each) for each in work]
        return list(self._threads.map(lambda each: self._one(layout, *each), work))

    def _one(
        self, layout: Layout, shard: int, parts: Sequence[StoredPiece | _Rows]
    ) -> tuple[ShardPiece, Mapping[int, Cells], float]:
        """Return the parts of a shard as one piece, the cells of the stored pieces that the new piece replaces, and the
        seconds that this took.
        """
        begin_s = time.perf_counter()
        replaced: dict[int, Cells] = {}
        merging = []
        for part in parts:
            if isinstance(part, StoredPiece):
                replaced[part.number] = cells = self._read(layout, part)
            else:
                cells = part.cells.take(part.rows)
            merging.append(cells)
        (piece,) = (merged(layout, merging) if len(merging) > 1 else merging[0]).pieces(layout)
        data = piece.to_bytes()
        new = ShardPiece(shard, piece, Cells.of_piece(layout, piece), data, crc32(data))
        return new, replaced, time.perf_counter() - begin_s


def first_merged(sizes: Sequence[int], most: int = PIECES_MOST) -> int:
    """Return the index of the first piece of an open pane that is merged with all later pieces. Return the number of
    pieces if none is merged. ``sizes``: the cells of each piece. ``most``: the number of pieces up to which none is
    merged.
    """
    if len(sizes) <= most:
        return len(sizes)
    start = len(sizes) - 1
    later = sizes[start]
    while start and sizes[start - 1] <= _WIDER * later:
        start -= 1
        later += sizes[start]
    # Merge at least half of the pieces, whatever their sizes.
    return min(start, most // 2)


def cell_count(own: StoredPiece | Piece) -> int:
    """Return the number of cells of a piece."""
    return own.cells if isinstance(own, StoredPiece) else own.count
