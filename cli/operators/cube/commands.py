"""``asc cube``: exact roll-ups of records by dimensions and time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from broker.client.client import Client
from broker.client.errors import NotAllowedError, NotFoundError
from cli.arguments import row_schema_options, stream_option
from cli.checking import Check, check_options
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.file_options import EXISTING_FILE
from cli.operators.cube.backfill import backfill
from cli.operators.cube.dump import dump
from cli.operators.cube.grain import RowGrain
from cli.operators.cube.lattice import lattice, optimise
from cli.operators.cube.lookup import lookup
from cli.operators.cube.options import (
    definition_options,
    from_option,
    hours_option,
    late_option,
    output_options,
    storage_options,
)
from cli.operators.cube.query import query
from cli.operators.cube.rebin import bins, calibrate_option, calibrated, rebin
from cli.output import json_option
from cli.registration_options import register, standing_options

_OPTIONS = '--dimensions "origin > dest, carrier" --measures "count(*) AS flights, sum(arr_delay) AS delay"'


@click.group(
    cls=Group,
    epilog=examples(
        f"asc cube add late {_OPTIONS} --time time_hour --grain 1h",
        "asc cube query late --by carrier --from 2013-07-10 --to 2013-07-11",
        f"asc cube check late --schema flights.ddl {_OPTIONS} --time time_hour --grain 1h",
        f"asc cube run --schema flights.ddl {_OPTIONS} --by carrier flights.csv.gz",
        "asc cube lattice late",
        "asc cube optimise late --dry-run",
        "asc cube backfill late",
        "asc cube bins weather",
        "asc cube rebin weather --dry-run",
        "asc cube dump flights.sqlite",
        "asc cube lookup put planes --key tailnum planes.csv",
    ),
)
def cube() -> None:
    """Exact roll-ups of records by dimensions and time.

    A cube groups the records that it accepts by dimensions, in panes of event time, and answers for any of its cuboids:
    a level of each dimension.
    """


@cube.command(
    cls=Command,
    epilog=examples(
        f"asc cube add late {_OPTIONS} --time time_hour --grain 1h",
        'asc cube add busy --dimensions carrier --measures "count(*)" --where "arr_delay > 60" --grain 15min',
        f"asc cube add late {_OPTIONS} --time time_hour --grain 1h --output carrier --window 24h --slide 1h",
        f"asc cube add late {_OPTIONS} --time time_hour --grain 1h --from earliest",
    ),
)
@click.argument("query_id", metavar="ID")
@definition_options
@late_option
@from_option
@output_options
@storage_options
@calibrate_option
@stream_option("The stream of the query; needed where the daemon has several.")
@standing_options
@server_options
@json_option
def add(
    *,
    client: Client,
    query_id: str,
    where: str,
    operator: Json,
    calibrate: Path | None,
    stream: str | None,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register a cube, or replace the query of that ID.

    The daemon folds each record that --where accepts into the cube, once. It is a query: 'asc query' lists, shows,
    pauses, resumes and removes it. Another --where, time, grain, dimension or measure begins an empty one.

    With --output, --window and --slide it writes the groups of each window to its topic, when no record of the window
    is awaited any more.

    With --from earliest it also counts the records that the topic has from before. The daemon reads them beside new
    records; 'asc cube backfill ID --status' shows how far.

    A dimension bins(x, n) groups by n intervals of a number x; bins(x) has as many as are exact enough. The last
    records of the stream decide their edges, or those of --calibrate.
    """
    body = {"id": query_id, "where": where, "operator": calibrated(client, operator, where, stream, calibrate)}
    former: Json | None = None
    with suppress(NotFoundError, NotAllowedError):
        former = dict(client.show(query_id))
    answer = register(client, body, stream=stream, fields=fields, replaces=replaces, as_json=as_json)
    if is_other_cube(former, answer["query"]):
        click.echo("warning: the cells of the former cube are deleted: this one begins empty", err=True)


def is_other_cube(former: Json | None, query: Json) -> bool:
    """Return whether a query replaces a former cube by a cube with different cells."""
    was, own = (each.get("operator") or {} for each in (former or {}, query))
    if former is None or not was.get("name") == own.get("name") == "cube":
        return False
    of_cells = ("dimensions", "measures", "time", "grain_s")
    is_same_query = all(former[name] == query[name] for name in ("where", "stream"))
    return not is_same_query or any(was[name] != own[name] for name in of_cells)


