"""``asc dbscan``: density-based clusters of sliding windows."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from broker.client.client import Client
from cli.arguments import row_schema_options, stream_option
from cli.checking import Check, check_options
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.duration import Duration
from cli.file_options import EXISTING_FILE
from cli.operators.dbscan.options import definition_options
from cli.output import json_option
from cli.registration_options import register, standing_options

_RUN = "asc dbscan run --queries queries.ndjson --schema flights.ddl"
_OPTIONS = '--attributes "longitude * 0.68, latitude" --eps 0.05 --min-samples 5 --time ts --window 10min --slide 1min'
_ADD = f"asc dbscan add crowds {_OPTIONS}"
_CHECK = f"asc dbscan check crowds {_OPTIONS}"


@click.group(
    cls=Group,
    epilog=examples(
        _ADD,
        "asc query list --operator dbscan",
        "asc subscribe asc.crowds",
        f"{_RUN} flights.csv.gz",
    ),
)
def dbscan() -> None:
    """Register, check and run DBSCAN queries: density-based clusters of sliding windows.

    A core point has at least min_samples points within the distance eps, itself included. A cluster consists of core
    points that are connected by steps of at most eps, and of the other points within eps of one of them. A point near
    two clusters is in only one of them, so a cluster may have fewer points than min_samples. The labels are those of
    scikit-learn's DBSCAN.

    A DBSCAN query is a query: 'asc query' lists, shows, pauses, resumes and removes it.
    """


@dbscan.command(
    cls=Command,
    epilog=examples(
        f'{_ADD} --where "altitude >= 36000"',
        f"{_ADD} --members changes --key icao24",
        'asc dbscan add dense --position "ST_Point(longitude, latitude)" --eps 2000 --min-samples 10,20 --window 5000 '
        "--slide 1000",
    ),
)
@click.argument("query_id", metavar="ID")
@definition_options
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
    stream: str | None,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register a DBSCAN query, or replace the query of that ID.

    The daemon writes the records of a window when the watermark of the stream has reached the end of the window. These
    are a record for each cluster, the members if --members asks for them, and one record that closes the window.
    Clusters keep their ids from window to window.

    With several values of --eps or --min-samples, the command registers a query for each combination, as ID.1 and ID.2.
    All of them write to one topic. Either all are registered or none, and they replace no other query.
    """
    body = {"id": query_id, "where": where, "operator": operator}
    if any(isinstance(operator[name], list) for name in ("eps", "min_samples")):
        from cli.operators.dbscan.several import register_several

        sent = {**body, **fields, **({"stream": stream} if stream else {})}
        register_several(client, sent, as_json=as_json)
        return
    register(client, body, stream=stream, fields=fields, replaces=replaces, as_json=as_json)


@dbscan.command(
    cls=Command,
    epilog=examples(f"{_CHECK} --schema flights.ddl", f"{_CHECK} --stream flights"),
)
@click.argument("query_id", metavar="ID")
@definition_options
@check_options
def check(*, check: Check, query_id: str, where: str, operator: Json) -> None:
    """Check the options of 'add' without registering the query ID.

    Prints the types of its expressions, the ends of the next ten windows and warnings. With --stream the daemon checks
    them as at a registration; with --schema no daemon is needed, no Kafka and no Java.
    """
    from broker.queries.query import check_id
    from cli.operators.dbscan.check import show_check

    check_id(query_id)
    show_check(check, query_id, where, operator, datetime.now(timezone.utc))


@dbscan.command(
    cls=Command,
    epilog=examples(
        f"{_RUN} flights.csv.gz",
        f"{_RUN} --batch 10000 --lateness 10s --labels labels flights.parquet",
        "asc dbscan run --queries queries.ndjson --config asc.toml --stream flights --records windows.ndjson "
        "flights.ndjson",
    ),
)
@click.option(
    "--queries",
    "queries_file",
    required=True,
    type=EXISTING_FILE,
    help='The queries: NDJSON of {"id", "where", "operator"} as the API has them, or .toml or .json of the same.',
)
@row_schema_options
@click.option("--time-zone", help="Time zone of the rows and of TIMESTAMP literals; that of --config, or UTC.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    metavar="N",
    help="The rows of a batch: the watermark moves after each.",
)
@click.option(
    "--lateness",
    type=Duration(),
    default=10,
    show_default="10s",
    metavar="TIME",
    help="The time by which the watermark is behind the newest row.",
)
@click.option(
    "--labels",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder for the label of each point in each window: a Parquet file for each query.",
)
@click.option(
    "--records",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A file for the records of all windows, as NDJSON.",
)
@click.argument("path", metavar="FILE", type=EXISTING_FILE)
@json_option
def run(
    *,
    queries_file: Path,
    schema_file: Path | None,
    config_file: Path | None,
    stream: str | None,
    options: dict[str, str],
    time_zone: str | None,
    batch: int,
    lateness: float,
    labels: Path | None,
    records: Path | None,
    path: Path,
    as_json: bool,
) -> None:
    """Run DBSCAN queries over a file of records.

    Needs no Kafka and no daemon. FILE is CSV with a header, NDJSON or Parquet, by the end of its name. It is read as a
    stream of one partition, in which row n has the offset n, from 0 on. A query without a time takes the number of a
    row for its time, in microseconds.

    A window with more than 200,000 points is skipped; limits.stream_dbscan_points of --config sets another bound.

    At the end all rows are settled: full windows by counts are output, and windows by time that end at or before the
    newest time. If all expressions are plain columns and all values are plainly written, the rows are read without
    Spark. Otherwise, Spark is started, and the output says why.
    """
    from broker.files.input_checks import format_of
    from cli.decoding import decoding_of
    from cli.operators.dbscan.file_queries import read_file_queries, warnings_of
    from cli.operators.dbscan.run import points_of_a_window, run_queries, show_run

    format_name = format_of([path])
    decoding = decoding_of(
        format_name,
        schema_file=schema_file,
        config_file=config_file,
        stream=stream,
        options=options,
        time_zone=time_zone,
    )
    queries = read_file_queries(queries_file, decoding)
    for warning in warnings_of(queries):
        click.echo(f"warning: {warning}", err=True)
    outcome = run_queries(
        path,
        format_name,
        decoding,
        queries,
        batch=batch,
        lateness_s=lateness,
        labels=labels,
        records=records,
        points_max=points_of_a_window(config_file),
    )
    show_run(outcome, as_json=as_json)
