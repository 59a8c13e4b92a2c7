"""A process that commits, fills views and lets panes age, and is killed: no pane is lost or counted twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.region import kept_regions
from tests.broker.operators.cube.kept_stream import Topic, at, batch, opened, topic_of
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer, state_of

BATCHES, BATCH = 6, 80
PINS = [View((1, 0), 1), View((0, 0), 60)]
KEEP = ["1min:60min", "10min:120min carrier:0"]
PLACES = ("BEGIN IMMEDIATE", "INSERT INTO pieces", "UPDATE cubes", "DELETE FROM pieces", "COMMIT")
"""Statements of a transaction before which the process is killed."""


def topic() -> Topic:
    return topic_of(*(at(each / 2, "B6" if each % 3 else "UA") for each in range(BATCHES * BATCH)))


def run(folder: str, place: str, transactions: int) -> None:
    """Commit all batches, and let panes age after each, until the process kills itself.

    It does so before the first statement that begins with ``place``, after so many transactions.
    """
    keeper = opened(Path(folder))
    started = 0

    def traced(statement: str) -> None:
        nonlocal started
        started += statement.startswith("BEGIN")
        if started > transactions and statement.startswith(place):
            os.kill(os.getpid(), signal.SIGKILL)

    keeper._store._connection.set_trace_callback(traced)
    keeper.define(CUBE, OWN, pins=PINS)
    keeper.bands.define(CUBE, bands_of(KEEP, OWN))
    source = topic()
    for each in range(BATCHES):
        source.commit(keeper, batch(each * BATCH, (each + 1) * BATCH), {CUBE: OWN})
        keeper.bands.age(10)
        keeper.views.fill(10)
    keeper.close()


def killed(folder: Path, place: str, transactions: int) -> int:
    code = f"from tests.broker.operators.cube.test_age_kill import run; run({str(folder)!r}, {place!r}, {transactions})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def kept(keeper: Keeper) -> list[Any]:
    """Return what the cube keeps: its regions with their rows, the views, and the counters."""
    state = state_of(keeper)
    regions = kept_regions(state, keeper.snapshot._open_from(state))
    rows = [answer(keeper, by=[], grain_s=600)["rows"]]
    for names, grain_s in ((["carrier"], 60), ([], 3600)):
        try:
            rows.append(answer(keeper, by=[], answer_from={"by": names, "grain_s": grain_s})["rows"])
        except CubeError as error:
            # The view may not have a pane of the interval.
            rows.append([str(error)])
    bounds = [(own.view, own.first, own.end, own.closed.count) for own in regions]
    views = [(view.view, view.filled_to, view.panes.count, view.panes.cells) for view in state.views]
    return [bounds, rows, views, dict(state.counters)]


@pytest.mark.parametrize(
    "place", ["UPDATE views", *(pytest.param(place, marks=pytest.mark.nightly) for place in PLACES)]
)
def test_a_killed_process_continues_as_if_it_had_not_been_killed(place: str, tmp_path: Path) -> None:
    run(str(tmp_path / "whole"), "never", 0)
    whole = opened(tmp_path / "whole")
    wanted = kept(whole)
    whole.close()
    folder = tmp_path / "killed"
    kills = sum(killed(folder, place, transactions) == -9 for transactions in (3, 20))
    assert kills
    run(str(folder), "never", 0)
    again = opened(folder)
    assert kept(again) == wanted
    again.close()
