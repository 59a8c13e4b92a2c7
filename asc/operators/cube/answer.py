"""Answers: cells in an interval, rolled up to the cuboids of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError, PredicateError
from asc.frozen import frozen
from asc.matcher import Matcher
from asc.operators.cube.cells import Cells, joined, merged
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.grouping import Grouping
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.neighbours import drill_down, roll_up
from asc.operators.cube.question import Question
from asc.operators.cube.rows import rows_of
from asc.predicate import Predicate, normalise

_NAMES_SHOWN = 20


def answer(
    layout: Layout, parts: Sequence[Cells], question: Question, reserve: Callable[[int], None] = lambda size_bytes: None
) -> dict[str, Any]:
    """Return the answer to a question, from cells of the base cuboid, merged in the order of the parts.

    ``reserve`` is called for each cuboid, with the bytes of the cells that are held for it, and may raise.

    Cost: the cells of the interval are gone through once, where they make fewer groups of all that the question names;
    each cuboid is rolled up from the smallest one that is finer.
    """
    read = [part.between(question.first, question.end) for part in parts]
    source = _needed(layout, read, question)
    made: dict[Levels, _Source] = {}
    for cuboid in sorted(question.cuboids, key=sum, reverse=True):
        wanted = layout.definition.dimensions.columns(cuboid)
        finer = [own for own in (*made.values(), source) if set(wanted) <= set(own.columns)]
        made[cuboid] = min(finer, key=lambda own: own.cells.count).rolled_up(layout, wanted)
        reserve(made[cuboid].cells.size_bytes)
    rows: list[dict[str, Any]] = []
    groups = overflows = 0
    skip = question.skip
    for cuboid in question.cuboids:
        own = made[cuboid]
        reserve(0)
        found = rows_of(layout, own.cells, own.columns, question, question.limit - len(rows), skip=skip)
        skip = max(0, skip - found.groups)
        rows += found.rows
        groups += found.groups
        overflows += found.overflows
    dimensions = layout.definition.dimensions
    return {
        "interval": _interval(layout, read, question),
        "answered_by": [_answered_by(layout, read)],
        "groups": groups,
        "overflows": overflows,
        "rows": rows,
        "roll_up": roll_up(question, dimensions),
        "drill_down": drill_down(question, dimensions),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """Cells with the keys of some dimensions, by the places of these; not merged where ``is_merged`` is false."""

    cells: Cells
    columns: tuple[int, ...]
    is_merged: bool = True

    def rolled_up(self, layout: Layout, columns: tuple[int, ...]) -> _Source:
        """Return the cells of a coarser cuboid, or of the same one, all panes in one."""
        if self.is_merged and columns == self.columns:
            return self
        own = self.cells.rolled_up([self.columns.index(place) for place in columns])
        return _Source(merged(layout, [own], by_pane=False), columns)


def _needed(layout: Layout, read: Sequence[Cells], question: Question) -> _Source:
    """Return the cells of the interval that WHERE accepts, with the keys of the dimensions that the question names."""
    columns = {place for cuboid in question.cuboids for place in layout.definition.dimensions.columns(cuboid)}
    predicate = None if question.where is None else _predicate(layout, question.where)
    named = () if predicate is None else _named(layout, predicate)
    places = tuple(sorted({*columns, *named}))
    found = joined(layout, [part.rolled_up(places) for part in read])
    if predicate is not None and not predicate.match_all and found.count:
        keys = [found.keys[places.index(place)] for place in named]
        found = found.take(_accepted(layout, predicate.text, keys, named, found.count)) if named else found.slice(0, 0)
    kept = tuple(sorted(columns))
    source = _Source(found, places, is_merged=False)
    # Where the groups may be as many as the cells, to merge these first would only be one pass more.
    groups = prod(found.keys[places.index(place)].radix for place in kept)
    return source.rolled_up(layout, kept) if len(question.cuboids) > 1 and 2 * groups <= found.count else source


def _predicate(layout: Layout, where: str) -> Predicate:
    """Return a predicate over dimensions; CubeError where it is none."""
    try:
        predicate = normalise(where, layout.group_schema, time_zone=layout.time_zone)
    except PredicateError as error:
        if error.subject == "unknown column":
            shown = ", ".join(layout.definition.dimensions.names[:_NAMES_SHOWN])
            raise CubeError("where", str(error.value), f"is no dimension: name some of {shown}") from None
        raise
    for attribute in predicate.p_attributes:
        if attribute.is_computed:
            remedy = "is no comparison of a dimension with constants: write such ones, joined by AND and OR"
            raise CubeError("where", attribute.as_written, remedy)
    return predicate


def _named(layout: Layout, predicate: Predicate) -> tuple[int, ...]:
    """Return the places of the dimensions that a predicate names."""
    named = {path[0] for path in predicate.columns}
    return tuple(place for place, name in enumerate(layout.definition.dimensions.names) if name in named)


def _accepted(
    layout: Layout, where: str, keys: Sequence[Key], named: Sequence[int], count: int
) -> npt.NDArray[np.int64]:
    """Return the places of the cells whose group a predicate accepts. Each different group is judged once."""
    rows = frozen(np.arange(count, dtype=np.int64))
    grouping = Grouping.of([(key.codes, key.radix) for key in keys], rows)
    own = {
        layout.dimensions[place].sql: key.take(grouping.firsts).array() for place, key in zip(named, keys, strict=True)
    }
    others = [operand for operand in layout.dimensions if operand.sql not in own]
    columns = {**own, **{operand.sql: pa.nulls(grouping.count, operand.type) for operand in others}}
    matcher = Matcher(layout.group_schema, {"where": where}, time_zone=layout.time_zone)
    accepted = np.zeros(grouping.count, dtype=np.bool_)
    accepted[matcher.match(pa.table(columns))["row"].to_numpy()] = True
    return np.flatnonzero(accepted[grouping.cells])


def _interval(layout: Layout, read: Sequence[Cells], question: Question) -> list[str] | None:
    """Return the interval that was asked for; where it has no bound, that of the cells. None where there is no time."""
    grain_us = layout.definition.grain_us
    some = [part.panes for part in read if part.count]
    first, end = question.first, question.end
    if first is None and some:
        first = min(int(panes[0]) for panes in some)
    if end is None and some:
        end = max(int(panes[-1]) for panes in some) + 1
    if grain_us is None or first is None or end is None:
        return None
    return [instant_text(first * grain_us), instant_text(end * grain_us)]


def _answered_by(layout: Layout, read: Sequence[Cells]) -> dict[str, Any]:
    definition = layout.definition
    panes = np.unique(np.concatenate([part.different_panes() for part in read]))
    cells = sum(part.count for part in read)
    return {
        "cuboid": list(definition.dimensions.names),
        "grain_s": definition.grain_s,
        "panes": len(panes),
        "cells": cells,
    }
