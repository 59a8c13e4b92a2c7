"""The bounds on every input, from which docs/operate/limits.md is generated. Their descriptions are read from
docs/operate/limits.toml, and their values from the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from broker.operators.kinds import OPERATORS
from broker.toml_text import parse_toml

HEAD = """# Limits

This page is generated from the code by `python -m cli.reference`.
The broker checks all inputs from records, requests, schema registries, layers and files against these bounds.
If a bound has a configuration key, the table shows the default of that key. For each bound, a test exceeds it.

Other pages explain the bounds on [predicates](../predicates.md#limits), on [formats](../formats.md) and on
[requests](../security.md#bounds-on-requests), and the [configuration keys](../configuration.md).
"""

_SIZES = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on one measure of an input.

    ``measure``: the bounded quantity. ``place``: the location of the bound in the code, ``module:NAME`` for a constant
    or ``module:Class.field`` for a default. ``unit``: the unit in the plural; bytes are shown in the largest unit that
    gives a whole number. ``beyond``: the effect of an input that exceeds the bound. ``test``: the test that exceeds the
    bound. ``key``: the key of the configuration that sets the bound, or None. ``meaning``: the text about the key in
    the table of the keys of operators; None means ``measure``.
    """

    measure: str
    place: str
    unit: str
    beyond: str
    test: str
    key: str | None = None
    meaning: str | None = None

    @property
    def value(self) -> float:
        """The number at the location ``place`` in the code. Raise ValueError if the value there is not a number."""
        module, _, path = self.place.partition(":")
        held: Any = import_module(module)
        for name in path.split("."):
            held = _default(held, name)
        if isinstance(held, bool) or not isinstance(held, int | float):
            raise ValueError(f"{self.place} is {held!r}: name a number")
        return held

    @property
    def text(self) -> str:
        """The value with its unit.

        >>> Bound("a body", "broker.http.models:JSON_MAX_BYTES", "bytes", "413", "").text
        '2 MiB'
        """
        value = self.value
        for name, size in _SIZES if self.unit == "bytes" else ():
            if value >= size and value % size == 0:
                return f"{int(value // size):,} {name}"
        return f"{value:,} {self.unit}".rstrip() if isinstance(value, int) else f"{value:,g} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class BoundGroup:
    """The bounds on inputs of one kind. They form one section of the page of bounds."""

    title: str
    bounds: Sequence[Bound]


def bound_groups(path: Path) -> list[BoundGroup]:
    """Return the groups of bounds in a TOML file, in the order of the file."""
    document = parse_toml(path.read_text(encoding="utf-8"))
    return [BoundGroup(group["title"], [Bound(**row) for row in group["bounds"]]) for group in document.values()]


def limits_page(groups: Sequence[BoundGroup]) -> str:
    """Return the page of all bounds, as Markdown."""
    return "\n".join([HEAD.rstrip("\n"), *(line for group in groups for line in _section(group)), ""])


def operator_keys_table(groups: Sequence[BoundGroup]) -> str:
    """Return the table of the configuration keys that bound the queries of each kind of operator, as Markdown. Raise
    KeyError if a key has no bound in the groups.
    """
    by_key = {bound.key: bound for group in groups for bound in group.bounds if bound.key is not None}
    keys = dict.fromkeys(key for kind in OPERATORS.values() for key in kind.limits)
    bounds = {key: by_key[f"limits.{key}"] for key in keys}
    rows = (f"| `{key}` | `{bound.value}` | {bound.meaning or bound.measure} |" for key, bound in bounds.items())
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows])


def _section(group: BoundGroup) -> Iterator[str]:
    yield from ("", f"## {group.title}", "")
    yield from ("| bounded quantity | bound | configuration key | effect beyond the bound |", "|---|---|---|---|")
    for bound in group.bounds:
        key = f"`{bound.key}`" if bound.key else ""
        yield f"| {bound.measure} | {bound.text} | {key} | {bound.beyond} |"


def _default(holder: Any, name: str) -> Any:
    """Return the constant ``name`` if ``holder`` is a module. Return the default of the field ``name`` if ``holder`` is
    a class.
    """
    return signature(holder).parameters[name].default if isinstance(holder, type) else getattr(holder, name)
