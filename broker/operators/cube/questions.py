"""Questions to the cubes of a stream. Each question needs a slot (see :class:`QuestionTurns`). A question that finds a
damaged piece is answered again without the piece.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from asc.operators.cube.answer_memory import Reserve
from asc.operators.cube.looked_up import NO_LOOKUPS, Lookups
from broker.cancellation import Cancellation
from broker.errors import DamagedPieceError
from broker.operators.cube.answer_text import answer_text
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.look import Look, Wanted
from broker.operators.cube.question_figures import QuestionFigures
from broker.operators.cube.question_turns import QuestionTurns
from broker.operators.cube.snapshot import Count, Snapshot, uncounted

Answer = TypeVar("Answer")
Ask = Callable[[Snapshot, Reserve], Answer]
"""A function that answers a question from a snapshot. Before each part of its work, it calls the second argument to
reserve memory.
"""


class Questions:
    """The questions to the cubes of one stream, each answered from the newest snapshot. Thread-safe.

    If a question finds a damaged piece, the cube is parked, and the answer excludes the piece: its pane becomes a gap.
    """

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        park_damaged: Callable[[CubeId, int], None],
        limit_s: float,
        count: Count = uncounted,
    ) -> None:
        """Set the functions of the keeper. ``snapshot`` returns the newest snapshot. ``limit_s``: the most seconds of
        each answer.

        ``park_damaged`` is called with the cube and the number of a damaged piece. ``count`` counts questions for the
        demand for views.
        """
        self._count = count
        self._snapshot = snapshot
        self._park_damaged = park_damaged
        self._limit_s = limit_s
        self._turns = QuestionTurns()
        self.figures = QuestionFigures()

    def query(
        self,
        cube: CubeId,
        body: Mapping[str, Any],
        cancellation: Cancellation | None = None,
        lookups: Lookups = NO_LOOKUPS,
    ) -> dict[str, Any]:
        """Return the answer to a request body in the form of the API, from one commit. ``lookups``: the look-ups whose
        attributes the body may name.

        Raise CubeError if the body is refused. Raise also UnknownQueryError, TooManyQuestionsError, SlowAnswerError and
        CancelledError.
        """
        return self._answered(cube, self._ask(cube, body, lookups), cancellation)

    def query_text(
        self,
        cube: CubeId,
        body: Mapping[str, Any],
        cancellation: Cancellation | None = None,
        lookups: Lookups = NO_LOOKUPS,
    ) -> bytes:
        """Return the answer of :meth:`query` as JSON in UTF-8. The time and memory to encode the text count towards the
        limits of the question.
        """
        ask = self._ask(cube, body, lookups)
        return self._answered(
            cube, lambda snapshot, reserve: answer_text(ask(snapshot, reserve), reserve), cancellation
        )

    def states(self, cube: CubeId, body: Mapping[str, Any], cancellation: Cancellation | None = None) -> bytes:
        """Return the states of cells as an Arrow IPC stream. The call counts as one question, with the limits and
        errors of :meth:`query`.
        """
        return self._answered(
            cube, lambda snapshot, reserve: snapshot.states(cube, body, reserve, self._count), cancellation
        )

    def look(
        self,
        cube: CubeId,
        wanted: Wanted,
        cancellation: Cancellation | None = None,
        lookups: Lookups = NO_LOOKUPS,
    ) -> Look:
        """Return the content of a page about a cube, from one commit. The call counts as one question, with the limits
        and errors of :meth:`query`.
        """
        found = self._answered(
            cube, lambda snapshot, reserve: snapshot.look(cube, wanted, reserve, lookups, self._count), cancellation
        )
        self.figures.cells.observe(sum(own["cells"] for own in found.answered_by))
        return found

    def with_turn(self, cube: CubeId, ask: Ask[Answer], cancellation: Cancellation | None = None) -> Answer:
        """Return the result of ``ask`` for the newest snapshot, with the limits and errors of :meth:`query`."""
        return self._answered(cube, ask, cancellation)

    def _ask(self, cube: CubeId, body: Mapping[str, Any], lookups: Lookups) -> Ask[dict[str, Any]]:
        def ask(snapshot: Snapshot, reserve: Reserve) -> dict[str, Any]:
            found = snapshot.query(cube, body, reserve, lookups, self._count)
            self.figures.cells.observe(sum(own["cells"] for own in found["answered_by"]))
            return found

        return ask

    def _answered(self, cube: CubeId, ask: Ask[Answer], cancellation: Cancellation | None) -> Answer:
        """Return the result of ``ask`` for the newest snapshot. If a piece is damaged, park the cube and call ``ask``
        again.
        """
        start_s = time.perf_counter()
        with self._turns.turn(self._limit_s, cancellation) as turn:
            try:
                while True:
                    try:
                        return ask(self._snapshot(), turn.reserve)
                    except DamagedPieceError as error:
                        turn.begin_anew()
                        self._park_damaged(cube, error.number)
            finally:
                self.figures.seconds.observe(time.perf_counter() - start_s)
