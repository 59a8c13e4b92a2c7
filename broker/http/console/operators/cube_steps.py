"""Links from a view of a cube to other views: to coarser and finer levels, to the view without a slice, and to further
rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.pivot import Axes
from broker.http.console.operators.cube_address import COLUMNS, ROWS, View
from broker.operators.cube.look import Look


@dataclass(frozen=True, slots=True)
class Step:
    """A link to another view, with its text."""

    text: str
    link: str


def roll_ups(view: View, query_id: str, dimensions: Dimensions) -> list[Step]:
    """Return a link for each dimension that groups rows or columns, to the view with the next coarser level. Return no
    links if the view is invalid.
    """
    return [
        Step(f"{name} to {coarser or 'all'}", link) for name, coarser, link in _moved(view, query_id, dimensions, -1)
    ]


def drill_downs(view: View, query_id: str, dimensions: Dimensions) -> list[Step]:
    """Return a link for each dimension that has a finer level than the view, to the view with the next finer level."""
    found = _moved(view, query_id, dimensions, 1)
    return [Step(f"{name} to {finer}" if name else f"by {finer}", link) for name, finer, link in found]


def out_of_slices(view: View, query_id: str) -> list[Step]:
    """Return a link for each slice of the view, to the view without this slice."""
    return [Step(text, view.address(query_id, where=[own for own in view.where if own != text])) for text in view.where]


def pages_of(look: Look, view: View, query_id: str) -> dict[str, Any]:
    """Return the values of a page for paging: texts about the shown rows and columns, and links to the next and the
    first rows and columns.

    ``came_since``: whether the cube has a newer commit than the preceding page.
    """
    pivot, skip = look.pivot, look.question.skip
    columns = view.columns + len(pivot.columns)
    return {
        "rows": _range(skip, len(pivot.rows), pivot.row_count, "group"),
        "next": None if look.cursor is None else view.address(query_id, cursor=look.cursor),
        "first": view.address(query_id, cursor="") if skip else None,
        "columns": _range(view.columns, len(pivot.columns), pivot.column_count, "column"),
        "next_columns": view.address(query_id, columns=columns) if columns < pivot.column_count else None,
        "first_columns": view.address(query_id, columns=0) if view.columns else None,
        "has_columns": pivot.column_count > COLUMNS,
        "is_long": pivot.row_count > ROWS,
        "came_since": view.seen[0] not in {None, look.facts["commit"]},
    }


def _range(skip: int, shown: int, among: int, noun: str) -> str:
    """Return a text about the rows or columns that a page shows. ``skip``: the number on preceding pages. ``shown``:
    the number on this page. ``among``: the number in total.

    >>> _range(50, 50, 1200, "group"), _range(0, 1, 1, "group"), _range(60, 0, 40, "group")
    ('51 to 100 of 1,200 groups', '1 group', 'none of 40 groups')
    """
    nouns = noun if among == 1 else f"{noun}s"
    if shown == among:
        return f"{among:,} {nouns}"
    own = f"{skip + 1:,} to {skip + shown:,}" if shown else "none"
    return f"{own} of {among:,} {nouns}"


def _moved(view: View, query_id: str, dimensions: Dimensions, by: int) -> Iterator[tuple[str, str, str]]:
    """Yield a move for each dimension of the cube: the view's level, the level after the move, and the URL of the view
    after the move. ``by``: the number of levels to move; negative towards coarser levels. The text of level 0 is empty.
    A dimension that has no level after the move is skipped.
    """
    try:
        axes = Axes.of(view.by or [], [view.across] if view.across else [], dimensions)
    except CubeError:
        return
    for place, hierarchy in enumerate(dimensions.hierarchies):
        is_across = axes.across[place] > 0
        level = axes.across[place] if is_across else axes.down[place]
        moved = level + by
        if not 0 <= moved <= len(hierarchy):
            continue
        name, other = (hierarchy[each - 1] if each else "" for each in (level, moved))
        changes = {"across": other} if is_across else {"by": _by(axes.down, place, moved, dimensions)}
        yield name, other, view.address(query_id, **changes)


def _by(levels: Levels, place: int, level: int, dimensions: Dimensions) -> list[str]:
    return dimensions.levels_of((*levels[:place], level, *levels[place + 1 :]), range(len(levels)))
