"""A process that commits and changes shards, and is killed: it has the former shards or the new ones, and all cells."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from asc.operators.cube.shards import Shards
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import Topic, at, batch, cube_id, definition, duckdb_rows, opened, rows_of
from tests.broker.operators.cube.test_shard_keeping import check_cut

OWN = definition()
CUBE = cube_id("q", OWN)
BATCHES, BATCH = 6, 40
CHANGES = [Shards.of(own) for own in ([2, 3], [4, 5, 3], [4, 5, 6, 7], [4, 5, 3], [2, 3], [1])]
"""The shards after each batch."""
PLACES = ("BEGIN IMMEDIATE", "DELETE FROM pieces", "INSERT INTO pieces", "UPDATE cubes", "COMMIT")
"""Statements of a transaction before which the process is killed."""


def topic() -> Topic:
    """Return a topic with many groups, of which some are late in each batch."""
    records = [at(each / 20 - each % 5, f"carrier {each % 23}") for each in range(BATCHES * BATCH)]
    return Topic(partitions={0: records})


def run(folder: str, place: str, transactions: int) -> None:
    """Commit all batches, and change the shards after each, until the process kills itself.

    It does so before the first statement that begins with ``place``, after so many transactions.
    """
    keeper = opened(Path(folder), lateness_s=60, limits=CubeLimits(cut_cells=2, query_s=600.0))
    started = 0

    def traced(statement: str) -> None:
        nonlocal started
        started += statement.startswith("BEGIN")
        if started > transactions and statement.startswith(place):
            os.kill(os.getpid(), signal.SIGKILL)

    keeper._store._connection.set_trace_callback(traced)
    keeper.define(CUBE, OWN)
    source = topic()
    for each, wanted in enumerate(CHANGES):
        source.commit(keeper, batch(each * BATCH, (each + 1) * BATCH), {CUBE: OWN})
        keeper.shards.change(CUBE, keeper.snapshot.cube(CUBE).shards, wanted)
    keeper.close()


def killed(folder: Path, place: str, transactions: int) -> int:
    call = f"run({str(folder)!r}, {place!r}, {transactions})"
    code = f"from tests.broker.operators.cube.test_shard_kill import run; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def check(folder: Path, transactions: int) -> None:
    """Check the cells after so many transactions: the first defines the cube, and then batches and changes alternate.

    Which pieces there are is the result of the transactions that are complete.
    """
    keeper = opened(folder, lateness_s=60, limits=CubeLimits(cut_cells=2, query_s=600.0))
    state = keeper.snapshot.cube(CUBE)
    batches, changes = transactions // 2, (transactions - 1) // 2
    assert state.shards == (CHANGES[changes - 1] if changes else Shards())
    assert state.counters.get("counted", 0) == batches * BATCH
    assert rows_of(keeper, CUBE) == duckdb_rows(topic().partitions[0][: batches * BATCH])
    check_cut(keeper, state)
    for pieces in state.panes.open.values():
        assert all(piece.shard in {1, *state.shards.numbers} for piece in pieces)
    keeper.close()


@pytest.mark.parametrize("place", ["COMMIT", *(pytest.param(own, marks=pytest.mark.nightly) for own in PLACES[:-1])])
def test_a_killed_process_has_the_former_shards_or_the_new_ones(place: str, tmp_path: Path) -> None:
    # The fifth transaction changes the shards for the second time.
    assert killed(tmp_path, place, 4) == -9
    check(tmp_path, 4)
    run(str(tmp_path), "never", 0)
    keeper = opened(tmp_path, lateness_s=60, limits=CubeLimits(cut_cells=2, query_s=600.0))
    assert keeper.snapshot.cube(CUBE).shards == CHANGES[-1]
    assert rows_of(keeper, CUBE) == duckdb_rows(topic().partitions[0])
    keeper.close()


@pytest.mark.nightly
def test_a_process_that_is_killed_at_each_transaction_loses_no_cell(tmp_path: Path) -> None:
    for transactions in range(1, 2 * BATCHES + 1):
        folder = tmp_path / str(transactions)
        assert killed(folder, "COMMIT", transactions) == -9
        check(folder, transactions)