@cube.command(
    cls=Command,
    epilog=examples(
        f"asc cube check late --schema flights.ddl {_OPTIONS} --time time_hour --grain 1h --sample flights.csv",
        f"asc cube check late --stream flights {_OPTIONS} --time time_hour --grain 1h",
        'asc cube check late --schema flights.ddl --dimensions "year(time_hour), (arr_delay > 60)" '
        '--measures "count(*), avg(arr_delay)" --time time_hour --grain 15min --where "arr_delay > 0"',
    ),
)
@click.argument("query_id", metavar="ID")
@definition_options
@late_option
@from_option
@output_options
@storage_options
@click.option(
    "--sample",
    type=EXISTING_FILE,
    help="With --schema: records, as CSV with a header, NDJSON or Parquet, and what the cube would hold of them. "
    "Needs --time.",
)
@check_options
def check(*, check: Check, query_id: str, where: str, operator: Json, sample: Path | None) -> None:
    """Check a cube without registering it: its cuboids, its expressions and warnings.

    With --stream the daemon checks it as at a registration, and by the last 10,000 records of the stream it says how
    many cells and bytes there would be. With --schema no daemon is needed, no Kafka, and no Java but for expressions
    over a sample that Spark computes; with --sample it says the same of these records. Both warn of more than 100
    cells with fewer than two records a cell. The time is by default that of the record.
    """
    if sample is not None and check.schema_file is None:
        raise click.UsageError("--sample goes with --schema: the daemon has records of the stream")
    if sample is not None and "time" not in operator:
        raise click.UsageError("give --time beside --sample: a file does not say when its records came")
    from broker.queries.query import check_id
    from cli.operators.cube.check import checked_cube, sampled_cube, show_check

    check_id(query_id)
    if check.schema_file is None:
        check.show(where, operator)
        return
    time_zone = check.time_zone or "UTC"
    found = checked_cube(where, operator, check.schema_file, time_zone)
    if sample is not None:
        held, warnings = sampled_cube(where, operator, sample, check.schema_file, time_zone)
        found = {**found, "sample": held, "warnings": [*found["warnings"], *warnings]}
    show_check(found, as_json=check.as_json)


@cube.command(
    cls=Command,
    epilog=examples(
        'asc cube run --schema flights.ddl --dimensions carrier --measures "count(*)" flights.csv',
        f"asc cube run --schema flights.ddl {_OPTIONS} --by carrier --total flights.csv.gz",
        f"asc cube run --schema flights.ddl {_OPTIONS} --time time_hour --grain 1h --from 2013-07-10 --to 2013-07-11 "
        '--order "flights DESC" --limit 10 flights.parquet',
        f"asc cube run --config asc.toml --stream flights {_OPTIONS} --where \"origin = 'JFK'\" --json flights.ndjson",
    ),
)
@definition_options
@click.option(
    "--by",
    "cuboids",
    metavar="NAMES",
    multiple=True,
    help="The dimensions to group by, separated by commas; repeatable. By default all of them.",
)
@click.option("--total", is_flag=True, help="Add the row of all records together.")
@click.option("--from", "begin", metavar="TIME", help="The beginning of the interval, on the grain, as 2013-07-10.")
@click.option("--to", "end", metavar="TIME", help="The exclusive end of the interval, on the grain.")
@click.option(
    "--every",
    type=RowGrain(),
    metavar="TIME",
    help="Rows for each interval of that length, as 15min or 1h; with 1d or 1M for each day or month of the time zone.",
)
@hours_option
@click.option(
    "--order",
    metavar="NAMES",
    help="Measures, dimensions, and with --every pane, to order by, as 'flights DESC, carrier'.",
)
@click.option("--limit", type=int, metavar="N", help="The most rows; by default 1,000.")
@row_schema_options
@click.option(
    "--time-zone", help="Time zone of the rows, TIMESTAMP literals, days and hours; that of --config, or UTC."
)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@json_option
def run(
    *,
    where: str,
    operator: Json,
    cuboids: Sequence[str],
    total: bool,
    begin: str | None,
    end: str | None,
    every: Json | None,
    hours: str | None,
    order: str | None,
    limit: int | None,
    schema_file: Path | None,
    config_file: Path | None,
    stream: str | None,
    options: dict[str, str],
    time_zone: str | None,
    inputs: Sequence[Path],
    as_json: bool,
) -> None:
    """Roll files of records up by a cube, and print what it answers.

    Needs no Kafka and no daemon. INPUT is CSV with a header, NDJSON or Parquet, by the end of its name. Without --time
    and --grain all records are in one pane.

    In the table, a dimension that is rolled up is empty, and NULL is NULL. If all expressions are plain columns and
    all values are plainly written, the rows are read without Spark. Otherwise, Spark is started, and the output says
    why.
    """
    if ("time" in operator) != ("grain_s" in operator):
        raise click.UsageError("give --time and --grain together, or neither: then all records are in one pane")
    from broker.files.input_checks import format_of
    from cli.decoding import decoding_of
    from cli.operators.cube.file_sample import calibrated_operator
    from cli.operators.cube.run import question_of, run_cube, show_rolled

    format_name = format_of(inputs)
    decoding = decoding_of(
        format_name,
        schema_file=schema_file,
        config_file=config_file,
        stream=stream,
        options=options,
        time_zone=time_zone,
    )
    operator = calibrated_operator(operator, inputs, format_name, decoding, where)
    question = question_of(
        operator, cuboids, total=total, begin=begin, end=end, every=every, hours=hours, order=order, limit=limit
    )
    rolled = run_cube(inputs, format_name, decoding, operator=operator, where=where, question=question)
    show_rolled(rolled, as_json=as_json)


cube.add_command(backfill)
cube.add_command(query)
cube.add_command(dump)
cube.add_command(lookup)
cube.add_command(bins)
cube.add_command(rebin)
cube.add_command(lattice)
cube.add_command(optimise)
