"""The hourly runs of the optimiser, and the pace of their work."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from asc.operators.cube.optimiser import Budget
from asc.operators.cube.view import View
from broker.errors import CancelledError
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.optimiser_runs import HOUR_S, OptimiserRuns, Pace, optimise
from tests.broker.operators.cube.kept_stream import minute, opened
from tests.broker.operators.cube.view_rig import CUBE, answer, filled, state_of

BUDGET = Budget(8, 1_000)


def ask(keeper: Keeper) -> None:
    for _ in range(50):
        answer(keeper, by=[], **{"from": minute(0), "to": minute(120)})


def roles(keeper: Keeper) -> dict[View, str]:
    return {view.view: view.role for view in state_of(keeper).views}


def test_a_run_chooses_within_its_budget_and_parks_a_damaged_cube(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    ask(keeper)
    optimise(keeper, [(CUBE, BUDGET)], lambda: None)
    assert roles(keeper) == {View((0, 0), 120): "chosen"}
    with keeper._store.transaction():
        keeper._store.execute("UPDATE pieces SET data = zeroblob(length(data)) WHERE pane % 7 = 0")
    keeper._reader = type(keeper._reader)(0)
    keeper._current._reader = keeper._reader
    keeper._current.read_again()
    optimise(keeper, [(CUBE, BUDGET)], lambda: None)
    assert "is damaged" in str(state_of(keeper).parked)


def test_runs_are_hourly_and_end_with_the_daemon(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    ask(keeper)
    now = [0.0]
    runs = OptimiserRuns(lambda: now[0])
    runs.run_if_due(keeper, lambda: [(CUBE, BUDGET)])
    assert runs._thread is None
    now[0] = HOUR_S
    runs.run_if_due(keeper, lambda: [(CUBE, BUDGET)])
    assert runs._thread is not None
    runs._thread.join()
    assert roles(keeper) == {View((0, 0), 120): "chosen"}
    runs.close()
    keeper.close()


def test_restarts_do_not_postpone_the_next_run_and_only_a_complete_one_counts(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)

    def runs_at(now_s: float, *, is_stopping: bool = False) -> bool:
        """Start the daemon at a time, and return whether the optimiser runs."""
        nonlocal keeper
        keeper.close()
        keeper = opened(tmp_path)
        ask(keeper)
        runs = OptimiserRuns(lambda: now_s)
        if is_stopping:
            runs.close()
        runs.run_if_due(keeper, lambda: [(CUBE, BUDGET)])
        if runs._thread is not None:
            runs._thread.join()
        return runs._thread is not None

    assert [runs_at(each * HOUR_S) for each in (10, 10.5, 10.9)] == [False] * 3
    assert runs_at(11 * HOUR_S, is_stopping=True)
    assert roles(keeper) == {}
    assert runs_at(11.1 * HOUR_S)
    assert roles(keeper) == {View((0, 0), 120): "chosen"}
    assert [runs_at(each * HOUR_S) for each in (11.2, 12, 12.1, 13)] == [False, False, True, False]
    # The clock was set back.
    assert [runs_at(each * HOUR_S) for each in (2, 2.5, 3)] == [True, False, True]
    keeper.close()


def test_a_pace_sleeps_49_times_its_work() -> None:
    stop = threading.Event()
    slept: list[float | None] = []

    class Recorded(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            slept.append(timeout)
            return self.is_set()

    stop = Recorded()
    pace = Pace(stop)
    begin_s = time.thread_time()
    while time.thread_time() - begin_s < 0.05:
        pace.pause()
    worked_s = time.thread_time() - begin_s
    assert sum(own or 0 for own in slept) >= 49 * 0.5 * worked_s
    stop.set()
    with pytest.raises(CancelledError):
        pace.pause()
