"""Pieces: the cells of one cuboid in one pane, as Arrow batches and as serialised bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""The bytes at the end of an Arrow IPC stream."""


class PieceHead:
    """The bytes with which the Arrow streams of pieces with equal dictionaries begin: the schema and the dictionaries.

    To encode a piece whose head is already known takes a quarter of the time, because only its rows are encoded.
    """

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data: bytes | None = None

    def encoded(self, batch: pa.RecordBatch) -> bytes:
        """Return a batch as an Arrow IPC stream. All batches of one head have the same schema and dictionaries."""
        if self._data is not None:
            return b"".join((self._data, batch.serialize(), _END))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        whole: bytes = sink.getvalue().to_pybytes()
        self._data = whole[: len(whole) - len(_END) - pa.ipc.get_record_batch_size(batch)]
        return whole


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The cells of one pane, one row for each cell, sorted by key.

    ``pane``: the number k of the pane, which is the event time from k * grain to before (k + 1) * grain. ``batch``: the
    rows; the schema is ``Layout.piece_schema_of`` the types of the keys. The dictionary of each key contains exactly
    the values that occur, ascending. ``head``: pieces with the same dictionaries share it.

    Invariant: equal cells have equal bytes, except for sums of doubles, which agree within their error bound.
    """

    pane: int
    batch: pa.RecordBatch
    head: PieceHead = field(default_factory=PieceHead)

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.batch.num_rows)

    def to_bytes(self) -> bytes:
        """Return the batch as an Arrow IPC stream."""
        return self.head.encoded(self.batch)

    @staticmethod
    def of_bytes(pane: int, data: bytes) -> Piece:
        """Return the piece that :meth:`to_bytes` wrote. Raise ``pa.ArrowInvalid`` if the bytes are damaged."""
        with pa.ipc.open_stream(data) as reader:
            return Piece(pane, reader.read_next_batch())
