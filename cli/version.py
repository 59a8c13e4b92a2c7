"""``asc version``: print the versions of the broker and of the packages on which it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from broker.packages import PACKAGES, package_place
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
    """Print the versions of the broker and of the packages that it runs on.

    As JSON also the folder that each of the broker's packages is imported from.
    """
    import platform

    found = {"python": platform.python_version(), **{part: version_of(part) for part in PARTS}}
    if as_json:
        print_json({**found, "packages": {name: package_place(name) for name in PACKAGES}})
    else:
        print_table(["part", "version"], sorted(found.items(), key=lambda item: item[0] != PARTS[0]))


def version_of(part: str) -> str:
    """Return the version of a package. Return ``not installed`` if the package is missing."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(part)
    except PackageNotFoundError:
        return "not installed"


def version_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--version``, which prints the broker's version in one line."""

    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            click.echo(f"{PARTS[0]} {version_of(PARTS[0])}")
            context.exit()

    return click.option(
        "--version", is_flag=True, expose_value=False, is_eager=True, callback=show, help="Print the version and leave."
    )(command)
