"""Cells of pieces, and the memory of them."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import pytest

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout
from asc.operators.cube.piece import Piece
from broker.errors import DamagedPieceError
from broker.operators.cube import reading
from broker.operators.cube.panes import StoredPiece
from broker.operators.cube.reading import PieceReader
from tests.broker.operators.cube.kept_stream import MINUTE_US, SCHEMA, Record, definition, fold

OWN = definition()
LAYOUT = Layout.of(OWN, SCHEMA)
RECORDS: list[Record] = [(f"carrier {each}", "JFK", each, each * MINUTE_US // 3) for each in range(12)]
PIECES = list(fold(OWN, RECORDS).cells.pieces(LAYOUT))
DATA = {number: piece.to_bytes() for number, piece in enumerate(PIECES)}
STORED = [
    StoredPiece(number, piece.pane, piece.count, len(DATA[number]), crc32(DATA[number]))
    for number, piece in enumerate(PIECES)
]
SIZE_BYTES = Cells.of_piece(LAYOUT, Piece.of_bytes(0, DATA[0])).size_bytes


class Store:
    """Bytes of pieces, with the numbers that were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def bytes_of(self, piece: StoredPiece) -> bytes:
        self.read.append(piece.number)
        return DATA[piece.number]

    def bytes_of_all(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the bytes of all but piece 3, as if it were damaged."""
        self.read += numbers
        return {number: DATA[number] for number in reversed(numbers) if number != 3}


def test_what_was_read_last_is_kept_within_its_bound() -> None:
    store, reader = Store(), PieceReader(2 * SIZE_BYTES)
    for number in (0, 1, 0, 2, 0, 1):
        assert reader.piece(LAYOUT, STORED[number], store.bytes_of).count == 3
        assert reader.size_bytes <= 2 * SIZE_BYTES
    assert store.read == [0, 1, 2, 1]
    reader.forget(0)
    reader.forget(7)
    assert reader.size_bytes == SIZE_BYTES


def test_what_has_no_room_at_all_is_not_kept() -> None:
    store, reader = Store(), PieceReader(SIZE_BYTES - 1)
    for _ in range(2):
        reader.piece(LAYOUT, STORED[0], store.bytes_of)
    assert (store.read, reader.size_bytes) == ([0, 0], 0)


def test_a_run_is_the_cells_of_its_panes_and_kept_as_one() -> None:
    store, reader = Store(), PieceReader(1 << 20)
    run = tuple((piece,) for piece in STORED)
    found = reader.run(LAYOUT, run, store.bytes_of)
    assert (found.count, found.different_panes().tolist()) == (12, [piece.pane for piece in PIECES])
    assert reader.run(LAYOUT, run, store.bytes_of) is found
    assert store.read == [0, 1, 2, 3]
    assert found.between(PIECES[1].pane, PIECES[3].pane).count == 6


def test_a_pane_of_several_pieces_is_merged() -> None:
    store, reader = Store(), PieceReader(1 << 20)
    found = reader.run(LAYOUT, ((STORED[0], STORED[0]), (STORED[1],)), store.bytes_of)
    assert found.states[0].to_pylist() == [2, 2, 2, 1, 1, 1]


@pytest.mark.parametrize("place", [0, 40, -1])
def test_bytes_that_are_not_those_that_were_written_are_refused(place: int) -> None:
    changed = bytearray(DATA[1])
    changed[place] ^= 4
    with pytest.raises(DamagedPieceError, match="piece 1: is damaged") as refused:
        PieceReader(0).piece(LAYOUT, STORED[1], lambda _: bytes(changed))
    assert refused.value.number == 1


@pytest.mark.parametrize("is_kept", [False, True])
def test_several_pieces_are_read_together_in_portions(is_kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PORTION_PIECES", 2)
    store, reader = Store(), PieceReader(1 << 20)
    reader.piece(LAYOUT, STORED[1], store.bytes_of)
    for _ in range(2):
        found = reader.pieces(LAYOUT, STORED, store.bytes_of, store.bytes_of_all, is_kept=is_kept)
        assert [own.panes[0] for own in found] == [piece.pane for piece in PIECES]
        assert [own.count for own in found] == [3, 3, 3, 3]
    once = [0, 2, 3, 3]
    assert store.read == [1, *once, *(() if is_kept else once)]
    assert (reader.size_bytes > SIZE_BYTES) is is_kept


def test_a_portion_has_a_bound_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PORTION_BYTES", len(DATA[0]) + len(DATA[1]))
    portions: list[list[int]] = []
    reader = PieceReader(0)

    def read_all(numbers: Sequence[int]) -> dict[int, bytes]:
        portions.append(list(numbers))
        return {number: DATA[number] for number in numbers}

    assert len(reader.pieces(LAYOUT, STORED, Store().bytes_of, read_all, is_kept=False)) == 4
    assert portions == [[0, 1], [2, 3]]
    assert reader.pieces(LAYOUT, [], Store().bytes_of, read_all, is_kept=False) == []


def test_a_damaged_piece_among_several_is_refused() -> None:
    def read_all(numbers: Sequence[int]) -> dict[int, bytes]:
        return {number: bytes(len(DATA[number])) if number == 2 else DATA[number] for number in numbers}

    with pytest.raises(DamagedPieceError, match="piece 2: is damaged"):
        PieceReader(0).pieces(LAYOUT, STORED, Store().bytes_of, read_all, is_kept=True)
