"""The pivot table of a cube for a page. Each group links to the view that is sliced by this group."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.slice_text import slice_text
from asc.operators.cube.view import grain_text
from broker.answers.bounded import is_bounded, nested_text, sides_of
from broker.http.console.operators.cube_address import View
from broker.operators.cube.look import Look

_LEAST_WHOLE, _MOST_WHOLE = 1e5, 1e15
"""The bounds of doubles that are shown as whole numbers without a power of ten: the absolute value is at least the
first bound and less than the second.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value on a page: its displayed text, and the full value as a title.

    ``side``: the bounds of an estimate, shown beside the value. ``is_word``: whether the text is a word that represents
    a value, such as NULL. ``link``: the URL that the value links to; None for no link. ``sort``: for a heading,
    ``ascending`` or ``descending`` if the table is ordered by it.
    """

    text: str
    title: str = ""
    is_word: bool = False
    link: str | None = None
    sort: str | None = None
    side: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A pivot table for a page.

    ``dimensions``: the headings of the columns with groups. ``headings``: the headings of the columns with values.
    ``rows``: the group and the values of each row. ``total``: the values over all groups. ``has_columns``: whether the
    headings are groups of a dimension, so that all values are of one measure.
    """

    dimensions: Sequence[str]
    headings: Sequence[Shown]
    rows: Sequence[tuple[Sequence[Shown], Sequence[Shown]]]
    total: Sequence[Shown]
    has_columns: bool


@dataclass(frozen=True, slots=True)
class Source:
    """A stored view from which an answer is computed. ``cuboid``: its levels as text. ``grain``: the length of its
    panes as text. ``panes``, ``cells``: the numbers of panes and cells that the answer read.
    """

    cuboid: str
    grain: str
    panes: int
    cells: int


def table_of(look: Look, view: View, query_id: str) -> Table:
    """Return the table of a view's answer. If the view groups columns by a dimension, the table shows one measure;
    otherwise it shows all measures.
    """
    names = _names(look, look.axes.down)
    measure = look.measure.name
    links = _Links(look, view, query_id)
    if not any(look.axes.across):
        own = [measure.name for measure in look.question.measures]
        rows = [(links.group(row["group"], names), [value_of(row[name]) for name in own]) for row in look.pivot.rows]
        total = [value_of(look.pivot.total[name]) for name in own]
        return Table(names, [links.ordered(name, name) for name in own], rows, total, has_columns=False)
    headings = [links.column(column["group"]) for column in look.pivot.columns]
    rows = [
        (links.group(row["group"], names), [*_cells(look, place, measure), value_of(row[measure])])
        for place, row in enumerate(look.pivot.rows)
    ]
    total = [*(value_of(column[measure]) for column in look.pivot.columns), value_of(look.pivot.total[measure])]
    return Table(names, [*headings, links.ordered(measure, "all")], rows, total, has_columns=True)


def sources_of(look: Look) -> list[Source]:
    """Return the stored views whose cells an answer is computed from. Views without panes in the interval are listed
    only if all views are so.
    """
    sources = [
        Source(
            ", ".join(own["cuboid"]) or "()",
            "-" if own["grain_s"] is None else grain_text(own["grain_s"]),
            own["panes"],
            own["cells"],
        )
        for own in look.answered_by
    ]
    return [own for own in sources if own.panes] or sources


def value_of(value: Any) -> Shown:
    """Return the value of a measure for display. An integer is shown in full, a double with six digits. The tooltip has
    the full value.

    >>> [value_of(value).text for value in (1234567, 2 / 3, 7.1e8 + 0.25, 1e-9, None, "12.50")]
    ['1,234,567', '0.666667', '710,000,000', '1e-09', 'NULL', '12.50']
    >>> value_of({"estimate": 78.1, "low": 77.5, "high": 79.0, "confidence": 0.95}).side
    '77.5 to 79'
    """
    if value is None:
        return Shown("NULL", "no value", is_word=True)
    if isinstance(value, bool):
        return Shown("true" if value else "false")
    if isinstance(value, int):
        return Shown(f"{value:,}", f"{value:,}")
    if isinstance(value, float):
        is_plain = _LEAST_WHOLE <= abs(value) < _MOST_WHOLE
        return Shown(f"{value:,.0f}" if is_plain else f"{value:,.6g}", repr(value))
    if is_bounded(value):
        return _with_bounds(value)
    if isinstance(value, Mapping | list):
        return Shown(nested_text(value), json.dumps(value, ensure_ascii=False))
    return Shown(str(value), str(value))


