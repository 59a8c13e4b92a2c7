"""``asc publish``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.client import Client, server_options
from cli.command import Command, examples
from cli.output import counted, json_option, print_json

if TYPE_CHECKING:
    from asc.schema import Schema
    from broker.kafka.client import KafkaClient, Record


@click.command(
    cls=Command,
    epilog=examples(
        "asc publish --stream flights flights.csv.gz",
        "asc publish --stream flights --key carrier flights.parquet",
        "tail -f flights.ndjson | asc publish --stream flights -",
        "zcat flights.csv.gz | asc publish --stream flights --format csv -",
    ),
)
@click.option("--stream", help="The stream to publish into; may be left out where there is one.")
@click.option("--key", metavar="COLUMN", help="The column whose text becomes the record's key.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["ndjson", "csv", "parquet"]),
    help="The format of FILE, where its name does not say it; of standard input ndjson, unless this says csv.",
)
@click.option("--force", is_flag=True, help="Publish also a file that shares no column with the stream's schema.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@server_options
@json_option
def publish(
    *,
    client: Client,
    stream: str | None,
    key: str | None,
    format_name: str | None,
    force: bool,
    file: Path,
    as_json: bool,
) -> None:
    """Send the rows of a file into a stream's source topic.

    They are sent in order, each in the stream's format, times of CSV and Parquet by the patterns of its options.
    FILE is CSV with a header (an empty field is NULL), NDJSON or Parquet, by the end of its name; .gz may follow. - is
    standard input, line by line as it comes, until it ends or Ctrl-C.

    Kafka's address comes from the daemon; the connection to it is without TLS and SASL.
    """
    from tqdm import tqdm

    from asc.schema import Schema
    from cli.failure import CommandError
    from cli.input_files import STDIN, file_format
    from cli.records import Target, read_records

    if file == STDIN and format_name == "parquet":
        raise CommandError("--format", "parquet", "is read from its end: name a file, not standard input")
    own_format = format_name or ("ndjson" if file == STDIN else file_format(file))
    found = client.stream(stream)
    schema = Schema.from_ddl(found["schema"])
    target = Target(found["format"], schema, found.get("options", {}), found.get("time_zone", "UTC"))
    kafka = client.kafka()
    size_bytes = None if file == STDIN else file.stat().st_size
    with tqdm(total=size_bytes, unit="B", unit_scale=True, desc=file.name, disable=_no_bar(file)) as bar:
        records = read_records(
            file,
            own_format,
            target,
            key,
            advance=lambda done: bar.update(done - bar.n),
            on_columns=_judge(file, schema, warned=own_format != "ndjson", force=force),
        )
        count, interrupted = _sent(kafka, found["topic"], records)
    if as_json:
        print_json({"stream": found["name"], "topic": found["topic"], "records": count})
    else:
        click.echo(f"{counted(count, 'record')} published to {found['topic']}")
    if interrupted and file != STDIN:
        click.echo("interrupted: the rest of the file was not published", err=True)
        raise click.exceptions.Exit(130)


def _no_bar(file: Path) -> bool | None:
    """No bar for what has no known end; else one on a terminal."""
    from cli.input_files import STDIN

    return True if file == STDIN else None


def _judge(file: Path, schema: Schema, *, warned: bool, force: bool) -> Callable[[Sequence[str], bool], None]:
    """What is said of a file's columns, or refused, before its first record is sent."""
    from cli.shared_columns import check_shared, column_warnings

    def judge(columns: Sequence[str], by_case: bool) -> None:
        if not force:
            check_shared(str(file), columns, schema, by_case=by_case)
        # The lines of NDJSON need not be alike.
        if warned:
            for warning in column_warnings(columns, schema):
                click.echo(f"warning: {warning}", err=True)

    return judge


def _sent(kafka: KafkaClient, topic: str, records: Iterator[Record]) -> tuple[int, bool]:
    """How many records Kafka has, and whether Ctrl-C ended them."""
    interrupted = False

    def until_interrupted() -> Iterator[Any]:
        nonlocal interrupted
        try:
            yield from records
        except KeyboardInterrupt:
            # What was read is on its way: it is waited for.
            interrupted = True

    def say_silent() -> None:
        with suppress(OSError):
            click.echo(f"Kafka {kafka.bootstrap_servers} does not answer yet, still trying", err=True)

    count = 0
    try:
        for _ in kafka.send(topic, until_interrupted(), on_silence=say_silent):
            count += 1
    except KeyboardInterrupt:
        interrupted = True
        click.echo(f"interrupted: {counted(count, 'record')} acknowledged, later ones may have arrived", err=True)
        raise click.exceptions.Exit(130) from None
    return count, interrupted
