"""The commands of all operator kinds, one group for each kind. A kind's group is found by the name of its module in
this package, so that a new kind needs no other change.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import click

import cli.operators


def _groups() -> Iterator[click.Group]:
    """Yield the group of each kind: the group ``NAME`` of the module ``NAME``, or of ``NAME.commands`` if ``NAME`` is a
    package.
    """
    for each in iter_modules(cli.operators.__path__):
        name = f"{cli.operators.__name__}.{each.name}"
        group = getattr(import_module(f"{name}.commands" if each.ispkg else name), each.name, None)
        # The other modules contain code that the kinds share.
        if isinstance(group, click.Group):
            yield group


OPERATOR_COMMANDS = tuple(_groups())
"""The command group of each operator kind, in the order of their names."""
