"""``asc match``: show which rows of files predicates would have accepted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asc.schema import CRSS
from cli.arguments import row_schema_options
from cli.command import Command, examples
from cli.file_options import EXISTING_FILE
from cli.output import counted, json_option, print_json, print_table

if TYPE_CHECKING:
    from broker.backtest.backtest import Backtest


@click.command(
    cls=Command,
    epilog=examples(
        "asc match --queries queries.ndjson --schema flights.ddl flights.csv.gz",
        "asc match --queries queries.ndjson --config asc.toml --stream flights flights.ndjson",
        "asc match --queries queries.toml --schema flights.ddl --option timestampFormat='dd/MM/yyyy HH:mm' flights.csv",
        "asc match --queries queries.toml --schema flights.ddl --output matched flights.parquet",
        "asc match --queries low.toml --schema aircraft.ddl --layer countries:ADM0_A3=countries.geojson aircraft.csv",
    ),
)
@click.option(
    "--queries",
    "queries_file",
    required=True,
    type=EXISTING_FILE,
    help='The predicates: NDJSON of {"id", "where"}, or a mapping of ids to predicates as .toml or .json.',
)
@row_schema_options
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="A new folder for the accepted rows, as gzipped NDJSON with their queries; without it, counts are printed.",
)
@click.option(
    "--layer",
    "layers",
    metavar="NAME[:ID]=FILE",
    multiple=True,
    help="Shapes that predicates name as shape('NAME', ...), ID being the property that names each; repeatable.",
)
@click.option("--crs", type=click.Choice(CRSS), help="Of positions and layers; that of --config, or wgs84.")
@click.option("--time-zone", help="Time zone of the rows and of TIMESTAMP literals; that of --config, or UTC.")
@click.option("--spark", "by_spark", is_flag=True, help="Start Spark also where the rows can be matched without it.")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@json_option
def match(
    *,
    queries_file: Path,
    schema_file: Path | None,
    config_file: Path | None,
    stream: str | None,
    options: dict[str, str],
    output: Path | None,
    layers: Sequence[str],
    crs: str | None,
    time_zone: str | None,
    by_spark: bool,
    inputs: Sequence[Path],
    as_json: bool,
) -> None:
    """Show which rows of files predicates would have accepted.

    Needs no Kafka and no daemon. INPUT is CSV with a header, NDJSON or Parquet, by the end of its name. Rows that a
    stream of that schema would not decode are excluded, counted and named; where none can be decoded, the exit code
    is 1.

    A row of CSV is one line; a line with an odd number of quotes, as a line break in a quoted field makes them, is
    excluded too. A column of Parquet may be of another type than the schema's where its values fit; texts are read as
    fields of CSV are.

    If all predicates compare plain columns and all values are plainly written, the rows are matched without Spark,
    in a moment. Otherwise, Spark is started, and the output says why.
    """
    from broker.backtest.backtest import run_backtest
    from broker.files.input_checks import format_of
    from broker.files.queries_file import read_queries
    from cli.decoding import decoding_of, with_layers

    queries = read_queries(queries_file)
    format_name = format_of(inputs)
    decoding = decoding_of(
        format_name,
        schema_file=schema_file,
        config_file=config_file,
        stream=stream,
        options=options,
        time_zone=time_zone,
    )
    decoding = with_layers(decoding, layers, crs)
    backtest = run_backtest(inputs, format_name, decoding, queries, output, by_spark=by_spark)
    _show(backtest, output, as_json=as_json)


def _show(backtest: Backtest, output: Path | None, *, as_json: bool) -> None:
    from cli.failure import CommandError

    result = backtest.result
    nothing_decoded = 0 < result.rows == result.undecodable
    if result.undecodable and not nothing_decoded:
        rows = counted(result.undecodable, "row")
        click.echo(f"warning: {rows} cannot be decoded, excluded; the first: {result.first_undecodable}", err=True)
    if as_json:
        counts = {} if output else {"queries": dict(result.by_query)}
        excluded = {"undecodable": result.undecodable, "first_undecodable": result.first_undecodable}
        print_json({"rows": result.rows, "accepted": result.accepted, **excluded, **counts, "engine": backtest.engine})
    if nothing_decoded:
        remedy = f"the first: {result.first_undecodable}; name the stream's options with --config or --option"
        raise CommandError("none could be decoded, rows", result.rows, remedy)
    if as_json:
        return
    if output is None:
        print_table(["query", "rows"], list(result.by_query.items()))
    how = f", written to {output}" if output else " (without Spark)" if backtest.engine == "arrow" else ""
    click.echo(f"{counted(result.rows, 'row')} read, {result.accepted:,} accepted{how}")
