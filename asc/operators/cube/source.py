"""Sources of answers: the cells of an interval that WHERE accepts, before they are rolled up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError, PredicateError
from asc.frozen import frozen
from asc.matcher import Matcher
from asc.operators.cube.answer_memory import Reserve, held, joining_bytes, judging_bytes, merging_bytes, unbounded
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.predicate import Predicate, normalise
from asc.spark_types import backquoted, folded, quoted_name

_NAMES_SHOWN = 20
_GROUP_CELLS = 2
"""The least number of cells per group for which merging the cells first makes the answer faster."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Cells in one or more parts, with the keys of the dimensions at the indices ``columns``. ``is_merged``: whether
    there is one part, in which cells with equal keys are merged.

    ``by_pane``: whether cells of different panes stay separate. Each pane is then an interval of the question's grain.
    """

    parts: tuple[Cells, ...]
    columns: tuple[int, ...]
    is_merged: bool = True
    by_pane: bool = False

    @property
    def count(self) -> int:
        """Return the number of cells of all parts."""
        return sum(part.count for part in self.parts)

    @property
    def cells(self) -> Cells:
        """Return the cells of the only part. The cells must have been merged."""
        (found,) = self.parts
        return found

    def rolled_up(self, layout: Layout, columns: tuple[int, ...], reserve: Reserve = unbounded) -> Source:
        """Return the cells of the same or a coarser cuboid. All panes are combined if ``by_pane`` is false.

        If a part has far fewer groups than cells, the part is first merged alone, while its cells are in the
        processor's cache. So the large parts need not be copied into one.
        """
        if self.is_merged and columns == self.columns:
            reserve(0)
            return self
        kept = [self.columns.index(place) for place in columns]
        parts = [part.rolled_up(kept) for part in self.parts]
        if len(parts) > 1:
            parts = [self._reduced(layout, part, reserve) for part in parts]
        with held(reserve, joining_bytes(parts) + sum(map(merging_bytes, parts))):
            found = merged(layout, parts, by_pane=self.by_pane)
        # The reduced parts are released after the merge.
        reserve(found.size_bytes - (sum(part.size_bytes for part in parts) if len(parts) > 1 else 0))
        return Source((found,), columns, by_pane=self.by_pane)

    def _reduced(self, layout: Layout, part: Cells, reserve: Reserve) -> Cells:
        """Return the groups of one part. If there may be nearly as many groups as cells, return the part unchanged."""
        if _GROUP_CELLS * _groups([part], by_pane=self.by_pane) <= part.count:
            with held(reserve, merging_bytes(part)):
                part = merged(layout, [part], by_pane=self.by_pane)
        reserve(part.size_bytes)
        return part


def needed(layout: Layout, read: Sequence[Part], question: Question, reserve: Reserve = unbounded) -> Source:
    """Return the cells of the interval that WHERE accepts, with the keys of the dimensions that the question groups by.

    If the question has a grain, the pane numbers of these cells are the numbers of its intervals.
    """
    columns = _columns(layout, question)
    predicate = None if question.where is None else _predicate(layout, question.where)
    named = () if predicate is None else _named(layout, predicate)
    places = tuple(sorted({*columns, *named}))
    parts = [part.keyed_by(places) for part in read if part.count] or [read[0].keyed_by(places)]
    if predicate is not None and not predicate.match_all:
        own = {place: places.index(place) for place in named}
        parts = _accepted_parts(layout, predicate.text, parts, own, reserve)
    if question.has_intervals:
        parts = [replace(part, panes=frozen(_numbers(part, question))) for part in parts]
    source = Source(tuple(parts), places, is_merged=False, by_pane=question.has_intervals)
    kept = tuple(sorted(columns))
    if len(question.cuboids) == 1:
        return source
    # If there are about as many groups as cells, merging here would only be one more pass.
    groups = _groups([part.rolled_up([places.index(place) for place in kept]) for part in parts], source.by_pane)
    return source.rolled_up(layout, kept, reserve) if _GROUP_CELLS * groups <= source.count else source


def needed_columns(layout: Layout, question: Question) -> tuple[int, ...]:
    """Return the indices of the dimensions that a question names in its cuboids, in WHERE or by its scope, ascending.
    Raise CubeError if WHERE is no predicate over dimensions.
    """
    named = () if question.where is None else _named(layout, _predicate(layout, question.where))
    # A scope only requires the coarsest level; :meth:`Within.exact` chooses the finest stored level.
    scoped = () if question.within is None else (question.within.first,)
    return tuple(sorted({*_columns(layout, question), *named, *scoped}))


def _columns(layout: Layout, question: Question) -> set[int]:
    return {place for cuboid in question.cuboids for place in layout.definition.dimensions.columns(cuboid)}


def _numbers(part: Cells, question: Question) -> npt.NDArray[np.int64]:
    """Return for each cell the number of the interval of the question's grain that contains the cell's pane."""
    if question.calendar is None:
        return question.numbers(part.panes)
    panes = part.different_panes()
    counts = np.diff(np.append(np.searchsorted(part.panes, panes), part.count))
    return np.repeat(question.calendar.numbers(panes), counts)


def _groups(parts: Sequence[Cells], by_pane: bool) -> int:
    """Return an upper estimate of the number of groups in parts of a cuboid."""
    some = [part for part in parts if part.count]
    if not some:
        return 0
    radixes = [max(part.keys[place].radix for part in some) for place in range(len(some[0].keys))]
    panes = sum(pane_digit(part.panes)[1] for part in some) if by_pane else 1
    return prod(radixes) * panes


def _accepted_parts(
    layout: Layout, where: str, parts: Sequence[Cells], named: Mapping[int, int], reserve: Reserve
) -> list[Cells]:
    """Return the cells whose group a predicate accepts, in as many parts. If ``named`` is empty, return one part
    without cells.

    ``named``: by the index of each dimension in the predicate, the index of its key in the parts.
    """
    if not named:
        return [parts[0].slice(0, 0)]
    bounds = np.cumsum([0, *(part.count for part in parts)]).tolist()
    keys = [replace(part.rolled_up(list(named.values())), states=()) for part in parts]
    with held(reserve, joining_bytes(keys) + judging_bytes([key for part in keys for key in part.keys])):
        joined_keys = [Key.joined(several) for several in zip(*(part.keys for part in keys), strict=True)]
        accepted = _accepted(layout, where, joined_keys, list(named), bounds[-1])
    own = np.split(accepted, np.searchsorted(accepted, bounds[1:-1]))
    reserve(sum(part.size_bytes * len(rows) // max(part.count, 1) for part, rows in zip(parts, own, strict=True)))
    return [part.take(rows - first) for part, rows, first in zip(parts, own, bounds[:-1], strict=True)]


def _predicate(layout: Layout, where: str) -> Predicate:
    """Return the predicate in a text. Raise CubeError if the text is not a predicate over dimensions."""
    try:
        predicate = normalise(where, layout.group_schema, time_zone=layout.time_zone)
    except PredicateError as error:
        if error.subject == "unknown column":
            raise _no_dimension(layout, where, str(error.value)) from None
        raise
    for attribute in predicate.p_attributes:
        if attribute.is_computed:
            meant = _written_plainly(layout, attribute.as_written)
            remedy = "is no comparison of a dimension with constants of its type: write such ones, joined by AND and OR"
            if meant:
                remedy = f"is no dimension: write {backquoted(meant[0])} in backquotes"
            raise CubeError("where", attribute.as_written, remedy)
    return predicate


def _no_dimension(layout: Layout, where: str, column: str) -> CubeError:
    """Return the error for a name in a predicate that is no dimension. If a dimension that needs backquotes contains
    the name, the error names this dimension. A dimension whose whole text is in the predicate is preferred.
    """
    word = re.compile(rf"(?<!\w){re.escape(column)}(?!\w)", re.IGNORECASE)
    names = layout.stored_names
    meant = [name for name in (*_written_plainly(layout, where), *_expressions(names)) if word.search(name)]
    if meant:
        return CubeError("where", column, f"is no dimension: write {backquoted(meant[0])} in backquotes")
    return CubeError(
        "where", column, f"is no dimension: name some of {', '.join(map(quoted_name, names[:_NAMES_SHOWN]))}"
    )


def _written_plainly(layout: Layout, where: str) -> list[str]:
    """Return the dimensions that need backquotes and whose text occurs in a predicate, the longest first."""
    text = _spaceless(where)
    found = [name for name in _expressions(layout.stored_names) if _spaceless(name) in text]
    return sorted(found, key=len, reverse=True)


def _expressions(names: Sequence[str]) -> list[str]:
    """Return the names that need backquotes."""
    return [name for name in names if quoted_name(name) != name]


def _spaceless(text: str) -> str:
    return folded("".join(text.split()))


def _named(layout: Layout, predicate: Predicate) -> tuple[int, ...]:
    """Return the indices of the dimensions that a predicate names."""
    named = layout.names_of(predicate.columns)
    return tuple(place for place, name in enumerate(layout.definition.dimensions.names) if name in named)


def _accepted(
    layout: Layout, where: str, keys: Sequence[Key], named: Sequence[int], count: int
) -> npt.NDArray[np.int64]:
    """Return the indices of the cells whose group a predicate accepts. Each distinct group is evaluated once."""
    grouping = Grouping.of([(key.codes, key.radix) for key in keys], count)
    own = {
        layout.dimensions[place].sql: key.take(grouping.firsts).array() for place, key in zip(named, keys, strict=True)
    }
    others = [operand for operand in layout.dimensions if operand.sql not in own]
    columns = {**own, **{operand.sql: pa.nulls(grouping.count, operand.type) for operand in others}}
    matcher = Matcher(layout.group_schema, {"where": where}, time_zone=layout.time_zone)
    accepted = np.zeros(grouping.count, dtype=np.bool_)
    accepted[matcher.match(layout.group_table(columns))["row"].to_numpy()] = True
    return np.flatnonzero(accepted[grouping.cells])
