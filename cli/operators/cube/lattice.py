"""``asc cube lattice`` and ``asc cube optimise``: the views of a cube."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.client import server_options
from cli.command import Command, examples
from cli.output import counted, json_option, print_json, print_table

_HEADINGS = ("cuboid", "grain", "cells", "bytes", "asked an hour", "materialised", "complete to", "answers from")


@click.command("lattice", cls=Command, epilog=examples("asc cube lattice late", "asc cube lattice late --json"))
@click.argument("query_id", metavar="ID")
@server_options
@json_option
def lattice(*, client: Client, query_id: str, as_json: bool) -> None:
    """List the views of a cube: a cuboid, and the length of its panes.

    First come the stored views: the base cuboid, bands of older panes, pinned views (--materialise) and chosen ones.
    Then come at most 100 others, those that are asked for the most first, then the smallest. Their cells and bytes,
    marked by ~, are estimated from a sample.

    A question reads the stored view with the fewest cells that has its dimensions: 'answers from'.
    """
    found = client.cubes.lattice(query_id)
    if as_json:
        print_json(found)
        return
    print_table(_HEADINGS, [_row(own) for own in found["views"]])
    click.echo(f"{len(found['views']):,} of {counted(found['count'], 'view')}")


@click.command(
    "optimise",
    cls=Command,
    epilog=examples("asc cube optimise late --dry-run", "asc cube optimise late", "asc cube optimise late --json"),
)
@click.argument("query_id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only print the plan; change nothing.")
@server_options
@json_option
def optimise(*, client: Client, query_id: str, dry_run: bool, as_json: bool) -> None:
    """Choose the views of a cube anew, for the questions of the last days.

    The daemon does so each hour. Views change only if questions and closing panes then cost over 10 % fewer cells.
    --cuboids and --cells of 'asc cube add' bound the views; those of --materialise stay. New views are filled in the
    background.

    Each line is a view that is added (+) or removed (-).
    """
    plan = client.cubes.optimise(query_id, dry_run=dry_run)
    if as_json:
        print_json(plan)
        return
    for line in plan["lines"]:
        click.echo(visible(line))
    if dry_run and plan["changes"]:
        click.echo("nothing is changed: leave --dry-run out")


def _row(view: Mapping[str, Any]) -> list[object]:
    mark = "~" if view["is_estimated"] else ""
    source = view["answered_from"]
    return [
        _cuboid(view),
        _grain(view["grain_s"]),
        *(f"{mark}{view[name]:,}" for name in ("cells", "bytes")),
        f"{view['asked_an_hour']:,.3g}",
        "" if view["role"] == "none" else view["role"],
        view["complete_to"],
        None if source is None else f"{_cuboid(source)} at {_grain(source['grain_s'])}",
    ]


def _cuboid(view: Mapping[str, Any]) -> str:
    return ", ".join(view["cuboid"]) or "()"


def _grain(grain_s: int) -> str:
    from asc.operators.cube.view import grain_text

    return grain_text(grain_s)
