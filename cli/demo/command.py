"""``asc demo``: the command that runs a demonstration."""

from __future__ import annotations

from pathlib import Path

import click

from cli.command import Command, examples
from cli.output import json_option, print_json


@click.command(
    cls=Command,
    epilog=examples(
        "asc demo",
        "asc demo --json",
        "asc demo aircraft",
        "asc demo aircraft --picture map",
        "asc demo cube",
    ),
)
@click.argument("what", type=click.Choice(["flights", "aircraft", "cube"]), default="flights")
@click.option(
    "--picture",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Of aircraft: draw a map as PATH.png and PATH.svg; needs matplotlib.",
)
@json_option
def demo(what: str, picture: Path | None, as_json: bool) -> None:
    """Run the whole path on a packaged sample of flights, on simulated aircraft, or with a cube.

    Starts an embedded Kafka broker, registers fourteen predicates through the HTTP API, publishes 20,000
    flights, receives from every topic and compares each with what DataFrame.filter accepts. Then it publishes them
    again and again for some seconds, and says how many records a second went through. Ends with 1 if any topic
    differs.

    With 'aircraft' the predicates are fences: Natural Earth's countries become a layer, aircraft fly over the Alps,
    and each topic is compared with what shapely accepts. A join tells who enters which country, and leaves it: its
    events are compared with those of a plain loop. A DBSCAN query tells which aircraft are a crowd, and which crowds
    merge and split: every label is compared with those of the definition.

    With 'cube' the flights are rolled up by a standing cube. Its daemon is killed with SIGKILL while it counts, and
    started again; then every group of every cuboid is compared with DuckDB's. Needs the package duckdb.
    """
    if what != "aircraft" and picture is not None:
        raise click.UsageError("--picture goes with 'asc demo aircraft'")
    if what == "aircraft":
        from cli.demo import aircraft

        report, text = aircraft.run_aircraft(picture), aircraft.report_text
    elif what == "cube":
        from cli.demo import cube

        report, text = cube.run_cube(), cube.report_text
    else:
        from cli.demo import run

        report, text = run.run_demo(), run.report_text
    if as_json:
        print_json(report)
    else:
        click.echo(text(report))
    if not report["agrees"]:
        click.get_current_context().exit(1)
