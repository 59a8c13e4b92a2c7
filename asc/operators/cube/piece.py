"""Pieces: the cells of one cuboid in one pane, as Arrow batches and as bytes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The cells of one pane, one row for each cell, sorted by key.

    ``pane``: the number k of the pane, for the event time [k grain, (k + 1) grain). ``batch``: the rows, in
    ``Layout.piece_schema_of`` its keys. The dictionary of each key has exactly the values that occur, ascending.

    Invariant: equal cells have equal bytes, except for sums of doubles, which agree within their error bound.
    """

    pane: int
    batch: pa.RecordBatch

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.batch.num_rows)

    def to_bytes(self) -> bytes:
        """Return the batch as an Arrow IPC stream."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.batch.schema) as writer:
            writer.write_batch(self.batch)
        found: bytes = sink.getvalue().to_pybytes()
        return found

    @staticmethod
    def of_bytes(pane: int, data: bytes) -> Piece:
        """Return the piece that :meth:`to_bytes` wrote. Raise ``pa.ArrowInvalid`` if the bytes are damaged."""
        with pa.ipc.open_stream(data) as reader:
            return Piece(pane, reader.read_next_batch())
