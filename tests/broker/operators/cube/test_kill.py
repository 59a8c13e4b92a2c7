"""A process that commits in a loop and is killed: each record is counted once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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

BATCH = 20
OWN = definition()
JOINED, APART = (cube_id(name, OWN) for name in ("joined", "apart"))
"""Cubes whose late records join their panes, and stay apart."""
CUBES = {JOINED: OWN, APART: OWN}
PLACES = (
    "BEGIN IMMEDIATE",
    "INSERT INTO pieces",
    "INSERT OR REPLACE INTO coverage",
    "INSERT OR REPLACE INTO marks",
    "COMMIT",
)
"""Statements of a transaction before which the process is killed."""


def topic(batches: int) -> Topic:
    """Return a topic of which records are late, and panes close, in each batch."""
    records: list[Record] = [
        ("B6" if each % 3 else "UA", "JFK", each, each * MINUTE_US // 7 - (each % 5) * MINUTE_US)
        for each in range(BATCH * batches)
    ]
    return Topic(partitions={0: records})


def run(folder: str, batches: int, place: str, transactions: int) -> None:
    """Commit batches from the first one on, as Spark does after a start, until the process kills itself.

    It does so before the first statement that begins with ``place``, after so many transactions.
    """
    keeper = opened(Path(folder), lateness_s=10)
    started = 0

    def traced(statement: str) -> None:
        nonlocal started
        started += statement.startswith("BEGIN")
        if started > transactions and statement.startswith(place):
            os.kill(os.getpid(), signal.SIGKILL)

    keeper._store._connection.set_trace_callback(traced)
    source = topic(batches)
    for each in range(batches):
        source.commit(keeper, batch(each * BATCH, (each + 1) * BATCH), CUBES, [APART])
    keeper.close()


def killed(folder: Path, batches: int, place: str, transactions: int) -> int:
    call = f"run({str(folder)!r}, {batches}, {place!r}, {transactions})"
    code = f"from tests.broker.operators.cube.test_kill import run; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def prepared(folder: Path) -> None:
    keeper = opened(folder, lateness_s=10)
    for cube, own in CUBES.items():
        keeper.define(cube, own)
    keeper.close()


def check(folder: Path, batches: int) -> None:
    """Run what is not done, and compare with DuckDB over all records."""
    keeper = opened(folder, lateness_s=10)
    source = topic(batches)
    for each in range(batches):
        source.commit(keeper, batch(each * BATCH, (each + 1) * BATCH), CUBES, [APART])
    for cube in CUBES:
        assert rows_of(keeper, cube, late=True) == duckdb_rows(source.partitions[0])
        assert keeper.questions.query(cube, {"live": True})["whole"]
    joined, apart = (keeper.snapshot.status(cube) for cube in CUBES)
    assert joined["counted"] == BATCH * batches
    assert joined["late"] > 0
    # The same records are late, in batches of the same offsets.
    assert (apart["apart"], apart["counted"]) == (joined["late"], BATCH * batches - joined["late"])
    (total,) = keeper.questions.query(APART, {"live": True})["rows"]
    assert total["n"] == apart["counted"]
    keeper.close()


def test_a_process_that_is_killed_between_write_and_commit_counts_each_record_once(tmp_path: Path) -> None:
    prepared(tmp_path)
    assert killed(tmp_path, 4, "COMMIT", 2) == -9
    keeper = opened(tmp_path, lateness_s=10)
    assert {keeper.snapshot.status(cube)["accepted"] for cube in CUBES} == {2 * BATCH}
    keeper.close()
    check(tmp_path, 4)


@pytest.mark.nightly
def test_a_process_that_is_killed_twenty_times_counts_each_record_once(tmp_path: Path) -> None:
    prepared(tmp_path)
    for each in range(20):
        assert killed(tmp_path, 25, PLACES[each % len(PLACES)], each % 3) == -9
    check(tmp_path, 25)
