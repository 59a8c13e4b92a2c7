"""The hourly runs of the optimiser over the cubes of a stream, in a thread on at most 2 % of a core."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from asc.errors import AscError
from asc.operators.cube.optimiser import Budget
from broker.errors import CancelledError, CubeStoreError, DamagedPieceError
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper

LOG = logging.getLogger("asc.cubes")

HOUR_S = 3_600.0
_IDLE_TIMES = 49
"""The seconds of sleep for each second of work."""
_WORKED_S = 0.005
"""The seconds of CPU time after which the thread sleeps."""
_ENDS_S = 5.0

Budgets = Iterable[tuple[CubeId, Budget]]


class OptimiserRuns:
    """The hourly runs of the optimiser of one stream. Each run has a separate thread, which ends with the run.

    The time of the last complete run is stored. So runs also occur if the daemon is restarted more often than once an
    hour.
    """

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        """Set the clock. ``now_s`` returns the seconds since the epoch."""
        self._now_s = now_s
        self._last_s: float | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def run_if_due(self, keeper: Keeper, budgets: Callable[[], Budgets]) -> None:
        """Start a run if the last one began an hour ago and has ended. ``budgets`` returns the cubes of the run, each
        with its budget.

        If no run is stored, the first one begins in an hour. Raise CubeStoreError.
        """
        if self._thread is not None and self._thread.is_alive():
            return
        now_s = self._now_s()
        if self._last_s is None:
            self._last_s = keeper.last_run.read()
        if self._last_s is None:
            keeper.last_run.write(now_s)
            self._last_s = now_s
        # If the clock was set back, the difference is negative, and the run starts at once.
        if 0 <= now_s - self._last_s < HOUR_S:
            return
        self._last_s = now_s
        own = list(budgets())
        if own:
            self._thread = threading.Thread(
                target=lambda: self._run(keeper, own, now_s), name="optimiser of cubes", daemon=True
            )
            self._thread.start()

    def _run(self, keeper: Keeper, budgets: Budgets, began_s: float) -> None:
        if not optimise(keeper, budgets, Pace(self._stop).pause):
            return
        try:
            keeper.last_run.write(began_s)
        except CubeStoreError as error:
            LOG.warning("the time of a run of the optimiser is not stored: %s", error)

    def close(self) -> None:
        """End the current run, and wait for its thread for at most _ENDS_S seconds."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_ENDS_S)


def optimise(keeper: Keeper, budgets: Budgets, pause: Callable[[], None]) -> bool:
    """Choose the stored views of cubes anew, and return True. Log each cube whose views cannot be chosen. Return False
    at once if ``pause`` raises CancelledError.
    """
    for cube, budget in budgets:
        try:
            proposal = keeper.choice.propose(cube, budget, pause)
            if proposal.changes:
                LOG.info("views of cube %s: %s", cube.query, "; ".join(proposal.lines()))
            keeper.choice.apply(cube, proposal)
        except CancelledError:
            return False
        except DamagedPieceError as error:
            keeper.park_damaged(cube, error.number)
        except AscError as error:
            LOG.warning("the views of cube %s are not chosen anew: %s", cube.query, error)
    return True


class Pace:
    """A limiter of CPU use: after _WORKED_S seconds of work, the thread sleeps _IDLE_TIMES times as long."""

    def __init__(self, stop: threading.Event) -> None:
        """Start to measure the work of the current thread. ``stop``: an event that is set if the work is to end."""
        self._stop = stop
        self._from_s = time.thread_time()

    def pause(self) -> None:
        """Sleep if the thread has worked for _WORKED_S seconds since its last sleep. Raise CancelledError if the work
        is to end.
        """
        worked_s = time.thread_time() - self._from_s
        if self._stop.is_set() or (worked_s >= _WORKED_S and self._stop.wait(_IDLE_TIMES * worked_s)):
            raise CancelledError("optimiser of cubes", None, "ends, because the daemon stops: start it again")
        if worked_s >= _WORKED_S:
            self._from_s = time.thread_time()
