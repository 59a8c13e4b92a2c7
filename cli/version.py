"""``asc version``."""

from __future__ import annotations

import click

from cli.command import Command, examples
from cli.output import json_option, print_json, print_table

PARTS = ("asc-broker", "pyspark", "kafka-python", "pyarrow", "numpy", "numba", "bitarray", "sqlglot")


@click.command(
    cls=Command,
    epilog=examples(
        "asc version",
        "asc version --json",
    ),
)
@json_option
def version(as_json: bool) -> None:
    """Print the versions of the broker and of what it stands on."""
    import platform
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    found = {"python": platform.python_version()}
    for part in PARTS:
        try:
            found[part] = version_of(part)
        except PackageNotFoundError:
            found[part] = "not installed"
    if as_json:
        print_json(found)
    else:
        print_table(["part", "version"], sorted(found.items(), key=lambda item: item[0] != PARTS[0]))
