"""``asc cube dump``: a copy of the cubes of a stream."""

from __future__ import annotations

from pathlib import Path

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.arguments import stream_option
from cli.client import server_options, stream_of
from cli.command import Command, examples
from cli.output import json_option, print_json


@click.command(
    "dump",
    cls=Command,
    epilog=examples("asc cube dump flights.sqlite", "asc cube dump --stream flights backup/flights.sqlite"),
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@stream_option("The stream of the cubes; needed where the daemon has several.")
@server_options
@json_option
def dump(*, client: Client, file: Path, stream: str | None, as_json: bool) -> None:
    """Save a copy of all cubes of a stream as FILE, which is new.

    The daemon goes on counting meanwhile; the copy is of one of its commits. It takes a token that sees all queries of
    the stream, and may name all columns.

    To restore it, stop the daemon. In checkpoint_dir/.cubes/STREAM, move cubes.sqlite away and delete
    cubes.sqlite-wal. Copy FILE there as cubes.sqlite, and start the daemon. After takeovers by a standby, use the
    folder STREAM~N and the file cubes~N.sqlite with the largest number N.
    """
    from tqdm import tqdm

    name = stream_of(client, stream)["name"]
    with tqdm(total=0, unit="B", unit_scale=True, desc="saving", disable=None, leave=False) as bar:

        def show(saved_bytes: int, size_bytes: int) -> None:
            bar.total = size_bytes
            bar.update(saved_bytes - bar.n)

        size_bytes = client.cubes.dump(name, file, progress=show)
    if as_json:
        print_json({"stream": name, "file": str(file), "bytes": size_bytes})
    else:
        click.echo(visible(f"{file}: the cubes of stream '{name}', {size_bytes:,} bytes"))
