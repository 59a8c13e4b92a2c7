"""The demand for the views of a keeper's cubes. Questions are counted in memory, and the counts are stored once a
minute.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from types import MappingProxyType

from asc.errors import CubeError
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.demand import Demand
from asc.operators.cube.demanded import demanded_views
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.question import Question
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.store import Store

LOG = logging.getLogger("asc.cubes")

PENDING_MAX = 1_024
"""The most views, of all cubes together, whose questions are counted in memory before the counts are added to the
demand. Questions for further views are not counted.
"""
SAVED_S = 60.0
"""The seconds between two writes of the demand to the store."""


class Demands:
    """The demand for the views of each cube of a keeper. Thread-safe.

    A question only adds to a small table in memory. The upkeep adds this table to the demand of each cube, and stores
    it once a minute. So a crash loses the counts of the last minute, which change no answer.
    """

    def __init__(self, store: Store, now_s: Callable[[], float] = time.time) -> None:
        """Set the store. ``now_s`` returns the seconds since the epoch."""
        self._store = store
        self._now_s = now_s
        self._lock = threading.Lock()
        self._pending: dict[tuple[int, View], tuple[float, float]] = {}
        self._adding = threading.Lock()
        self._by_cube: dict[int, Demand] = {}
        self._lattices: dict[int, Lattice] = {}
        self._changed: set[int] = set()
        self._saved_s = now_s()

    @property
    def now_s(self) -> float:
        """Return the seconds since the epoch."""
        return self._now_s()

    def lattice(self, state: CubeState) -> Lattice:
        """Return the lattice of a cube: all views that the cube could store. The lattice is computed once and
        cached.
        """
        found = self._lattices.get(state.number)
        if found is None:
            grain_s = state.grain_us // 1_000_000
            found = self._lattices[state.number] = Lattice(state.definition.dimensions, grain_s)
        return found

    def count(self, state: CubeState, cuboid: Levels, question: Question, interval: tuple[int, int]) -> None:
        """Add a question to the counts of the views that would answer it well. ``cuboid``: the cuboid with exactly the
        levels that the question needs. ``interval``: the first closed pane of the question's interval, and the pane
        after the last.

        A question with too many segments of days or hours is not counted, because it is answered without views. Cost:
        that of :meth:`Question.segments` and of :func:`demanded_views`. The lock is held only while a small table is
        changed.
        """
        try:
            segments = question.segments(*interval)
        except CubeError:
            return
        views = demanded_views(self.lattice(state), cuboid, question.panes, segments)
        with self._lock:
            for view, panes in views:
                key = state.number, view
                own = self._pending.get(key)
                if own is not None or len(self._pending) < PENDING_MAX:
                    questions, read = own or (0.0, 0.0)
                    self._pending[key] = questions + 1, read + panes

    def of(self, state: CubeState) -> Demand:
        """Return the demand for the views of a cube, which includes all questions so far. Raise CubeStoreError if the
        stored demand cannot be read.
        """
        with self._adding:
            self._add({state.number: state})
            return self._demand(state).at(self._now_s())

    def save(self, states: Iterable[CubeState]) -> None:
        """Store the demand of cubes if the last write is at least a minute ago. ``states``: all cubes of the keeper;
        the demand of other cubes is forgotten. Raise CubeStoreError if the write fails; the call a minute later then
        repeats it.
        """
        now_s = self._now_s()
        if 0 <= now_s - self._saved_s < SAVED_S:
            return
        # A cube whose definition is damaged has no lattice.
        by_number = {state.number: state for state in states if state.layout is not None}
        with self._adding:
            self._saved_s = now_s
            self._add(by_number)
            with self._lock:
                self._pending = {key: own for key, own in self._pending.items() if key[0] in by_number}
            for state in by_number.values():
                self._demand(state)
            for held in (self._by_cube, self._lattices):
                for number in held.keys() - by_number.keys():
                    held.pop(number, None)
            rows = [
                (number, json.dumps(self._by_cube[number].plain()), number)
                for number in sorted(self._changed & by_number.keys())
            ]
            if rows:
                # A cube may be deleted meanwhile.
                sql = "INSERT OR REPLACE INTO demand SELECT ?, ? WHERE EXISTS (SELECT 1 FROM cubes WHERE number = ?)"
                with self._store.transaction():
                    self._store.execute_all(sql, rows)
            self._changed.clear()

    def _add(self, states: dict[int, CubeState]) -> None:
        """Move the counts of questions about some cubes from the table in memory to the demand of these cubes."""
        with self._lock:
            mine = {key: own for key, own in self._pending.items() if key[0] in states}
            self._pending = {key: own for key, own in self._pending.items() if key not in mine}
        now_s = self._now_s()
        for (number, view), (questions, panes) in mine.items():
            before = self._demand(states[number])
            self._by_cube[number] = before.plus(view, panes / questions, at_s=now_s, questions=questions)
            self._changed.add(number)

    def _demand(self, state: CubeState) -> Demand:
        found = self._by_cube.get(state.number)
        if found is None:
            found = self._by_cube[state.number] = self._stored(state)
        return found

    def _stored(self, state: CubeState) -> Demand:
        rows = self._store.execute("SELECT counts FROM demand WHERE cube = ?", (state.number,))
        if rows:
            try:
                return Demand.parse(json.loads(rows[0][0]), self.lattice(state))
            except (CubeError, ValueError) as error:
                LOG.warning("the demand for views of cube %s is counted anew: %s", state.id.query, error)
        self._changed.add(state.number)
        return Demand(self._now_s(), 0.0, MappingProxyType({}))
