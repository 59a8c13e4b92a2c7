"""The pieces of large panes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.layout import Layout
from asc.operators.cube.shards import Shards
from broker.operators.cube.pane_shards import PIECES_MOST, PaneShards, ShardPiece, first_merged
from broker.operators.cube.panes import StoredPiece
from tests.broker.operators.cube.kept_stream import SCHEMA, Record, definition, fold

OWN = definition(3_600)
LAYOUT = Layout.of(OWN, SCHEMA)
FOUR = Shards.of([4, 5, 6, 7])


def cells_of(*groups: int) -> Cells:
    records: list[Record] = [(f"carrier {each}", "JFK", each, 0) for each in groups]
    return fold(OWN, records).cells


class Stored:
    """Pieces with their cells, and the rules for them."""

    def __init__(self, threads: ThreadPoolExecutor | None = None) -> None:
        self.cells: dict[int, Cells] = {}
        self.rules = PaneShards(lambda _, piece: self.cells[piece.number], cut_cells=9, threads=threads)
        self.gone: dict[int, Cells] = {}

    def piece(self, cells: Cells, shard: int = 1) -> StoredPiece:
        number = len(self.cells) + 1
        self.cells[number] = cells
        return StoredPiece(number, int(cells.panes[0]), cells.count, 1, 1, shard=shard)

    def add(self, held: list[StoredPiece], cells: Cells, *, is_whole: bool = False) -> list[StoredPiece]:
        """Return the pieces of the pane after a batch with some cells."""
        (new,) = cells.pieces(LAYOUT)
        pieces = []
        for own in self.rules.folded(LAYOUT, FOUR, [*held, new], self.gone, is_whole=is_whole):
            pieces.append(self.piece(own.cells, own.shard) if isinstance(own, ShardPiece) else own)
        return sorted(pieces, key=lambda own: own.number)

    def whole(self, held: list[StoredPiece]) -> bytes:
        (piece,) = merged(LAYOUT, [self.cells[own.number] for own in held]).pieces(LAYOUT)
        return piece.to_bytes()


def test_a_pane_is_cut_above_a_number_of_cells_or_if_it_was_cut_before() -> None:
    stored = Stored()
    (small,), (large,) = cells_of(*range(9)).pieces(LAYOUT), cells_of(*range(10)).pieces(LAYOUT)
    assert not stored.rules.is_cut(FOUR, [small])
    assert stored.rules.is_cut(FOUR, [large])
    assert stored.rules.is_cut(FOUR, [small, stored.piece(cells_of(1))])
    assert not stored.rules.is_cut(Shards(), [large])
    assert stored.rules.is_cut(Shards(), [stored.piece(cells_of(1), shard=2)])


def test_an_open_pane_has_few_pieces_of_each_shard_and_a_closed_one_has_one() -> None:
    stored = Stored()
    held: list[StoredPiece] = []
    for each in range(40):
        held = stored.add(held, cells_of(*range(each % 7, 60)))
        for shard in FOUR.numbers:
            assert sum(own.shard == shard for own in held) <= PIECES_MOST // len(FOUR)
    closed = stored.add(held, cells_of(*range(60)), is_whole=True)
    assert sorted(own.shard for own in closed) == [4, 5, 6, 7]
    assert sum(own.cells for own in closed) == 60
    (wanted,) = merged(LAYOUT, [cells_of(*range(each % 7, 60)) for each in range(40)] + [cells_of(*range(60))]).pieces(
        LAYOUT
    )
    assert stored.whole(closed) == wanted.to_bytes()
    # Each piece that is gone has its cells for readers of the former commit.
    assert stored.gone.keys() == stored.cells.keys() - {own.number for own in closed}


def test_threads_write_the_same_pieces_and_their_time_is_noted() -> None:
    with ThreadPoolExecutor(4) as threads:
        found = []
        for stored in (Stored(), Stored(threads)):
            held = stored.add([stored.piece(cells_of(*range(500)))], cells_of(*range(250, 900)), is_whole=True)
            found.append([(own.number, own.shard, stored.whole([own])) for own in held])
            assert sorted(stored.rules.seconds) == [4, 5, 6, 7]
            assert min(stored.rules.seconds.values()) > 0
    assert found[0] == found[1]


def test_the_last_pieces_are_merged_but_for_much_larger_ones() -> None:
    assert first_merged([1] * 4, 4) == 4
    assert first_merged([9, 1, 1, 1, 1], 4) == 1
    assert first_merged([9, 9, 9, 9, 1], 4) == 2
    assert first_merged([8, 4, 2, 1, 1], 4) == 0
