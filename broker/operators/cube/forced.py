"""Checks of questions that name the stored view to read, by the field ``answer_from``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from asc.errors import CubeError
from asc.operators.cube.calendar import days_text, utc_text
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.json_values import bound_text
from asc.operators.cube.question import Question
from asc.operators.cube.view import View, grain_text
from broker.operators.cube.covering import Portion
from broker.operators.cube.cube_state import CubeState


@dataclass(frozen=True, slots=True, eq=False)
class ForcedView:
    """The stored view that a question names as the only one to read.

    ``wanted``: the cuboid with exactly the levels that the question needs.
    """

    state: CubeState
    question: Question
    wanted: Levels
    view: View

    def check(self, portions: Sequence[Portion]) -> None:
        """Raise CubeError if the cells of the view cannot be rolled up to the rows of the question. Raise it also if
        the question reads closed panes, and none of the portions ``portions`` reads the view.
        """
        hierarchies = self.state.definition.dimensions.hierarchies
        levels = zip(hierarchies, self.view.cuboid, self.wanted, strict=True)
        if missing := [names[mine] for names, mine, theirs in levels if theirs > mine]:
            remedy = "name one with all dimensions of by and where"
            raise self._refused(f"is no ancestor of the question, as it has no {', '.join(missing)}: {remedy}")
        rows = self.question.panes
        if rows is not None and rows % self.view.panes:
            fault = f"as rows of {self._length(rows)} do not consist of its panes"
            raise self._refused(f"is no ancestor of the question, {fault}: name one with panes that divide the rows")
        is_base = self.view == View.base(self.state.definition.dimensions)
        if portions and not is_base and all(own.source.view != self.view for own in portions):
            raise self._refused(f"{self._fault(portions)}, or leave answer_from out")

    def _fault(self, portions: Sequence[Portion]) -> str:
        """Return the reason why the question reads no pane of the view, and a remedy."""
        question, panes = self.question, self.view.panes
        grain = self._length(panes)
        if question.hours is not None and not question.hours.consist_of(panes):
            hours = (question.body or {}).get("hours")
            return f"does not answer hours {hours}, which do not consist of panes of {grain}: leave hours out"
        if question.calendar is not None and not question.calendar.consists_of(panes):
            days, stored = days_text(question.calendar), utc_text(self._seconds(panes))
            return f"does not answer {days}, which do not consist of panes of {stored} in UTC: leave grain out"
        first = portions[0].first * portions[0].source.view.panes
        end = portions[-1].end * portions[-1].source.view.panes
        interval = f"from {self._text(first)} to {self._text(end)}"
        if -(-first // panes) >= end // panes:
            return f"has no whole pane of {grain} {interval}: give a longer interval"
        complete_to = next((own.end for own in self.state.views if own.view == self.view), None)
        if complete_to is not None and complete_to <= first:
            return f"is complete only to {self._text(complete_to)}, and the interval is {interval}: ask again later"
        return f"has no pane {interval}, of which bands have the only copy: give a later interval"

    def _refused(self, fault: str) -> CubeError:
        return CubeError("answer_from", self.view.name(self.state.definition.dimensions, self._seconds(1)), fault)

    def _length(self, panes: int) -> str:
        return grain_text(self._seconds(panes))

    def _seconds(self, panes: int) -> int:
        return panes * self.state.grain_us // 1_000_000

    def _text(self, pane: int) -> str:
        return bound_text(pane * self.state.grain_us)
