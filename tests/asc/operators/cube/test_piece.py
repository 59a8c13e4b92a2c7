"""Pieces as bytes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.operators.cube.piece import Piece, PieceHead

BATCH = pa.record_batch({"d0": pa.array(["a", None]).dictionary_encode(), "s0": pa.array([1, 2])})


def test_a_piece_is_read_from_its_bytes() -> None:
    found = Piece.of_bytes(7, Piece(7, BATCH).to_bytes())
    assert (found.pane, found.count) == (7, 2)
    assert found.batch.equals(BATCH)
    assert found.to_bytes() == Piece(7, BATCH).to_bytes()


def test_a_damaged_piece_is_refused() -> None:
    data = Piece(7, BATCH).to_bytes()
    with pytest.raises((pa.ArrowInvalid, OSError, StopIteration)):
        Piece.of_bytes(7, data[: len(data) // 3])


def test_pieces_that_share_a_head_have_the_bytes_of_pieces_with_their_own() -> None:
    head = PieceHead()
    for batch in (BATCH, BATCH.slice(0, 1), BATCH.slice(0, 0), BATCH):
        data = Piece(7, batch, head).to_bytes()
        assert data == Piece(7, batch).to_bytes()
        assert Piece.of_bytes(7, data).batch.equals(batch)
