"""Request bodies of questions to a cube of the keeper: the question, and its interval of panes in the snapshot of one
commit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from asc.errors import CubeError
from asc.operators.cube.calendar import DAY, Calendar
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.looked_up import LookedUp
from asc.operators.cube.question import LIMIT_MAX, Question, interval_panes
from asc.operators.cube.view import View, grain_text
from asc.operators.times import FIRST_US
from broker.operators.cube.cube_state import CubeState

_DAY_S = 86_400
_OWN = ("last_s", "live", "late", "cursor", "answer_from")
_CURSOR = re.compile(r"([0-9]{1,18})-([0-9]{1,18})(?:-([0-9a-f]{8}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Asked:
    """A checked request body of a question to a cube.

    ``is_live``: whether the answer includes the open panes. ``is_late``: whether the answer includes late records that
    the cube stores separately. ``digest``: a hash of the cube and of all fields of the body except the limit; a cursor
    contains the hash, so that a cursor of another question is refused. ``open_panes``: the number of open panes in the
    interval; the answer includes them only with ``is_live``. ``answer_from``: the stored view that the body names as
    the only one to read; None if the question reads the nearest views.
    """

    question: Question
    is_live: bool
    is_late: bool
    digest: str
    open_panes: int
    answer_from: View | None = None

    def cursor(self, commit: int, shown: int) -> str:
        """Return the cursor for the rows that follow the first ``shown`` rows of an answer. ``commit``: the commit of
        the answer.
        """
        return f"{commit}-{shown}-{self.digest}"

    @staticmethod
    def parse(
        body: Mapping[str, Any], state: CubeState, commit: int, open_from: int | None, seen: LookedUp | None = None
    ) -> Asked:
        """Return the checked request body of a question to a cube. Raise CubeError with the field, the value and the
        remedy.

        ``commit``: the number of the snapshot's commit. ``open_from``: the first open pane; None if no pane is closed.
        The interval of a question that is not live ends at ``open_from`` at the latest, after the last whole interval
        of the question's grain. If no pane is closed, this interval is empty. The interval of ``last_s`` ends at
        ``open_from`` too; in a live question, the interval ends after the newest open pane, rounded up to the
        question's grain. ``seen``: the cube with the attributes of look-ups that the body names. A cursor is valid only
        for the same versions of the tables of these look-ups.
        """
        live = _flag(body, "live", "for the open panes too")
        late = _flag(body, "late", "for late records that stay apart too")
        own = {name: value for name, value in body.items() if name not in _OWN}
        if body.get("last_s") is not None:
            own |= _last(body, state, open_from, is_live=live)
        definition = state.definition if seen is None else seen.definition
        question = Question.parse(own, definition, _time_zone(state), _kept_panes(state), state.kept_from)
        open_panes = _open_panes(state, question, has_end=body.get("last_s") is None)
        identity = "" if seen is None else seen.identity
        digest = _digest(state, question, live, late, identity)
        forced = None if body.get("answer_from") is None else stored_view_of(body["answer_from"], state)
        question = replace(question, skip=_skip(body.get("cursor"), commit, digest, identity))
        if not live:
            question = _of_closed_panes(question, open_from)
        flags: dict[str, Any] = {name: True for name, is_set in (("live", live), ("late", late)) if is_set}
        if body.get("last_s") is not None:
            flags["last_s"] = body["last_s"]
        return Asked(replace(question, body={**(question.body or {}), **flags}), live, late, digest, open_panes, forced)


def stored_view_of(plain: object, state: CubeState) -> View:
    """Return the stored view that the field ``answer_from`` names. ``plain``: the value of the field. Raise CubeError
    if the cube has not stored such a view.
    """
    dimensions, grain_s = state.definition.dimensions, state.grain_us // 1_000_000
    remedy = 'give a stored view as an object, as {"by": ["carrier"], "grain_s": 86400}'
    if not isinstance(plain, Mapping) or not plain.keys() <= {"by", "grain_s"}:
        raise CubeError("answer_from", plain, remedy)
    names = plain.get("by", [])
    if not isinstance(names, Sequence) or isinstance(names, str):
        raise CubeError("answer_from", plain, remedy)
    try:
        panes = interval_panes(plain.get("grain_s"), state.definition, _kept_panes(state)) or 1
        view = View(dimensions.cuboid_of(names), panes)
    except CubeError as error:
        raise CubeError("answer_from", error.value, error.remedy) from None
    stored = [View.base(dimensions), *(own.view for own in state.views if own.filled_to is not None)]
    if view not in stored:
        shown = "; ".join(own.name(dimensions, grain_s) for own in stored)
        is_band = any(own.view == view for own in state.bands)
        fault = "is a band, which is read in any case, and cannot be forced" if is_band else "is not materialised"
        raise CubeError("answer_from", view.name(dimensions, grain_s), f"{fault}: the cube has {shown}")
    return view


def _of_closed_panes(question: Question, open_from: int | None) -> Question:
    """Return the question without the open panes. ``open_from``: as in :meth:`Asked.parse`."""
    if open_from is None:
        return question if question.first is None else replace(question, end=question.first)
    return question.until(open_from) if question.end is None or question.end > open_from else question


def _flag(body: Mapping[str, Any], name: str, what: str) -> bool:
    given = body.get(name) or False
    if not isinstance(given, bool):
        raise CubeError(name, given, f"give true, {what}, or false")
    return given


def _open_panes(state: CubeState, question: Question, *, has_end: bool) -> int:
    """Return the number of open panes in the interval and the hours of a question. ``has_end``: whether the end of the
    interval excludes open panes. It is False with ``last_s``, because a live question with ``last_s`` ends after all
    open panes.
    """
    first, end = question.first, question.end if has_end else None
    panes = [pane for pane in state.panes.open if (first is None or first <= pane) and (end is None or pane < end)]
    if question.hours is None:
        return len(panes)
    return int(question.hours.contains(np.array(panes, dtype=np.int64)).sum())


def _time_zone(state: CubeState) -> str:
    """Return the time zone of a cube's days. The result for a cube whose layout is None is not used, because such a
    cube answers no question.
    """
    return "UTC" if state.layout is None else state.layout.time_zone


def _kept_panes(state: CubeState) -> list[int]:
    """Return the lengths of the panes of bands, in panes of the cube. A question may have each length as its grain."""
    return [band.view.panes for band in state.bands]


def _last(body: Mapping[str, Any], state: CubeState, open_from: int | None, *, is_live: bool) -> dict[str, str]:
    """Return the interval of the last ``last_s`` seconds, as the fields ``from`` and ``to``. If the grain of the
    question is a day of a time zone, each 86,400 seconds of ``last_s`` mean one such day, which may have 23 or 25
    hours.
    """
    last_s = body["last_s"]
    calendar = Calendar.of(body.get("grain"), state.definition, _time_zone(state))
    step = interval_panes(body.get("grain_s"), state.definition, _kept_panes(state)) or 1
    grain_s = step * state.grain_us // 1_000_000 if calendar is None else _DAY_S
    if calendar is not None and calendar.unit != DAY:
        raise CubeError("last_s", last_s, f"gives no begin of a month: give from and to, or grain {DAY}")
    if type(last_s) is not int or last_s < 1:
        raise CubeError("last_s", last_s, f"is no length of time: give a multiple of {grain_text(grain_s)}, the grain")
    if last_s % grain_s:
        multiple_s = -(-last_s // grain_s) * grain_s
        raise CubeError("last_s", last_s, f"is off the grain of {grain_text(grain_s)}: give {multiple_s}")
    if body.get("from") is not None or body.get("to") is not None:
        raise CubeError("last_s", last_s, "is an interval already: leave from and to out, or last_s")
    if is_live and state.panes.open:
        newest = max(state.panes.open) + 1
        end = newest + -newest % step if calendar is None else calendar.ceil(newest)
    elif open_from is not None:
        end = open_from - open_from % step if calendar is None else calendar.floor(open_from)
    else:
        remedy = "no pane has records yet: ask without it" if is_live else "no pane is closed yet: ask with live"
        raise CubeError("last_s", last_s, remedy)
    count = last_s // grain_s
    first = end - count * step if calendar is None else calendar.before(end, count)
    first_us, end_us = first * state.grain_us, end * state.grain_us
    if first_us < FIRST_US:
        raise CubeError("last_s", last_s, "begins before the year 1: give fewer seconds, or leave it out for all panes")
    return {"from": instant_text(first_us), "to": instant_text(end_us)}


def _digest(state: CubeState, question: Question, live: bool, late: bool, lookups: str) -> str:
    """Return a hash of a question and its cube, as eight hexadecimal digits. ``lookups``: the identity of the look-ups'
    tables; empty if the question names no look-up.
    """
    asked: tuple[object, ...] = (state.id.query, state.id.generation, live, late, replace(question, limit=1, body=None))
    if lookups:
        asked = (*asked, lookups)
    return hashlib.blake2b(repr(asked).encode(), digest_size=4).hexdigest()


def _skip(cursor: object, commit: int, digest: str, lookups: str) -> int:
    """Return the number of rows that a cursor skips; 0 if ``cursor`` is None. Raise CubeError if the cursor belongs to
    another commit, question or table of a look-up (``lookups``).
    """
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    if match is None:
        remedy = (
            "is no cursor: give the text cursor of the last answer, from which the next rows follow, or leave it out"
        )
        raise CubeError("cursor", cursor, remedy)
    if int(match[1]) != commit:
        remedy = f"ask without it again, with a limit of up to {LIMIT_MAX:,} for one page"
        raise CubeError("cursor", cursor, f"is of another commit, and the cube is at {commit}: {remedy}")
    if match[3] != digest:
        other = "question, or of another table of a look-up" if lookups else "question"
        raise CubeError("cursor", cursor, f"is of another {other}: give the body that it came with, or leave it out")
    return int(match[2])
