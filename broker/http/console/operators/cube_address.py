"""URLs of a cube's page: their parameters determine which groups and measures the page shows, and links change some of
these parameters.
"""

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
"""The largest numbers of rows and of columns that the pivot table on a page has."""

SLICES_MAX = 32
"""The largest number of slices of a view. A slice is a condition on dimensions, which selects cells."""
_COUNTED = 10**15
_CURSOR = re.compile(r"([0-9]{1,15})-([0-9]{1,15})", re.ASCII)


class View(BaseModel):
    """The content of a cube's page, as the parameters of the page's URL.

    ``by``: the levels that group the rows; None means the first level of the cube, and an empty text means no level.
    ``across``: the level that groups the columns; empty for no columns. ``where``: slices, each a predicate; the view
    contains only cells that satisfy all of them. ``begin``, ``end``: the interval of event time. ``hours``: the local
    hours whose panes are read. ``live``, ``late``: whether open panes and separately stored late records count.
    ``measure``: the measure that the table with columns shows. ``call``: a function of a declared state, used in place
    of ``measure``. ``order``: a measure and a direction, such as ``delay DESC``. ``cursor``: the commit from which the
    preceding page was read, and the number of rows up to that page's end. ``columns``: the number of columns on the
    preceding pages.
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
        """Return the view without empty names and slices. If ``by`` is None, the rows are grouped by the first level of
        one dimension: the first dimension of which all kept panes have a level. A dimension that groups the columns is
        removed from the rows.

        ``kept``: for each dimension, the finest level that all kept panes have; None means that every pane has the
        finest level.
        """
        dimensions = definition.dimensions
        by = [name for name in self.by if name] if self.by is not None else _first(dimensions, kept)
        if self.across:
            of_columns = _hierarchy(self.across, dimensions)
            by = [name for name in by if of_columns is None or _hierarchy(name, dimensions) != of_columns]
        where = [text for text in dict.fromkeys(self.where) if text.strip()]
        return self.model_copy(update={"by": by, "where": where})

    def wanted(self) -> Wanted:
        """Return the question to the cube whose answer the page shows. Raise CubeError for an invalid cursor."""
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
        """Return the number of the commit from which the preceding page was read, and the number of rows up to the end
        of that page. Without a preceding page, return None and 0.
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
        """Return the URL of the view after a change of some fields. If the changes contain neither ``cursor`` nor
        ``columns``, it is the URL of the first page.
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
    """Return the path of a cube's page.

    >>> cube_address("late")
    '/console/cubes/late'
    """
    return f"{CONSOLE}/cubes/{quoted_part(query_id)}"


def _first(dimensions: Dimensions, kept: Levels | None) -> list[str]:
    levels = zip(dimensions.hierarchies, dimensions.base if kept is None else kept, strict=True)
    return [hierarchy[0] for hierarchy, level in levels if level][:1]


def _hierarchy(name: str, dimensions: Dimensions) -> int | None:
    """Return the index of the dimension that has the level ``name``. Return None if no dimension has it."""
    try:
        (place,) = dimensions.order_of([name])
    except CubeError:
        return None
    return place
