"""``asc publish``."""

from __future__ import annotations

from pathlib import Path

import click

from cli.client import Client, server_options
from cli.command import Command, examples
from cli.output import counted, json_option, print_json


@click.command(
    cls=Command,
    epilog=examples(
        "asc publish --stream flights flights.csv.gz",
        "asc publish --stream flights --key carrier flights.parquet",
    ),
)
@click.option("--stream", help="The stream to publish into; may be left out where there is one.")
@click.option("--key", metavar="COLUMN", help="The column whose text becomes the record's key.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@server_options
@json_option
def publish(client: Client, stream: str | None, key: str | None, file: Path, as_json: bool) -> None:
    """Send the rows of a file into a stream's source topic.

    They are sent in order, each in the stream's format.
    FILE is CSV with a header (an empty field is NULL), NDJSON or Parquet, by the end of its name; .gz may follow.

    Kafka's address comes from the daemon; the connection to it is without TLS and SASL.
    """
    from tqdm import tqdm

    from asc.schema import Schema
    from cli.records import column_warnings, read_records

    target = client.stream(stream)
    schema = Schema.from_ddl(target["schema"])
    for warning in column_warnings(file, schema):
        click.echo(f"warning: {warning}", err=True)
    with tqdm(total=file.stat().st_size, unit="B", unit_scale=True, desc=file.name, disable=None) as bar:
        records = read_records(file, target["format"], schema, key, lambda done: bar.update(done - bar.n))
        count = sum(1 for _ in client.kafka().send(target["topic"], records))
    if as_json:
        print_json({"stream": target["name"], "topic": target["topic"], "records": count})
    else:
        click.echo(f"{counted(count, 'record')} published to {target['topic']}")
