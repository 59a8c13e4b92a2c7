"""``asc cube lookup``: tables by key, whose attributes questions to cubes name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.client import server_options
from cli.command import Command, Group, examples
from cli.failure import CommandError
from cli.file_options import EXISTING_FILE
from cli.output import counted, json_option, print_json, print_table

_PUT = "asc cube lookup put planes --key tailnum planes.csv"
_MEDIA_TYPES = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}


class _LookupGroup(Group):
    """A group whose command ``put`` may be omitted: if the first argument is not the name of a command, it is that of a
    look-up.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the omitted command ``put``, and parse the arguments."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["put", *args]
        return super().parse_args(ctx, args)


@click.group(
    "lookup",
    cls=_LookupGroup,
    epilog=examples(
        _PUT,
        "asc cube query late --by planes.manufacturer",
        "asc cube query late --by carrier --where \"planes.seats > 100 AND planes.manufacturer = 'BOEING'\"",
        "asc cube lookup list",
        "asc cube lookup remove planes",
    ),
)
def lookup() -> None:
    """Store and show tables by key, whose attributes questions to cubes group by and compare.

    The key is a dimension of a cube, as it is spelled there. A question groups the cells of that dimension by an
    attribute, as planes.manufacturer. The newest table applies to all records, whenever they were counted. 'asc cube
    lookup NAME --key COLUMN FILE' is the command 'put'.
    """


@lookup.command(cls=Command, epilog=examples(_PUT, "asc cube lookup put airports --key dest airports.parquet"))
@click.argument("name")
@click.option("--key", required=True, metavar="COLUMN", help="The column with the keys; its name is the dimension.")
@click.argument("file", type=EXISTING_FILE)
@server_options
@json_option
def put(*, client: Client, name: str, key: str, file: Path, as_json: bool) -> None:
    """Store a file as a look-up, in place of the former one of its name.

    FILE is CSV with a header (.csv) or Parquet (.parquet), of at most 64 MiB and 1,000,000 rows. Each key is there
    once; rows without a key are excluded. In CSV, an empty field is NULL. Attributes of CSV are BOOLEAN, INT, BIGINT,
    DOUBLE or DATE if all values are written so, else STRING.

    Takes a token that sees all queries. Returns once questions use the table.
    """
    media_type = _MEDIA_TYPES.get(file.suffix.lower())
    if media_type is None:
        raise click.UsageError(f"{str(file)!r} is neither .csv nor .parquet: write the table as one of these")
    from asc.operators.cube.lookup import LOOKUP_BYTES_MAX

    if file.stat().st_size > LOOKUP_BYTES_MAX:
        remedy = f"is over {LOOKUP_BYTES_MAX >> 20} MiB, the limit of a look-up: leave out rows or columns"
        raise CommandError("file", str(file), remedy)
    found = client.cubes.put_lookup(name, file.read_bytes(), key, media_type=media_type)
    if as_json:
        print_json(found)
    else:
        click.echo(visible(f"{found['name']}: {_summary(found)}"))


@lookup.command("list", cls=Command, epilog=examples("asc cube lookup list", "asc cube lookup list --json"))
@server_options
@json_option
def list_lookups(*, client: Client, as_json: bool) -> None:
    """List the look-ups: the key, the rows and bytes, the version, and the attributes."""
    found = client.cubes.lookups()
    if as_json:
        print_json({"lookups": found})
        return
    rows = [
        [own["name"], own["key"], own["rows"], own["bytes"], own["version"], own["written"], _attributes(own)]
        for own in found
    ]
    print_table(["name", "key", "rows", "bytes", "version", "written", "attributes"], rows)


@lookup.command(cls=Command, epilog=examples("asc cube lookup show planes"))
@click.argument("name")
@server_options
@json_option
def show(*, client: Client, name: str, as_json: bool) -> None:
    """Show one look-up, without its rows: the type of each attribute."""
    found = client.cubes.lookup(name)
    if as_json:
        print_json(found)
        return
    click.echo(visible(f"{found['name']}: {_summary(found)}, written {found['written']}, topic {found['topic']}"))
    print_table(["attribute", "type"], [[f"{found['name']}.{own['name']}", own["type"]] for own in found["attributes"]])


@lookup.command(cls=Command, epilog=examples("asc cube lookup remove planes"))
@click.argument("name")
@server_options
@json_option
def remove(*, client: Client, name: str, as_json: bool) -> None:
    """Remove a look-up. Questions that name its attributes are refused from then on.

    Takes a token that sees all queries.
    """
    client.cubes.remove_lookup(name)
    if as_json:
        print_json({"removed": name})
    else:
        click.echo(visible(f"{name}: removed"))


def _summary(found: Mapping[str, Any]) -> str:
    rows, attributes = counted(found["rows"], "row"), counted(len(found["attributes"]), "attribute")
    return f"{rows} by {found['key']}, {attributes}, {found['bytes']:,} bytes, version {found['version']}"


def _attributes(found: Mapping[str, Any]) -> str:
    return ", ".join(own["name"] for own in found["attributes"])
