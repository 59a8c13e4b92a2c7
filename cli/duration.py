"""Durations on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Type = click.ParamType[float]
else:
    # Earlier versions of Click have no such types at run time.
    _Type = click.ParamType

_SECONDS = {"ms": 0.001, "s": 1, "min": 60, "h": 3_600, "d": 86_400}


class Duration(_Type):
    """A time as ``30s``, ``5min``, ``1.5h``: in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds of a text."""
        if isinstance(value, (int, float)):
            return value
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|h|d)\s*", value)
        if found is None:
            self.fail(f"{value!r} is no duration: write a number and ms, s, min, h or d, as 30s", param, ctx)
        seconds = round(float(found[1]) * _SECONDS[found[2]], 6)
        return int(seconds) if seconds.is_integer() else seconds
