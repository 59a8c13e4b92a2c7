"""Answers to questions: the cells of an interval, rolled up to the cuboids of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from asc.operators.cube.answer_memory import Reserve, unbounded
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.json_values import bound_text
from asc.operators.cube.layout import Layout
from asc.operators.cube.neighbours import drill_down, roll_up
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.rows import check_measures, rows_of
from asc.operators.cube.selection import selected
from asc.operators.cube.source import Source, needed
from asc.operators.cube.view import View


def answer(layout: Layout, parts: Sequence[Part], question: Question, reserve: Reserve = unbounded) -> dict[str, Any]:
    """Return the answer to a question, as the JSON object of the API. ``parts``: disjoint parts of the interval, at
    least one, merged in their order. The cells of each part have the dimensions that the question names.

    ``reserve`` is called before each step with the number of bytes that the step needs in addition to the parts. It may
    raise an exception, which ends the computation before the step.

    Cost: if this gives fewer groups, one pass over the cells of the interval groups them by all dimensions that the
    question names. Then each cuboid is rolled up from the finer cuboid with the fewest cells.
    """
    check_measures(layout, question)
    read = selected(parts, question, reserve)
    source = needed(layout, read, question, reserve)
    made = _rolled_up(layout, source, question.cuboids, reserve)
    rows: list[dict[str, Any]] = []
    groups = overflows = 0
    skip = question.skip
    for cuboid in question.cuboids:
        own = made[cuboid]
        most = question.limit - len(rows)
        found = rows_of(layout, own.cells, own.columns, question, most, skip=skip, reserve=reserve)
        skip = max(0, skip - found.groups)
        rows += found.rows
        groups += found.groups
        overflows += found.overflows
    dimensions = layout.definition.dimensions
    return {
        "interval": interval_of(layout, parts, question),
        "answered_by": answered_by(layout, read),
        "groups": groups,
        "overflows": overflows,
        "rows": rows,
        "roll_up": roll_up(question, dimensions, reserve),
        "drill_down": drill_down(question, dimensions, reserve),
    }


def _rolled_up(layout: Layout, source: Source, cuboids: Sequence[Levels], reserve: Reserve) -> Mapping[Levels, Source]:
    """Return the cells of each cuboid, rolled up from the finer cuboid with the fewest cells."""
    made: dict[Levels, Source] = {}
    # Sets of columns are stored as bits with the number of cells, because thousands of cuboids are compared with each
    # other.
    sized = [(_bits(source.columns), source.count, source)]
    for cuboid in sorted(cuboids, key=sum, reverse=True):
        wanted = layout.definition.dimensions.columns(cuboid)
        bits = _bits(wanted)
        _, _, finer = min((own for own in reversed(sized) if bits & own[0] == bits), key=itemgetter(1))
        made[cuboid] = finer.rolled_up(layout, wanted, reserve)
        sized.append((bits, made[cuboid].count, made[cuboid]))
    return made


def _bits(places: Sequence[int]) -> int:
    return sum(1 << place for place in places)


def interval_of(layout: Layout, parts: Sequence[Part], question: Question) -> list[str] | None:
    """Return the interval of a question as two texts. If the question omits a bound, the first or last stored cell
    determines it, also if the question's hours exclude this cell. Return None if the cube has no time, or if the bound
    is omitted and no cell exists.

    ``parts``: as in :func:`answer`.
    """
    grain_us = layout.definition.grain_us
    first, end = question.first, question.end
    within = [part.between(first, end) for part in parts]
    some = [part for part in within if part.count]
    if first is None and some:
        first = min(int(part.cells.panes[0]) for part in some)
    if end is None and some:
        end = max(int(part.cells.panes[-1]) + part.view.panes for part in some)
    if question.has_intervals and first is not None and end is not None:
        first, end = question.floor(first), question.ceil(end)
    if grain_us is None or first is None or end is None:
        return None
    return [bound_text(first * grain_us), bound_text(end * grain_us)]


def answered_by(layout: Layout, read: Sequence[Part]) -> list[dict[str, Any]]:
    """Return for each view that an answer reads its cuboid, its grain, and the numbers of panes and cells that were
    read.
    """
    definition = layout.definition
    by_view: dict[View, list[Part]] = {}
    for part in read:
        by_view.setdefault(part.view, []).append(part)
    return [
        {
            "cuboid": [name for place, name in enumerate(layout.stored_names) if place in parts[0].columns],
            "grain_s": None if definition.grain_s is None else definition.grain_s * view.panes,
            "panes": len(np.unique(np.concatenate([part.cells.different_panes() for part in parts]))),
            "cells": sum(part.count for part in parts),
        }
        for view, parts in by_view.items()
    ]
