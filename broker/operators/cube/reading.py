"""The reader of pieces: it decodes pieces of the store to cells, with a cache of bounded size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from zlib import crc32

import pyarrow as pa

from asc.operators.cube.answer_memory import Reserve, held, joining_bytes, merging_bytes, unbounded
from asc.operators.cube.cells import Cells, joined, merged
from asc.operators.cube.layout import Layout
from asc.operators.cube.piece import Piece
from broker.errors import DamagedPieceError
from broker.operators.cube.panes import Run, StoredPiece

Numbers = tuple[int, ...]
Read = Callable[[StoredPiece], "bytes | Cells"]
ReadBytes = Callable[[Sequence[int]], dict[int, bytes]]

_PORTION_BYTES = 4 << 20
"""The most bytes of pieces that one SQL statement reads. A concurrent reader so waits for some 2 ms."""
_PORTION_PIECES = 500
"""The most pieces that one SQL statement reads."""


class PieceReader:
    """The reader of pieces, which decodes pieces to cells on first use, and caches the cells. Thread-safe.

    Invariant: the cached cells take at most ``kept_bytes``. The number of a piece is never reused for another content,
    so cached cells are never out of date. Cost: some 60 us for a piece of 1,000 cells that is not cached.
    """

    def __init__(self, kept_bytes: int) -> None:
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[Numbers, tuple[Cells, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0

    def piece(self, layout: Layout, piece: StoredPiece, read: Read, *, is_kept: bool = True) -> Cells:
        """Return the cells of a piece. Raise DamagedPieceError if it is damaged.

        ``read`` returns the bytes of a piece that is in the store, or the cells of a piece that a commit has replaced.
        ``is_kept``: whether the cells are cached.
        """
        kept = self._of((piece.number,))
        if kept is not None:
            return kept
        data = read(piece)
        found = data if isinstance(data, Cells) else _decoded(layout, piece, data)
        if is_kept:
            self.keep((piece.number,), found)
        return found

    def pieces(
        self, layout: Layout, pieces: Sequence[StoredPiece], read: Read, read_all: ReadBytes, *, is_kept: bool
    ) -> list[Cells]:
        """Return the cells of pieces, in their order. Raise DamagedPieceError if a piece is damaged.

        ``read_all`` returns the bytes of pieces by number, without those that are damaged or no longer in the store.
        The omitted pieces are read one by one with ``read``, as in :meth:`piece`. Cost: one SQL statement for each
        _PORTION_BYTES of pieces.
        """
        cells_by_number = {piece.number: cells for piece in pieces if (cells := self._of((piece.number,))) is not None}
        for several in _portions([piece for piece in pieces if piece.number not in cells_by_number]):
            data = read_all([piece.number for piece in several])
            for piece in several:
                own = data.pop(piece.number, None)
                cells = self.piece(layout, piece, read, is_kept=False) if own is None else _decoded(layout, piece, own)
                cells_by_number[piece.number] = cells
                if is_kept:
                    self.keep((piece.number,), cells)
        return [cells_by_number[piece.number] for piece in pieces]

    def run(self, layout: Layout, run: Run, read: Read, reserve: Reserve = unbounded) -> Cells:
        """Return the cells of successive panes. Raise DamagedPieceError if a piece is damaged.

        ``reserve`` is called before the cells are read, with the bytes of memory that they need, and may raise an
        error.
        """
        numbers = tuple(piece.number for pieces in run for piece in pieces)
        cells = self._of(numbers)
        if cells is None:
            with held(reserve, sum(decoded_bytes(layout, piece) for pieces in run for piece in pieces)):
                panes = [self._pane(layout, pieces, read, reserve) for pieces in run]
                with held(reserve, joining_bytes(panes)):
                    cells = joined(layout, panes)
            self.keep(numbers, cells)
        reserve(cells.size_bytes)
        return cells

    def _pane(self, layout: Layout, pieces: Sequence[StoredPiece], read: Read, reserve: Reserve) -> Cells:
        parts = [self.piece(layout, piece, read, is_kept=False) for piece in pieces]
        if len(parts) == 1:
            return parts[0]
        with held(reserve, joining_bytes(parts) + sum(map(merging_bytes, parts))):
            return merged(layout, parts)

    def keep(self, numbers: Numbers, cells: Cells) -> None:
        """Cache the cells of the pieces ``numbers``, and evict the least recently used cells if the cache exceeds its
        capacity. Cells that alone exceed the capacity are not cached.
        """
        size_bytes = cells.size_bytes
        if size_bytes > self._kept_bytes:
            return
        with self._lock:
            former = self._kept.pop(numbers, None)
            self.size_bytes += size_bytes - (0 if former is None else former[1])
            self._kept[numbers] = cells, size_bytes
            while self.size_bytes > self._kept_bytes:
                _, (_, freed_bytes) = self._kept.popitem(last=False)
                self.size_bytes -= freed_bytes

    def forget(self, number: int) -> None:
        """Remove the cells of the piece ``number`` from the cache, because a commit has deleted the piece."""
        with self._lock:
            former = self._kept.pop((number,), None)
            self.size_bytes -= 0 if former is None else former[1]

    def _of(self, numbers: Numbers) -> Cells | None:
        with self._lock:
            kept = self._kept.get(numbers)
            if kept is None:
                return None
            self._kept.move_to_end(numbers)
            return kept[0]


def _portions(pieces: Sequence[StoredPiece]) -> Iterator[list[StoredPiece]]:
    """Yield pieces in lists of at most _PORTION_PIECES pieces and _PORTION_BYTES bytes. A single piece may have more
    bytes.
    """
    portion: list[StoredPiece] = []
    size_bytes = 0
    for piece in pieces:
        if portion and (len(portion) == _PORTION_PIECES or size_bytes + piece.size_bytes > _PORTION_BYTES):
            yield portion
            portion, size_bytes = [], 0
        portion.append(piece)
        size_bytes += piece.size_bytes
    if portion:
        yield portion


def decoded_bytes(layout: Layout, piece: StoredPiece) -> int:
    """Return an upper bound of the memory of a piece's cells: the stored bytes, and for each cell its pane (8 bytes)
    and a code for each dimension (4 bytes).
    """
    return piece.size_bytes + piece.cells * (8 + 4 * len(layout.dimensions))


def _decoded(layout: Layout, piece: StoredPiece, data: bytes) -> Cells:
    if crc32(data) == piece.crc:
        try:
            return Cells.of_piece(layout, Piece.of_bytes(piece.pane, data))
        except (pa.ArrowException, OSError, StopIteration, ValueError):
            pass
    raise DamagedPieceError("piece", piece.number, "is damaged: its cube is parked", number=piece.number)
