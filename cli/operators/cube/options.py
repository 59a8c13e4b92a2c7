"""The options that define a cube, and the values of these options as texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from cli.arguments import with_options
from cli.client import Json
from cli.duration import Duration
from cli.operators.cube.grain import Grain
from cli.operators.cube.view_name import pinned
from cli.operators.divided import divided

_HOURS_HELP = "Count only panes in these hours of the time zone, the end exclusive, as 14-16, 22-2 or 8-10,14-16."

hours_option = click.option("--hours", metavar="HOURS", help=_HOURS_HELP)
"""The option of the local hours whose panes a question reads."""


_DEFINITION = (
    click.option(
        "--dimensions",
        metavar="SQL",
        help="The dimensions, separated by commas, each with its levels from coarse to fine: "
        "'origin > dest, carrier'. A comparison stands in parentheses. By default none.",
    ),
    click.option(
        "--measures",
        required=True,
        metavar="SQL",
        help="The measures, separated by commas: count, sum, avg, min, max, var_*, stddev_*, covar_*, corr, "
        "regr_*, stats, quantiles or distinct, with FILTER and AS, as "
        "'count(*) AS flights, sum(delay) FILTER (WHERE delay > 0) AS late'.",
    ),
    click.option(
        "--time",
        metavar="SQL",
        help="The time of a record, a TIMESTAMP; by default the time of Kafka, and of a cube over files none.",
    ),
    click.option("--grain", type=Grain(), metavar="TIME", help="The length of a pane, as 15min, 1h or 1d."),
    click.option("--where", metavar="SQL", help="A predicate over the records; by default all of them."),
)
"""The options ``--where`` and those of the cube's definition."""


def definition_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--where`` and the options of the cube's definition. The command receives ``where`` and ``operator``."""

    @wraps(command)
    def with_operator(
        *,
        where: str | None,
        dimensions: str | None,
        measures: str,
        time: str | None,
        grain: float | None,
        **others: Any,
    ) -> Any:
        # An empty text comes from an empty shell variable. If it meant no dimensions, it would replace a cube by a cube
        # with a single cell in each pane.
        if dimensions is not None and not dimensions.strip():
            remedy = "is empty: leave it out for a cube without dimensions"
            raise click.UsageError(f"--dimensions {dimensions!r}: {remedy}")
        operator: Json = {
            "name": "cube",
            "dimensions": [divided(hierarchy, ">") for hierarchy in divided(dimensions or "", ",")],
            "measures": divided(measures, ","),
            "time": time,
            "grain_s": grain,
        }
        given = {name: value for name, value in operator.items() if value is not None}
        return command(where="true" if where is None else where, operator=given, **others)

    return with_options(with_operator, _DEFINITION)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that define the windows that a cube writes. Their values become a part of ``operator``."""

    @wraps(command)
    def with_output(
        *,
        operator: Json,
        output: tuple[str, ...],
        window: float | None,
        slide: float | None,
        emit: str | None,
        **others: Any,
    ) -> Any:
        # An empty text of ``--output`` means the cuboid with one group of all records.
        cuboids = [divided(names, ",") for names in output]
        windows: Json = {"output": cuboids or None, "window_s": window, "slide_s": slide, "emit": emit}
        given = {name: value for name, value in windows.items() if value is not None}
        return command(operator={**operator, **given}, **others)

    options = (
        click.option(
            "--output",
            metavar="NAMES",
            multiple=True,
            help="Write the groups of a cuboid to the query's topic, for each window: its dimensions, separated by "
            "commas, or '' for all records together; repeatable.",
        ),
        click.option("--window", type=Duration(), metavar="TIME", help="The length of a window, in whole panes."),
        click.option("--slide", type=Duration(), metavar="TIME", help="The time between the ends of windows."),
        click.option(
            "--emit",
            type=click.Choice(["all", "changes"]),
            help="Whether a window has all its groups, or those with other measures than before. By default all.",
        ),
    )
    return with_options(with_output, options)


def storage_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about what a cube stores. Their values become a part of ``operator``."""

    @wraps(command)
    def with_storage(
        *,
        operator: Json,
        materialise: str | None,
        keep: str | None,
        cuboids: int | None,
        cells: int | None,
        **others: Any,
    ) -> Any:
        try:
            texts = [] if materialise is None else _PINS.findall(materialise)
            pins = None if materialise is None else [pinned(text) for text in texts if text.strip()]
        except click.BadParameter as error:
            raise click.BadParameter(error.message, param_hint="--materialise") from None
        bands = None if keep is None else _bands(keep)
        storage = {"materialise": pins, "keep": bands, "cuboids": cuboids, "cells": cells}
        given = {name: own for name, own in storage.items() if own is not None}
        return command(operator={**operator, **given}, **others)

    keep_option = click.option(
        "--keep",
        metavar="BANDS",
        help="How long panes are kept, as grain:age: '1h:30d, 1d:2y' keeps hours for 30 days, then days until they are "
        "two years old; '1d:2y origin:1' keeps one level of the dimension origin. By default everything.",
    )
    option = click.option(
        "--materialise",
        metavar="VIEWS",
        help="Store these cuboids too, for fast answers: their dimensions, separated by commas, and the cuboids by "
        "semicolons; '() at 1d' has panes of a day: 'carrier; origin, carrier at 1d'.",
    )
    budget_options = (
        click.option(
            "--cuboids",
            type=click.IntRange(0),
            metavar="N",
            help="The most views that are stored beside the base cuboid, those of --materialise among them. Questions "
            "decide which ones; 'asc cube optimise' shows them. By default 8; 0 for none but those of --materialise.",
        ),
        click.option(
            "--cells",
            type=click.IntRange(0),
            metavar="N",
            help="The most cells of these views together. By default 2,000,000, some 100 MB.",
        ),
    )
    return with_options(with_storage, (keep_option, option, *budget_options))


def _bands(text: str) -> list[str]:
    """Return the bands between commas. A comma at the end is ignored. Raise UsageError if there are no bands."""
    bands = [band.strip() for band in text.split(",")]
    if not bands[-1] and len(bands) > 1:
        bands.pop()
    # An empty text comes from an empty shell variable. It does not mean that everything is kept.
    if not all(bands):
        bands_remedy = "has an empty band: give bands, as '1h:30d, 1d:2y'"
        remedy = bands_remedy if any(bands) else "is empty: leave it out to keep everything"
        raise click.UsageError(f"--keep {text!r}: {remedy}")
    return bands


_PINS = re.compile(r"""(?:'[^']*'|"[^"]*"|`[^`]*`|[^;'"`])+""")
"""A pattern for the texts between semicolons that are outside quotes."""


def from_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--from``, whose value becomes a part of ``operator``."""

    @wraps(command)
    def with_begin(*, operator: Json, begin: str | None, **others: Any) -> Any:
        return command(operator=operator if begin is None else {**operator, "from": begin}, **others)

    option = click.option(
        "--from",
        "begin",
        type=click.Choice(["now", "earliest"]),
        help="Whether the cube counts records from now on, or all that the topic still has, which the daemon reads "
        "beside new records. By default now.",
    )
    return with_options(with_begin, (option,))


def late_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--late``, whose value becomes a part of ``operator``."""

    @wraps(command)
    def with_late(*, operator: Json, late: str | None, **others: Any) -> Any:
        return command(operator=operator if late is None else {**operator, "late": late}, **others)

    option = click.option(
        "--late",
        type=click.Choice(["merge", "apart"]),
        help="Whether records of closed panes join these, or stay apart, for questions with --late alone. "
        "By default merge.",
    )
    return with_options(with_late, (option,))
