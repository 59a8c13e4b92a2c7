"""The options that define a DBSCAN query."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cli.arguments import with_options
from cli.client import Json
from cli.duration import Duration
from cli.operators.divided import divided

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    # Earlier versions of Click have no such types at run time.
    _Type = click.ParamType


class Span(NamedTuple):
    """A length of event time in seconds (``unit`` is ``s``), or a number of points (``points``)."""

    unit: str
    length: float


class SpanType(_Type):
    """A duration such as ``10min``, or a number of points such as ``5000``."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Span:
        """Return the span of a text such as ``10min`` or ``5000``. Raise BadParameter for any other text."""
        if re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
            return Span("points", int(value))
        if not re.fullmatch(r"\s*[0-9.]+\s*[a-z]+\s*", value):
            self.fail(f"{value!r} is no span: write a time, as 10min, or a number of points, as 5000", param, ctx)
        return Span("s", Duration().convert(value, param, ctx))


class NumbersType(_Type):
    """A number, or several numbers separated by commas. Each number produces a query."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number in a text, or a list if the text has several numbers."""
        found = [self._number(each.strip(), param, ctx) for each in value.split(",")]
        return found[0] if len(found) == 1 else found

    def _number(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        # Refuse infinity and NaN, because JSON cannot express them.
        if not math.isfinite(number):
            self.fail(f"{text!r} is no number: write one as 0.05, or several as 0.05,0.1", param, ctx)
        return int(text) if re.fullmatch(r"[0-9]{1,30}", text) else number


def definition_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--where`` and the options of the query's definition. The command receives ``where`` and ``operator``."""

    @wraps(command)
    def with_operator(
        *,
        where: str | None,
        attributes: str | None,
        position: str | None,
        eps: Any,
        min_samples: Any,
        window: Span,
        slide: Span,
        time: str | None,
        members: str | None,
        key: str | None,
        sample: int | None,
        **others: Any,
    ) -> Any:
        if (attributes is None) == (position is None):
            raise click.UsageError("give --attributes or --position: the coordinates of a point")
        if window.unit != slide.unit:
            raise click.UsageError("give --window and --slide both as a time, or both as a number of points")
        operator: Json = {
            "name": "dbscan",
            "attributes": None if attributes is None else divided(attributes, ","),
            "position": position,
            "eps": eps,
            "min_samples": min_samples,
            "time": time,
            f"window_{window.unit}": window.length,
            f"slide_{slide.unit}": slide.length,
            "members": members,
            "key": key,
            "sample": sample,
        }
        given = {name: value for name, value in operator.items() if value is not None}
        return command(where=where or "true", operator=given, **others)

    options = (
        click.option(
            "--attributes",
            metavar="SQL",
            help="The coordinates of a point: numeric expressions between commas, as 'longitude * 0.68, latitude'.",
        ),
        click.option(
            "--position",
            metavar="SQL",
            help="In place of --attributes: a point, as 'ST_Point(longitude, latitude)'; --eps is then in metres.",
        ),
        click.option(
            "--eps",
            required=True,
            type=NumbersType(),
            metavar="NUMBERS",
            help="The radius within which points are neighbours; several, separated by commas, are a query each.",
        ),
        click.option(
            "--min-samples",
            required=True,
            type=NumbersType(),
            metavar="NUMBERS",
            help="The least number of neighbours of a core point, itself included; several are a query each.",
        ),
        click.option("--time", metavar="SQL", help="The time of a record, a TIMESTAMP; by default the record's own."),
        click.option(
            "--window",
            required=True,
            type=SpanType(),
            metavar="SPAN",
            help="The length of a window: a time, as 10min, or a number of points, as 5000; at most 1,000 slides.",
        ),
        click.option(
            "--slide",
            required=True,
            type=SpanType(),
            metavar="SPAN",
            help="The time, or the number of points, between the ends of windows.",
        ),
        click.option(
            "--members",
            type=click.Choice(["none", "changes", "all"]),
            help="The points that are written one by one: none, those whose cluster changed, or all but noise. By "
            "default none.",
        ),
        click.option("--key", metavar="SQL", help="An expression that is shown with members."),
        click.option(
            "--sample", type=int, metavar="N", help="The most points in the record of a window; by default 200."
        ),
        click.option("--where", metavar="SQL", help="A predicate over the records; by default all of them."),
    )
    return with_options(with_operator, options)
