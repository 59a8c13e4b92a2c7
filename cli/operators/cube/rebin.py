"""``asc cube bins`` and ``asc cube rebin``: the bins of a cube, and new edges for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.client import Json, server_options, stream_of
from cli.command import Command, examples
from cli.file_options import EXISTING_FILE
from cli.output import json_option, print_json, print_table

_HEADINGS = ("dimension", "bins", "records", "rmse", "of the range", "standard deviations")

calibrate_option = click.option(
    "--calibrate",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Records that decide the edges of bins(x) and bins(x, n): CSV with a header, NDJSON or Parquet. By default "
    "the last records of the stream decide.",
)


def calibrated(client: Client, operator: Json, where: str, stream: str | None, file: Path | None) -> Json:
    """Return a cube whose bins have edges from a file of records, decoded by the schema of a stream. Without a file,
    return the cube unchanged.
    """
    if file is None:
        return operator
    from asc.schema import Schema
    from broker.files.decoding import Decoding
    from broker.files.input_checks import format_of
    from cli.operators.cube.file_sample import calibrated_operator

    own = stream_of(client, stream)
    # The file may have another format, so the options of the stream's format do not apply.
    decoding = Decoding(Schema.from_ddl(own["schema"]), {}, own["time_zone"])
    return calibrated_operator(operator, [file], format_of([file]), decoding, where)


@click.command("bins", cls=Command, epilog=examples("asc cube bins weather", "asc cube bins weather --json"))
@click.argument("query_id", metavar="ID")
@server_options
@json_option
def bins(*, client: Client, query_id: str, as_json: bool) -> None:
    """Show the bins of a cube, and their errors.

    An error is the root of the mean squared difference between a value and the mean of its bin. It is given in the
    unit of the values, as a share of the range of the sample, and in standard deviations. There is one row for the
    sample that decided the edges, and one for all counted records. 'asc cube rebin' gives the bins new edges.
    """
    described = client.cubes.bins(query_id)
    if as_json:
        print_json(described)
        return
    print_table(_HEADINGS, [row for own in described["bins"] for row in _rows(own)])
    for own in described["bins"]:
        click.echo(visible(f"{own['name']}: {', '.join(f'{edge:g}' for edge in own['edges'])}"))
        if own["reason"] is not None:
            click.echo(visible(f"{own['name']}: no errors of counted records: {own['reason']}"))
    if not described["bins"]:
        click.echo("the cube has no bins")


@click.command(
    "rebin",
    cls=Command,
    epilog=examples(
        "asc cube rebin weather --dry-run",
        "asc cube rebin weather --yes",
        "asc cube rebin weather --dimension temp --calibrate weather.csv",
    ),
)
@click.argument("query_id", metavar="ID")
@click.option("--dimension", "dimensions", metavar="NAME", multiple=True, help="Only these bins; repeatable.")
@calibrate_option
@click.option("--dry-run", is_flag=True, help="Only print the effect; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before the cells are deleted.")
@server_options
@json_option
def rebin(
    *,
    client: Client,
    query_id: str,
    dimensions: Sequence[str],
    calibrate: Path | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Give the bins of a cube new edges, by the last records of its stream.

    The cells of the former edges cannot be converted: all of them are deleted, and the cube begins empty. The command
    prints the effect, and asks before it acts. 'asc cube backfill' then counts the records that the topic still has.
    """
    if dry_run and yes:
        raise click.UsageError("give --dry-run or --yes, not both: --dry-run changes nothing")
    texts = _given(client, query_id, dimensions, calibrate)
    effect = client.cubes.rebin(query_id, dimensions=dimensions, calibrated=texts, dry_run=not yes)
    if not as_json:
        for line in effect["lines"]:
            click.echo(visible(line))
    if effect["bins"] and not yes and not dry_run:
        click.confirm("delete these cells?", abort=True, err=True)
        # Send the edges that the user has confirmed, because a new sample could give other edges.
        texts = [own["calibrated"] for own in effect["bins"]]
        effect = client.cubes.rebin(query_id, calibrated=texts)
    if as_json:
        print_json(effect)
    elif dry_run and effect["bins"]:
        click.echo("nothing is changed: leave --dry-run out")


def _given(client: Client, query_id: str, dimensions: Sequence[str], file: Path | None) -> list[str]:
    """Return the SQL texts of a cube's bins with edges that are computed from a file. Without a file, return an empty
    list.
    """
    if file is None:
        return []
    from asc.operators.cube.binned import bins_of, without_edges
    from asc.operators.cube.definition import CubeDefinition

    query = client.show(query_id)
    operator = dict(query["operator"] or {})
    own = {name: operator.get(name) for name in ("dimensions", "measures", "time", "grain_s")}
    plain = without_edges(own, CubeDefinition.parse(own), dimensions)
    found = calibrated(client, plain, query["where"], query["stream"], file)
    names = {each.name for each in bins_of(CubeDefinition.parse(plain)) if each.edges is None}
    return [each.text for each in bins_of(CubeDefinition.parse(found)) if each.name in names]


def _rows(own: Mapping[str, Any]) -> list[list[object]]:
    rows: list[list[object]] = []
    for what, part in (("sample", own["sample"]), ("counted", own["counted"])):
        if part is not None:
            rows.append([own["dimension"], f"{len(own['edges']) + 1}", f"{part['values']:,} {what}", *_errors(part)])
    return rows


def _errors(part: Mapping[str, Any]) -> list[str]:
    errors = part["errors"] or {}
    found = [errors.get(name) for name in ("rmse", "nrmse", "rmse_sd")]
    return ["" if value is None else f"{value:.3g}" for value in found]
