"""``asc token``: tokens for the tokens file."""

from __future__ import annotations

from pathlib import Path

import click

from cli.command import Command, Group, examples
from cli.failure import CommandError
from cli.file_options import EXISTING_FILE
from cli.output import json_option, print_json

_FILE_MODE = 0o600


@click.group(
    cls=Group,
    epilog=examples(
        "asc token new ops --id-prefix ops- --stream flights --topic-prefix ops.",
        "asc token new dashboard --read-only",
    ),
)
def token() -> None:
    """Make tokens for the HTTP API.

    The daemon knows them from the file that api.tokens_file names, which holds their hashes. It reads the file again
    on SIGHUP.
    """


@token.command(
    cls=Command,
    epilog=examples(
        "asc token new admin",
        "asc token new ops --id-prefix ops- --stream flights --topic-prefix ops. --max-queries 100",
        "asc token new ops --column delay --column place.city --append-to tokens.toml",
        "asc token new dashboard --read-only --json",
        "asc token new ops --token-file secret.txt",
    ),
)
@click.argument("name")
@click.option("--read-only", is_flag=True, help="It may change nothing.")
@click.option("--id-prefix", metavar="TEXT", help="It sees and changes queries whose id begins so, and no others.")
@click.option("--stream", "streams", metavar="NAME", multiple=True, help="Of these streams alone; repeatable.")
@click.option(
    "--topic-prefix", "topic_prefixes", metavar="TEXT", multiple=True, help="Destinations begin so; repeatable."
)
@click.option(
    "--column", "columns", metavar="PATH", multiple=True, help="Predicates name these columns alone; repeatable."
)
@click.option("--max-queries", type=click.IntRange(min=0), metavar="N", help="So many of its queries stand at most.")
@click.option("--append-to", type=click.Path(dir_okay=False, path_type=Path), help="Put the entry into this file.")
@click.option("--token-file", type=EXISTING_FILE, help="Take the token that is in this file, instead of a new one.")
@json_option
def new(
    *,
    name: str,
    read_only: bool,
    id_prefix: str | None,
    streams: tuple[str, ...],
    topic_prefixes: tuple[str, ...],
    columns: tuple[str, ...],
    max_queries: int | None,
    append_to: Path | None,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Make a token, and the entry of the tokens file that lets its bearer in.

    The token is printed this once, first; the entry has its hash. You can write its limits into the entry later as
    well. Without options it may do everything.
    """
    from broker.access.secret import check_secret, digest, new_secret
    from broker.access.tokens_file import check_token_name, parse_tokens, token_entry
    from broker.files.bounded_file import read_text

    check_token_name(name)
    secret = new_secret() if token_file is None else read_text(token_file).strip()
    check_secret(secret)
    limits = {"id_prefix": id_prefix, "streams": streams, "topic_prefixes": topic_prefixes, "columns": columns}
    if id_prefix == "":
        raise CommandError("--id-prefix", None, "is empty, which would be no limit: give a prefix, or leave it out")
    given = {key: value for key, value in limits.items() if value}
    table = {"sha256": digest(secret), "read_only": read_only, "max_queries": max_queries, **given}
    text = token_entry(name, table).toml(name)
    if append_to is not None:
        before = read_text(append_to) if append_to.exists() else ""
        if before.strip() and name in {scope.name for scope in parse_tokens(before, append_to).values()}:
            raise CommandError("token", name, f"is in {append_to} already: choose another name, or take it out")
        together = f"{before.rstrip()}\n\n{text}" if before.strip() else text
        parse_tokens(together, append_to)
        _write(append_to, together)
    if as_json:
        print_json({"name": name, "token": secret if token_file is None else None, "entry": text})
        return
    if token_file is None:
        click.echo(secret)
    if append_to is None:
        click.echo(f"\n{text}" if token_file is None else text, nl=False)
    else:
        click.echo(f"'{name}' is in {append_to}: send the daemon SIGHUP", err=True)


def _write(path: Path, text: str) -> None:
    """Write a text to a file atomically, because a daemon may read the file at any time."""
    import os
    import tempfile

    try:
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(handle, path.stat().st_mode & 0o777 if path.exists() else _FILE_MODE)
        Path(aside).replace(path)
    except OSError as error:
        raise CommandError("tokens file", str(path), f"cannot be written: {error.strerror}") from None
