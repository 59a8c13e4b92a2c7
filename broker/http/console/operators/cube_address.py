"""Addresses of views of a cube: the parameters of a page that show a view, and the links from one view to others."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from asc.errors import CubeError
from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.definition import CubeDefinition
from broker.http.console.pages import quoted_part
from broker.http.guards import CONSOLE
from broker.operators.cube.look import Wanted

ROWS, COLUMNS = 50, 12
"""The most rows and columns of a page."""

SLICES_MAX = 32
"""The most slices of a view."""
_COUNTED = 10**15
_CURSOR = re.compile(r"([0-9]{1,15})-([0-9]{1,15})", re.ASCII)


class View(BaseModel):
    """Content of the page of a cube.

    ``by``: the dimensions of rows; None for a first level of the cube, an empty text for none. ``across``: the
    dimension of columns. ``where``: slices, all of which hold. ``cursor``: the commit of the page before, and the rows
    up to it. ``call``: a function of a declared state, which replaces ``measure``. ``hours``: the local hours that are
    read. ``columns``: the columns on the pages before.
    """

    model_config = ConfigDict(populate_by_name=True, frozen=True)

    by: list[str] | None = None
    across: str = ""
    where: Annotated[list[str], Field(max_length=SLICES_MAX)] = []
    begin: Annotated[str, Field(alias="from")] = ""
    end: Annotated[str, Field(alias="to")] = ""
    hours: str = ""
    live: bool = False
    late: bool = False
    measure: str = ""
    call: str = ""
    order: str = ""
    cursor: str = ""
    columns: Annotated[int, Field(ge=0, le=_COUNTED)] = 0

    def settled(self, definition: CubeDefinition, kept: Levels | None = None) -> View:
        """Return the view without empty names and slices. If it does not say whether it has dimensions of rows, it gets
        the first level of the cube's first dimension of which older panes keep a level. The dimension of the columns is
        removed from the rows.

        ``kept``: the levels that all kept panes have; None if they are not known.
        """
        dimensions = definition.dimensions
        by = [name for name in self.by if name] if self.by is not None else _first(dimensions, kept)
        if self.across:
            of_columns = _hierarchy(self.across, dimensions)
            by = [name for name in by if of_columns is None or _hierarchy(name, dimensions) != of_columns]
        where = [text for text in dict.fromkeys(self.where) if text.strip()]
        return self.model_copy(update={"by": by, "where": where})

    def wanted(self) -> Wanted:
        """Return the content that the view requests from the cube. Raise CubeError for an invalid cursor."""
        order = [self.order] if self.order else None
        body: dict[str, Any] = {
            "where": " AND ".join(f"({text})" for text in self.where) or None,
            "from": self.begin or None,
            "to": self.end or None,
            "hours": self.hours or None,
            "live": self.live or None,
            "late": self.late or None,
            "order": order,
            "limit": ROWS,
        }
        return Wanted(
            {name: value for name, value in body.items() if value is not None},
            skip=self.seen[1],
            down=self.by or [],
            across=[self.across] if self.across else [],
            measure=self.call.strip() or self.measure or None,
            columns_skip=self.columns,
            columns_most=COLUMNS,
        )

    @property
    def seen(self) -> tuple[int | None, int]:
        """Return the commit from which the preceding page was read, and the number of rows up to the end of that page.
        Without a preceding page, return None and 0.
        """
        if not self.cursor:
            return None, 0
        found = _CURSOR.fullmatch(self.cursor)
        if found is None:
            raise CubeError(
                "cursor", self.cursor, "is no cursor: follow the links of a page to further rows, or leave it out"
            )
        return int(found[1]), int(found[2])

    def address(self, query_id: str, **changes: Any) -> str:
        """Return the address of the view with some fields changed. It is the address of the view's first page, unless
        the changes contain ``cursor`` or ``columns``.
        """
        first = {} if changes.keys() & {"cursor", "columns"} else {"cursor": "", "columns": 0}
        new = self.model_copy(update={**first, **changes})
        fields: list[tuple[str, object]] = [("by", name) for name in new.by or [""]]
        fields += [("where", text) for text in new.where]
        rest = {
            **{"across": new.across, "from": new.begin, "to": new.end, "hours": new.hours},
            **{"live": "true" if new.live else "", "late": "true" if new.late else ""},
            **{"measure": new.measure, "call": new.call, "order": new.order},
            **{"cursor": new.cursor, "columns": new.columns or ""},
        }
        fields += [(name, value) for name, value in rest.items() if value]
        return f"{cube_address(query_id)}?{urlencode(fields)}"


def cube_address(query_id: str) -> str:
    """Return the address of a cube's page.

    >>> cube_address("late")
    '/console/cubes/late'
    """
    return f"{CONSOLE}/cubes/{quoted_part(query_id)}"


def _first(dimensions: Dimensions, kept: Levels | None) -> list[str]:
    levels = zip(dimensions.hierarchies, dimensions.base if kept is None else kept, strict=True)
    return [hierarchy[0] for hierarchy, level in levels if level][:1]


def _hierarchy(name: str, dimensions: Dimensions) -> int | None:
    """Return the index of the hierarchy that contains the level ``name``. Return None if no hierarchy contains it."""
    try:
        (place,) = dimensions.order_of([name])
    except CubeError:
        return None
    return place
