"""Checks of questions against what a cube keeps of older panes. A refusal names the nearest interval or grain."""

from __future__ import annotations

from asc.errors import CubeError
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.question import Question
from asc.operators.cube.view import grain_text
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.region import Region


def check_begins_kept(state: CubeState, question: Question) -> None:
    """Raise CubeError if a question begins before the first pane that is kept."""
    if question.first is None or state.kept_from is None or question.first >= state.kept_from:
        return
    begin, kept = (instant_text(pane * state.grain_us) for pane in (question.first, state.kept_from))
    raise CubeError("from", begin, f"is not kept any more: give {kept} or a later time, or leave it out")


def check_kept(state: CubeState, question: Question, region: Region, wanted: Levels, interval: tuple[int, int]) -> None:
    """Raise CubeError if the pieces of a region cannot answer the part of a question's interval in it.

    ``wanted``: the cuboid that has all dimensions of the question. ``interval``: panes of the cube, within the region.
    """
    first, end = interval
    panes, dimensions = region.view.panes, state.definition.dimensions
    grain_s = panes * state.grain_us // 1_000_000
    until = instant_text(end * state.grain_us) if region.end is None else instant_text(region.end * state.grain_us)
    missing = [
        names[mine]
        for names, mine, theirs in zip(dimensions.hierarchies, region.view.cuboid, wanted, strict=True)
        if theirs > mine
    ]
    if missing:
        remedy = f"is not kept before {until}: ask from then on, or leave it out"
        raise CubeError("by", missing[0], remedy)
    if question.panes is not None and question.panes % panes:
        remedy = f"is finer than the panes that are kept before {until}: give {grain_s}, or ask from then on"
        raise CubeError("grain_s", question.panes * state.grain_us // 1_000_000, remedy)
    if question.calendar is not None and not question.calendar.consists_of(panes):
        detail = (
            f"does not consist of the panes of {grain_text(grain_s)} that are kept before {until}: ask from then on"
        )
        raise CubeError("grain", question.calendar.unit, detail)
    if question.hours is not None and not question.hours.consist_of(panes):
        detail = f"are shorter than the panes of {grain_text(grain_s)} that are kept before {until}: ask from then on"
        raise CubeError("hours", (question.body or {}).get("hours"), f"{detail}, or leave it out")
    for name, pane in (("from", first), ("to", end)):
        # The oldest pane of a band may be deleted in part.
        if pane % panes and pane != region.first:
            nearest = instant_text((pane + panes // 2) // panes * panes * state.grain_us)
            remedy = f"is within a pane of {grain_text(grain_s)}, as they are kept before {until}: give {nearest}"
            raise CubeError(name, instant_text(pane * state.grain_us), remedy)