def _with_bounds(value: Mapping[str, Any]) -> Shown:
    """Return an estimate for display, with its bounds beside it. ``value``: the estimate and the bounds, by name."""
    own = value_of(value["estimate"])
    sides = {heading: value_of(side).text for heading, side in sides_of(value).items()}
    is_interval = list(sides) == ["low", "high"]
    side = f"{sides['low']} to {sides['high']}" if is_interval else ", ".join(map(" ".join, sides.items()))
    return replace(own, title=json.dumps(value, ensure_ascii=False), side=side)


def group_value(value: Any) -> Shown:
    """Return the value of a group at one level for display. NULL and the empty text are shown as words.

    >>> group_value(None).text, group_value("NULL").is_word, group_value("").text, group_value(True).text
    ('NULL', False, 'empty', 'true')
    """
    if value is None:
        return Shown("NULL", "the group of records without a value", is_word=True)
    if value == "":
        return Shown("empty", "the text without characters", is_word=True)
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    return Shown(text, text)


class _Links:
    """The links of a table. Each link leads to another view of the cube."""

    def __init__(self, look: Look, view: View, query_id: str) -> None:
        self._look = look
        self._view = view
        self._query_id = query_id

    def group(self, group: Mapping[str, Any], names: Sequence[str]) -> list[Shown]:
        """Return the values of a row's group, one for each level in ``names``. Each value links to the view that is
        sliced by this value and by the values of the coarser levels of its dimension.
        """
        return [self._sliced(group_value(group[name]), self._prefix(group, name)) for name in names]

    def column(self, group: Mapping[str, Any]) -> Shown:
        """Return the group of a column as one text, which links to the view that is sliced by this group."""
        values = [group_value(value) for value in group.values()]
        text = " / ".join(own.text for own in values)
        return self._sliced(Shown(text, text, is_word=any(own.is_word for own in values)), group)

    def ordered(self, measure: str, text: str) -> Shown:
        """Return a heading that links to the next order of the table. The orders are: by the measure, descending; by
        the measure, ascending; by group.
        """
        own = self._view.order
        following = {f"{measure} DESC": f"{measure} ASC", f"{measure} ASC": ""}.get(own, f"{measure} DESC")
        sort = {f"{measure} DESC": "descending", f"{measure} ASC": "ascending"}.get(own)
        return Shown(text, text, link=self._view.address(self._query_id, order=following), sort=sort)

    def _prefix(self, group: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return the values of a group at the level ``name`` and at the coarser levels of its dimension, by level."""
        dimensions = self._look.layout.definition.dimensions
        names = _names(self._look, dimensions.cuboid_of([name]))
        return {own: group[own] for own in names}

    def _sliced(self, shown: Shown, group: Mapping[str, Any]) -> Shown:
        where = slice_text(self._look.layout, group)
        if where is None or where in self._view.where:
            return shown
        # The new slice implies slices by coarser levels of the same dimension, so they are removed.
        names = list(group)
        implied = {slice_text(self._look.layout, {own: group[own] for own in names[:end]}) for end in range(len(names))}
        kept = [own for own in self._view.where if own not in implied]
        link = self._view.address(self._query_id, where=[*kept, where])
        return Shown(shown.text, shown.title, shown.is_word, link)


def _names(look: Look, levels: Levels) -> list[str]:
    return look.layout.definition.dimensions.levels_of(levels, range(len(levels)))


def _cells(look: Look, row: int, measure: str) -> list[Shown]:
    """Return the values of one measure in the cells of a row. If a cell contains no record, the text is empty."""
    cells = (look.pivot.cells.get((row, column)) for column in range(len(look.pivot.columns)))
    return [Shown("") if cell is None else value_of(cell[measure]) for cell in cells]
