"""Sources of answers: the cells of an interval that a question accepts, to be rolled up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError, PredicateError
from asc.frozen import frozen
from asc.matcher import Matcher
from asc.operators.cube.answer_memory import Reserve, held, joining_bytes, judging_bytes, merging_bytes, unbounded
from asc.operators.cube.cells import Cells, joined, merged
from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.question import Question
from asc.predicate import Predicate, normalise

_NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Cells with the keys of some dimensions, by the places of these; not merged where ``is_merged`` is false.

    ``by_pane``: whether each pane, which is an interval of the question's grain then, has cells of its own.
    """

    cells: Cells
    columns: tuple[int, ...]
    is_merged: bool = True
    by_pane: bool = False

    def rolled_up(self, layout: Layout, columns: tuple[int, ...], reserve: Reserve = unbounded) -> Source:
        """Return the cells of a coarser cuboid, or of the same one, all panes in one unless they are apart."""
        if self.is_merged and columns == self.columns:
            reserve(0)
            return self
        own = self.cells.rolled_up([self.columns.index(place) for place in columns])
        with held(reserve, merging_bytes(own)):
            found = merged(layout, [own], by_pane=self.by_pane)
        reserve(found.size_bytes)
        return Source(found, columns, by_pane=self.by_pane)


def needed(layout: Layout, read: Sequence[Cells], question: Question, reserve: Reserve = unbounded) -> Source:
    """Return the cells of the interval that WHERE accepts, with the keys of the dimensions that the question names.

    Their panes are intervals of the question's grain, where it has one.
    """
    columns = {place for cuboid in question.cuboids for place in layout.definition.dimensions.columns(cuboid)}
    predicate = None if question.where is None else _predicate(layout, question.where)
    named = () if predicate is None else _named(layout, predicate)
    places = tuple(sorted({*columns, *named}))
    parts = [part.rolled_up(places) for part in read]
    reserve(joining_bytes(parts))
    found = joined(layout, parts)
    if predicate is not None and not predicate.match_all and found.count:
        keys = [found.keys[places.index(place)] for place in named]
        with held(reserve, judging_bytes(keys)):
            accepted = _accepted(layout, predicate.text, keys, named, found.count) if named else None
        reserve(0 if accepted is None else found.size_bytes * len(accepted) // found.count)
        found = found.slice(0, 0) if accepted is None else found.take(accepted)
    kept = tuple(sorted(columns))
    if question.panes is not None:
        found = replace(found, panes=frozen(found.panes // question.panes))
    source = Source(found, places, is_merged=False, by_pane=question.panes is not None)
    # Where the groups may be as many as the cells, to merge these first would only be one pass more.
    groups = prod(found.keys[places.index(place)].radix for place in kept)
    if source.by_pane and found.count:
        groups *= pane_digit(found.panes)[1]
    is_smaller = len(question.cuboids) > 1 and 2 * groups <= found.count
    return source.rolled_up(layout, kept, reserve) if is_smaller else source


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
