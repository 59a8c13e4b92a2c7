"""The texts of options that name views of a cube, such as ``origin, carrier at 1d``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from cli.client import Json
from cli.operators.cube.grain import PinGrain, ViewGrain
from cli.operators.divided import divided

if TYPE_CHECKING:
    _Fields = click.ParamType[Json]
else:
    # Earlier versions of Click have no such types at run time.
    _Fields = click.ParamType


_WITH_GRAIN = re.compile(r"""(.*) at ([^'"`()]*)""", re.DOTALL)
"""A view with its grain. A word ``at`` within quotes or brackets is a part of a dimension."""


class ViewName(_Fields):
    """A view: its dimensions, and the length of its panes if it is not that of the cube."""

    name = "view"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the view as an object of the API. Raise BadParameter if the text is blank or has no grain after
        ``at``.
        """
        if isinstance(value, dict):
            return value
        # An empty text comes from an empty shell variable. It does not mean the view of all records.
        if not value.strip():
            self.fail(f"{value!r} names no view: write its dimensions, or () for that of all records", param, ctx)
        names, grain = _parts(value)
        return {"by": names} if grain is None else {"by": names, "grain_s": ViewGrain().convert(grain, param, ctx)}


def pinned(text: str) -> list[str] | Json:
    """Return a view in the form of the API for pinned views. Raise BadParameter as :class:`ViewName` does.

    >>> pinned("origin, carrier"), pinned("() at 1d")
    (['origin', 'carrier'], {'by': [], 'grain_s': 86400})
    """
    names, grain = _parts(text)
    return names if grain is None else {"by": names, "grain_s": PinGrain().convert(grain, None, None)}


def _parts(text: str) -> tuple[list[str], str | None]:
    """Return the dimensions of a view, and the text of its grain after ``at``. The grain is None if the text has no
    ``at``.
    """
    found = _WITH_GRAIN.fullmatch(text)
    named, grain = (text, None) if found is None else (found[1], found[2].strip())
    return [] if named.strip() == "()" else divided(named, ","), grain
