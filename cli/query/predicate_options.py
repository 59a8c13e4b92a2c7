"""The options of ``asc query add`` for a predicate, a join or a plan of BBoxDB Streams, and the resulting query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from broker.client.bodies import given
from broker.files.bounded_file import read_text
from broker.importers.bboxdb_plan import POSITION, translated
from broker.visible_text import visible
from cli.arguments import layer_option, where_option, with_options
from cli.client import Json
from cli.file_options import EXISTING_FILE
from cli.join_options import join_of, per_shape_option


def where_or_plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--where`` with the options of a join, its alternative ``--bboxdb-plan``, and the options of
    ``--bboxdb-plan``. The command receives the fields of a query as ``asked``.
    """

    @wraps(command)
    def with_asked(
        *,
        where: str | None,
        layer: str | None,
        per_shape: bool,
        bboxdb_plan: Path | None,
        position: str | None,
        dimensions: Sequence[str],
        as_bboxdb: bool,
        **others: Any,
    ) -> Any:
        if (where is None) == (bboxdb_plan is None):
            raise click.UsageError("give --where, or --bboxdb-plan")
        if bboxdb_plan is None:
            if position or dimensions or as_bboxdb:
                raise click.UsageError("--position, --dimension and --as-bboxdb go with --bboxdb-plan")
            return command(asked={"where": where, **given(join=join_of(layer, per_shape=per_shape))}, **others)
        if layer is not None or per_shape:
            raise click.UsageError("--layer and --per-shape go with --where: a plan names its layer as join-table")
        return command(asked=_asked(bboxdb_plan, position, dimensions, as_bboxdb=as_bboxdb), **others)

    options = (
        partial(where_option, required=False),
        layer_option("With --where: make it a join, whose predicate may also read LAYER.geometry, LAYER.property."),
        per_shape_option,
        click.option(
            "--bboxdb-plan",
            type=EXISTING_FILE,
            metavar="FILE",
            help="In place of --where: a query plan of BBoxDB Streams, as JSON; its predicate is printed.",
        ),
        click.option(
            "--position", metavar="SQL", help=f"With --bboxdb-plan: where a record is; by default {POSITION}."
        ),
        click.option(
            "--dimension",
            "dimensions",
            multiple=True,
            metavar="SQL",
            help="With --bboxdb-plan, of other than two dimensions: a record's value in one, or LOW, HIGH; repeatable.",
        ),
        click.option(
            "--as-bboxdb",
            is_flag=True,
            help="With --bboxdb-plan: enlarge boxes as its code does, not as its paper says.",
        ),
    )
    return with_options(with_asked, options)


def _asked(path: Path, position: str | None, dimensions: Sequence[str], *, as_bboxdb: bool) -> Json:
    plan = translated(read_text(path), position, dimensions, as_bboxdb=as_bboxdb)
    click.echo(visible(plan.where, kept="\n"), err=True)
    for warning in plan.warnings:
        click.echo(f"warning: {visible(warning)}", err=True)
    fields: dict[str, Any] = {"where": plan.where, "stream": plan.stream}
    if plan.layer is not None:
        fields["join"] = {"layer": plan.layer}
    if plan.events:
        fields["operator"] = {"name": "events", "events": list(plan.events), "key": "_key"}
    return fields
