"""Checks whether the cells that a cube keeps of older panes can answer a question. A refusal names the nearest interval
or grain that can be answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asc.errors import CubeError
from asc.operators.cube.calendar import days_text, utc_text
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.json_values import bound_text, instant_of
from asc.operators.cube.question import Question
from asc.operators.cube.view import grain_text
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.region import Region

_DAY_S = 86_400


@dataclass(frozen=True, slots=True, eq=False)
class KeptCheck:
    """The check whether the kept regions of a cube, oldest first, can answer one question.

    ``wanted``: the cuboid with exactly the levels that the question needs. If a question has ``last_s``, its body also
    contains the resulting interval as ``from`` and ``to``.
    """

    state: CubeState
    question: Question
    wanted: Levels
    regions: Sequence[Region]

    def check_bounds(self) -> None:
        """Raise CubeError if the question begins or ends before the first pane that is kept."""
        kept, first, end = self.state.kept_from, self.question.first, self._given("to")
        if kept is None:
            return
        at = self._askable_from()
        at = kept if at is None else at
        if first is not None and first < kept:
            raise self._refused_begin(first, "is not kept any more", at, can_be_omitted=True)
        if first is None and end is not None and end <= kept:
            later = f"give a time after {self._text(at)}, or leave it out"
            if at != self.question.ceil(kept):
                later = f"ask from {self._text(at)} on, with a later to"
            raise CubeError("to", self._text(end), f"is not kept any more: {later}")

    def check_part(self, region: Region, interval: tuple[int, int]) -> None:
        """Raise CubeError if the pieces of a region cannot answer the part ``interval`` of the question's interval.

        ``interval``: the first pane of the cube in this part, and the pane after the last; both are within the region.
        """
        question, panes = self.question, region.view.panes
        until = interval[1] if region.end is None else region.end
        before = f"kept before {self._text(until)}"
        grain = grain_text(self._seconds(panes))
        if missing := self._missing(region):
            fewer = tuple(min(own) for own in zip(self.wanted, region.view.cuboid, strict=True))
            omission = _omission(replace(self, wanted=fewer), region)
            raise CubeError("by", missing, f"is not {before}: {self._ask_later(until)}{omission}")
        if question.panes is not None and question.panes % panes:
            proposal = f"give {self._seconds(panes)}, or " if self._may_step(panes) else ""
            remedy = f"is no multiple of the panes of {grain} that are {before}: {proposal}{self._ask_later(until)}"
            raise CubeError("grain_s", self._seconds(question.panes), remedy)
        if question.calendar is not None and not question.calendar.consists_of(panes):
            stored = f"panes of {utc_text(self._seconds(panes))} in UTC, as they are {before}"
            detail = f"{days_text(question.calendar)} are not whole {stored}"
            proposal = f"give grain_s {self._seconds(panes)}, or " if self._may_step(panes) else ""
            raise CubeError("grain", question.calendar.unit, f"{detail}: {proposal}{self._ask_later(until)}")
        if not self._has_hours(panes):
            omission = _omission(replace(self, question=replace(question, hours=None)), region)
            detail = f"are shorter than the panes of {grain} that are {before}: {self._ask_later(until)}{omission}"
            raise CubeError("hours", (question.body or {}).get("hours"), detail)
        within = f"is within a pane of {grain}, as they are {before}"
        first, end = interval
        # The first pane of the region may lie within a pane of its band, if the panes before it are deleted.
        if first % panes and first != region.first:
            nearest = first // panes * panes
            raise self._refused_begin(first, within, nearest if region.first is None else max(nearest, region.first))
        if end % panes:
            # Propose a later end, so that the proposed interval contains the interval of the question, and is not
            # empty.
            remedy = f"{within}: give {self._text(end + -end % panes)}"
            raise CubeError("to", self._text(end), remedy)

    def answers(self, region: Region) -> bool:
        """Return whether the pieces of a region can answer the question, provided that the question begins and ends at
        bounds of the region's panes.
        """
        question, panes = self.question, region.view.panes
        if self._missing(region) is not None or (question.panes is not None and question.panes % panes):
            return False
        return self._has_hours(panes) and (question.calendar is None or question.calendar.consists_of(panes))

    def has_bounds_of(self, panes: int) -> bool:
        """Return whether the fields ``from`` and ``to`` of the question, as far as given, are bounds of panes of the
        length ``panes``.
        """
        return not any(bound is not None and bound % panes for bound in (self._given("from"), self._given("to")))

    def _missing(self, region: Region) -> str | None:
        """Return the name of the first level that the question needs and a region does not keep. Return None if there
        is none.
        """
        hierarchies = self.state.definition.dimensions.hierarchies
        levels = zip(hierarchies, region.view.cuboid, self.wanted, strict=True)
        return next((names[mine] for names, mine, theirs in levels if theirs > mine), None)

    def _has_hours(self, panes: int) -> bool:
        """Return whether the local hours of the question consist of whole panes of the length ``panes``. Return True if
        the question has no hours.
        """
        return self.question.hours is None or self.question.hours.consist_of(panes)

    def _askable_from(self) -> int | None:
        """Return the first pane with which the question may begin. Return None if the question may begin at any pane.

        This pane is the begin of the oldest region such that this region and all later ones can answer the question. It
        is rounded up to the grain of the question. The base pieces can answer every question.
        """
        first: int | None = None
        for region in reversed(self.regions):
            is_empty = region.first is not None and region.end is not None and region.first >= region.end
            if not is_empty and not self.answers(region):
                break
            first = first if is_empty else region.first
        return None if first is None else self.question.ceil(first)

    def _refused_begin(self, first: int, detail: str, at: int, *, can_be_omitted: bool = False) -> CubeError:
        """Return the error for a question that begins at the pane ``first``, and has to begin at the pane ``at`` or
        later. ``detail``: the reason. ``can_be_omitted``: whether the remedy may propose to omit ``from``.
        """
        last_s = (self.question.body or {}).get("last_s")
        if last_s is None:
            later = " or a later time" if at > first else ""
            # Propose to omit ``from`` only if the question then begins at ``at``. The oldest panes may be longer, or
            # have fewer levels.
            left_out = ", or leave it out" if can_be_omitted and at == self.question.ceil(self._kept_from) else ""
            return CubeError(
                "from", self._text(first), f"{detail}: give {self._text(at)}{later}{self._to(at)}{left_out}"
            )
        most_s = self._last_s(at)
        begin = f"begins at {self._text(first)}, which {detail}"
        given = f"give {most_s}" if most_s > 0 else f"leave it out, and give from, {self._text(at)} or a later time"
        return CubeError("last_s", last_s, f"{begin}: {given}")

    @property
    def _kept_from(self) -> int:
        kept = self.state.kept_from
        return 0 if kept is None else kept

    def _ask_later(self, until: int) -> str:
        """Return the part of a remedy that names the first time with which the question may begin. ``until``: the pane
        whose begin the error has already named.
        """
        at = self._askable_from()
        if at is None:
            return "ask from then on"
        if (self.question.body or {}).get("last_s") is not None and (most_s := self._last_s(at)) > 0:
            return f"give last_s {most_s}"
        return f"ask from {'then' if at == until else self._text(at)} on{self._to(at)}"

    def _to(self, at: int) -> str:
        """Return the part of a remedy that asks for a later ``to``, if the question ends at the pane ``at`` or
        before.
        """
        end = self._given("to")
        return ", with a later to" if end is not None and end <= at else ""

    def _last_s(self, at: int) -> int:
        """Return the value of ``last_s`` with which the question begins at the pane ``at``."""
        end = self._given("to")
        assert end is not None
        if self.question.calendar is not None:
            return (self.question.calendar.number(end) - self.question.calendar.number(at)) * _DAY_S
        return self._seconds(end - at)

    def _may_step(self, panes: int) -> bool:
        """Return whether the question could have ``panes`` panes as its grain."""
        last_s = (self.question.body or {}).get("last_s")
        is_on = self.has_bounds_of(panes) if last_s is None else last_s % self._seconds(panes) == 0
        return is_on and self._has_hours(panes)

    def _given(self, name: str) -> int | None:
        """Return the field ``name`` of the question's body, ``from`` or ``to``, as a pane. Return None if it is not
        given. The question may end before the pane of ``to``, because open panes are excluded.
        """
        value = (self.question.body or {}).get(name)
        return None if value is None else instant_of(name, value) // self.state.grain_us

    def _seconds(self, panes: int) -> int:
        return panes * self.state.grain_us // 1_000_000

    def _text(self, pane: int) -> str:
        return bound_text(pane * self.state.grain_us)


def _omission(without: KeptCheck, region: Region) -> str:
    """Return the part of a remedy that proposes to omit a field, if a region can answer the question without this
    field. ``without``: the check of the question without the field.
    """
    is_answered = without.answers(region) and without.has_bounds_of(region.view.panes)
    return ", or leave it out" if is_answered else ""
