"""The interval of stored panes, as the bounds of a question without ``from`` or ``to``."""

from __future__ import annotations

from dataclasses import replace

from asc.operators.cube.question import Question
from broker.operators.cube.asked import Asked
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.region import kept_regions


def with_stored_bounds(state: CubeState, asked: Asked, open_from: int | None) -> Question:
    """Return a question whose omitted bounds are replaced by the first and the last stored pane that the question
    includes.

    The bounds depend neither on the hours of the question nor on the views from which it is answered. The question
    stays unchanged if no stored pane is in its interval. ``open_from``: the first open pane; None if no pane is closed.
    """
    question = asked.question
    if question.first is not None and question.end is not None:
        return question
    first, last = _first(state, asked, open_from), _last(state, asked)
    if first is None:
        return question
    if question.end is not None and first >= question.end:
        # The interval of the first open panes is partly deleted, so a live question reads none of them: return an empty
        # interval.
        is_cut = asked.is_live and state.kept_from is not None and question.first is None
        return replace(question, first=question.end) if is_cut else question
    if question.first is not None:
        first = question.first
    end = last + 1 if question.end is None and last is not None and last >= first else question.end
    return replace(question, first=first, end=end)


def _first(state: CubeState, asked: Asked, open_from: int | None) -> int | None:
    """Return the first stored pane that a question without ``from`` includes. Return None if there is none."""
    found = [] if open_from is None else [region.begin for region in kept_regions(state, open_from)]
    firsts = [first for first in found if first is not None]
    several = [state.panes, *([state.apart] if asked.is_late else [])]
    if asked.is_late and (pane := state.apart.closed.first) is not None:
        firsts.append(pane)
    if asked.is_live:
        firsts += (min(panes.open) for panes in several if panes.open)
    first = min(firsts, default=None)
    if first is None or state.kept_from is None or asked.question.floor(first) >= state.kept_from:
        return first
    # If a part of an interval of the question's grain is deleted, the interval is not in the answer.
    return max(first, asked.question.ceil(state.kept_from))


def _last(state: CubeState, asked: Asked) -> int | None:
    """Return the newest stored pane of a cube for a live question. Return None for other questions, because their
    interval ends with the closed panes.
    """
    if not asked.is_live:
        return None
    several = [state.panes, *([state.apart] if asked.is_late else [])]
    lasts = [max(own.open or own.closed) for own in several if own.count]
    lasts += ((max(band.closed) + 1) * band.view.panes - 1 for band in state.bands if band.panes.count)
    return max(lasts, default=None)
