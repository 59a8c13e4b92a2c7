"""The options that make a query a join, and the field ``join`` of the query's body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from broker.answers.query import Join

Command = TypeVar("Command", bound=Callable[..., object])


def per_shape_option(command: Command) -> Command:
    """Add ``--per-shape``."""
    help_text = "Write an accepted record once for each shape that accepts it."
    return click.option("--per-shape", is_flag=True, help=help_text)(command)


def join_of(layer: str | None, *, per_shape: bool = False) -> Join | None:
    """Return the field ``join`` of a query over a layer. Return None without a layer.

    Raise click.UsageError for ``--per-shape`` without a layer.

    >>> join_of("countries", per_shape=True)
    {'layer': 'countries', 'per_shape': True}
    >>> join_of(None)
    """
    if layer is not None:
        # An empty name is sent to the daemon, which refuses it. If an empty name meant no layer, the join would become
        # a query without a layer.
        return {"layer": layer, "per_shape": per_shape}
    if per_shape:
        raise click.UsageError("--per-shape goes with --layer: without a layer there are no shapes")
    return None
