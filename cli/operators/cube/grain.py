"""The types of options with lengths of panes, or of the intervals of an answer's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.client import Json
from cli.duration import Duration

if TYPE_CHECKING:
    _Fields = click.ParamType[Json]
else:
    # Earlier versions of Click have no such types at run time.
    _Fields = click.ParamType


_DAY_S = 86_400


class Grain(Duration):
    """The length of a pane: a duration that divides an hour, or whole hours that divide a day."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds of a duration such as ``15min``. Raise BadParameter if it cannot be the length of
        a pane.
        """
        # Imported here, so that a command without a grain does not load the definition.
        from asc.errors import CubeError
        from asc.operators.cube.definition import checked_grain_s

        seconds = super().convert(value, param, ctx)
        try:
            return checked_grain_s(seconds)
        except CubeError:
            remedy = "write a time that divides an hour, or whole hours that divide 24, as 1min, 15min, 1h or 1d"
            self.fail(f"{value!r} is no grain: {remedy}", param, ctx)


class ViewGrain(Duration):
    """The length of the panes of a view that ``--answer-from`` names: a duration that divides a day, or whole days."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds of a duration such as ``7d``. Raise BadParameter if no view has panes of that length."""
        # Imported here, so that a command without a grain does not load the definition.
        from asc.operators.cube.keep import is_grain

        seconds = super().convert(value, param, ctx)
        if seconds < 1 or seconds % 1 or not is_grain(int(seconds)):
            self.fail(
                f"{value!r} is no grain of a view: write a time that divides a day, as 15min, 1h or 1d", param, ctx
            )
        return int(seconds)


class PinGrain(ViewGrain):
    """The length of the panes of a pinned view, which divides a day. Only bands may have panes of several days."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds of a duration such as ``1d``. Raise BadParameter if a pinned view has no such panes."""
        seconds = super().convert(value, param, ctx)
        if seconds > _DAY_S:
            remedy = "only bands of --keep have panes of several days: write a time that divides a day, as 1h or 1d"
            self.fail(f"{value!r} is no grain of a stored view: {remedy}", param, ctx)
        return Grain().convert(value, param, ctx)


class RowGrain(_Fields):
    """The length of the intervals of an answer's rows: a grain, or ``1d`` or ``1M`` for days or months of the time
    zone.

    Other lengths that divide a day, or are whole days, are accepted as well, because a band of older panes may have
    them. Only the daemon knows the bands, and refuses other lengths.
    """

    name = "grain"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """Return the field of a question for ``1d``, ``1M`` or another grain. Raise BadParameter for any other
        text.
        """
        if isinstance(value, dict):
            return value
        if value.strip() in ("1d", "1M"):
            return {"grain": value.strip()}
        # Imported here, so that a command without a grain does not load the definition.
        from asc.operators.cube.keep import is_grain

        try:
            seconds = Duration().convert(value, param, ctx)
            if seconds < 1 or seconds % 1 or not is_grain(int(seconds)):
                raise click.BadParameter("")
            return {"grain_s": int(seconds)}
        except click.BadParameter:
            remedy = "write a time that divides a day, 1d or 1M, or whole days that a band has, as 15min or 1h"
            self.fail(f"{value!r} is no grain of rows: {remedy}", param, ctx)
