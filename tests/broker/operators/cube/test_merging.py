"""Merging the pieces of panes."""

from __future__ import annotations

from itertools import count, pairwise
from pathlib import Path

import pytest

from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.pane_shards import PIECES_MOST
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    opened,
    rows_of,
)

OWN = definition(3_600)
LATE = cube_id("late", OWN)


def test_an_open_pane_has_a_piece_a_commit_up_to_a_bound_and_a_closed_one_has_one(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    commits = 120
    records: list[Record] = [(f"carrier {each % 90}", "JFK", each, each) for each in range(commits)]
    source = Topic(partitions={0: [*records, ("B6", "JFK", 1, 60 * MINUTE_US)]})
    pieces = []
    for each in range(commits):
        source.commit(keeper, batch(each, each + 1), {LATE: OWN})
        (own,) = keeper.snapshot.cubes[LATE].panes.open.values()
        pieces.append([piece.cells for piece in own])
    assert [len(own) for own in pieces[:PIECES_MOST]] == list(range(1, PIECES_MOST + 1))
    assert max(map(len, pieces)) == PIECES_MOST
    # What is merged is merged with as much again, not with each small piece.
    assert sum(len(own) < len(before) for before, own in pairwise(pieces)) < commits / 10
    assert rows_of(keeper, LATE) == duckdb_rows(records)
    source.commit(keeper, batch(commits, commits + 1), {LATE: OWN})
    (closed,) = keeper.snapshot.cubes[LATE].panes.closed.values()
    assert [piece.cells for piece in closed] == [90]
    assert keeper._store.execute("SELECT count(*) FROM pieces") == [(2,)]
    assert rows_of(keeper, LATE) == duckdb_rows(source.partitions[0])
    keeper.close()


@pytest.mark.parametrize("cells", [3, 4])
def test_the_cells_of_a_pane_are_those_of_its_pieces_together(tmp_path: Path, cells: int) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(pane_cells=3))
    keeper.define(LATE, OWN)
    records: list[Record] = [(f"carrier {each % cells}", "JFK", each, each) for each in range(12)]
    source, parked = Topic(partitions={0: records}), count()
    for each in range(12):
        found = source.commit(keeper, batch(each, each + 1), {LATE: OWN})
        if found.parked:
            next(parked)
    assert (next(parked) > 0) == (cells > 3)
    keeper.close()
