"""``asc schema``: print the schema of a file, without a daemon."""

from __future__ import annotations

from pathlib import Path

import click

from cli.command import Group, examples
from cli.file_options import EXISTING_FILE
from cli.output import counted, json_option, print_json

ROWS = 10_000


@click.group(cls=Group, epilog=examples("asc schema infer flights.csv.gz > flights.ddl"))
def schema() -> None:
    """Infer the schema of a stream from a file of records, without a daemon."""


@schema.command(
    epilog=examples(
        "asc schema infer flights.csv.gz > flights.ddl",
        "asc schema infer --rows 1000000 flights.ndjson > flights.ddl",
        'asc query check --where "arr_delay > 60" --schema flights.ddl',
    )
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=ROWS,
    show_default=True,
    help="Rows of CSV and NDJSON that are looked at, the first ones.",
)
@click.argument("file", type=EXISTING_FILE)
@json_option
def infer(*, file: Path, rows: int, as_json: bool) -> None:
    """Print the schema of a file as Spark DDL, a field a line.

    FILE is CSV with a header, NDJSON or Parquet, by the end of its name; .gz may follow. Each guess, and the number of
    rows that it is from, is printed on stderr. Malformed lines are excluded and counted; the first is named. The types
    are the narrowest common ones that hold every value that was seen: INT, else BIGINT, else DECIMAL(38,0); DATE, else
    TIMESTAMP; text where nothing else does.

    The output is a stream's schema_file, and the --schema of 'asc match' and 'asc query check'.
    """
    from broker.files.file_schema import schema_of_file

    inferred = schema_of_file(file, rows)
    if as_json:
        malformed = {"malformed": inferred.malformed, "first_malformed": inferred.first_malformed}
        print_json({"schema": inferred.ddl, "notes": inferred.notes, **malformed})
        return
    if inferred.malformed:
        lines = counted(inferred.malformed, "malformed line")
        click.echo(f"warning: {lines} excluded; the first: {inferred.first_malformed}", err=True)
    for note in inferred.notes:
        click.echo(note, err=True)
    click.echo(inferred.ddl)
