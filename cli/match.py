"""``asc match``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from cli.arguments import EXISTING_FILE
from cli.command import Command, examples
from cli.output import counted, json_option, print_json, print_table


@click.command(
    cls=Command,
    epilog=examples(
        "asc match --queries queries.ndjson --schema flights.ddl flights.csv.gz",
        "asc match --queries queries.toml --schema flights.ddl --output matched flights.parquet",
    ),
)
@click.option(
    "--queries",
    "queries_file",
    required=True,
    type=EXISTING_FILE,
    help='The predicates: NDJSON of {"id", "where"}, or a mapping of ids to predicates as .toml or .json.',
)
@click.option(
    "--schema",
    "schema_file",
    required=True,
    type=EXISTING_FILE,
    help="The rows' schema: Spark DDL, or the JSON of a Spark StructType.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="A new folder for the accepted rows, as gzipped NDJSON with their queries; without it, counts are printed.",
)
@click.option("--time-zone", default="UTC", show_default=True, help="Time zone of the rows and of TIMESTAMP literals.")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@json_option
def match(
    *, queries_file: Path, schema_file: Path, output: Path | None, time_zone: str, inputs: Sequence[Path], as_json: bool
) -> None:
    """Show which rows of files predicates would have accepted.

    Needs no Kafka and no daemon. INPUT is CSV with a header, NDJSON or Parquet, by the end of its name. Rows that a
    stream of that schema would not decode are left out, counted and named.

    A row of CSV is one line; a line with an odd number of quotes, as a line break in a quoted field makes them, is
    left out too. In Parquet, a value that does not fit its type in the schema is NULL.
    """
    from cli.backtest import run_backtest
    from cli.queries_file import read_queries
    from cli.schema_file import read_schema

    queries = read_queries(queries_file)
    found = run_backtest(inputs, read_schema(schema_file), queries, output, time_zone=time_zone)
    if found.undecodable:
        rows = counted(found.undecodable, "row")
        click.echo(f"warning: {rows} cannot be decoded, left out; the first: {found.first_undecodable}", err=True)
    if as_json:
        counts = {} if output else {"queries": dict(found.by_query)}
        left_out = {"undecodable": found.undecodable, "first_undecodable": found.first_undecodable}
        print_json({"rows": found.rows, "accepted": found.accepted, **left_out, **counts})
        return
    if output is None:
        print_table(["query", "rows"], list(found.by_query.items()))
    click.echo(
        f"{counted(found.rows, 'row')} read, {found.accepted:,} accepted" + (f", written to {output}" if output else "")
    )
