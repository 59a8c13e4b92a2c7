"""Checks for time words: words that Spark reads as a time that depends on the clock.

Spark accepts ``now``, ``today``, ``tomorrow``, ``yesterday`` and ``epoch`` only in a constant string that it casts to a
date or timestamp. In a string from a record they are no time. A predicate must depend only on the record, so the words
are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from asc.predicate.expressions.types import is_interval
from asc.predicate.functions import FUNCTIONS
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, is_time_word
from asc.predicate.syntax.nodes import Node
from asc.predicate.type_checking.instant_arithmetic import INSTANT_FUNCTIONS
from asc.predicate.type_checking.interval_arithmetic import TRIED
from asc.predicate.type_checking.typer import COMPARISONS, Typer

_MAY_HOLD_WORDS = re.compile("['\"(]")
"""A pattern that finds a quote or a parenthesis. A predicate without either has no strings and calls, so it contains no
time word and needs no check.
"""

_INSTANTS = (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)
_INSTANT_SORTS = frozenset("tTDzr")
"""The sorts of arguments for which Spark casts a string to an instant (see Function)."""

_TEXTS_OF_INSTANTS = frozenset(("date_format", "from_unixtime", "dayname", "monthname"))
"""The functions whose result contains no time word, unless it is quoted in their pattern."""


def check_time_words(typer: Typer, tree: Node) -> None:
    """Raise PredicateError if a typed predicate contains a constant that Spark would read as a time word."""
    if _MAY_HOLD_WORDS.search(typer.source.text) is None:
        return
    constant: dict[Node, bool] = {}
    for node in _inside_out(tree):
        constant[node] = node.op != "column" and all(constant[arg] for arg in node.args)
        for operand in _cast_to_instants(typer, node):
            if not constant[operand]:
                continue
            expression = typer.of(_said(operand))
            literal = expression.literal
            if literal is not None and isinstance(literal.value, str) and is_time_word(literal.value):
                raise typer.source.error_at(operand, "time word", "write the date or time itself")
            if literal is None and expression.type in (pa.string(), None) and not _has_no_word(operand):
                raise typer.source.error_at(operand, "computed constant as a time:", "write the date or time itself")


def _inside_out(tree: Node) -> list[Node]:
    """Return the nodes of a tree, each after its operands."""
    found = [tree]
    for node in found:
        found += node.args
    found.reverse()
    return found


def _cast_to_instants(typer: Typer, node: Node) -> Iterator[Node]:
    """Yield the operands that Spark casts to an instant if they are strings."""
    op, args = node.op, node.args
    if op in ("cast", "try_cast"):
        if node.value[0] in _INSTANTS:
            yield args[0]
    elif op in COMPARISONS or op == "between" or (op == "call" and node.value in ("nullif", "equal_null")):
        yield from _beside_instants(typer, args)
    elif op == "case_of":
        yield from _beside_instants(typer, (args[0], *(args[i] for i in range(1, len(args) - 1, 2))))
    elif op in ("+", "-") or (op == "call" and node.value in TRIED):
        kinds = [typer.of(arg).type for arg in args]
        if any(is_interval(kind) or kind in _INSTANTS for kind in kinds):
            yield from args
    elif op == "call" and node.value in INSTANT_FUNCTIONS:
        yield from args[1:]
    elif op == "call" and node.value in FUNCTIONS:
        function = FUNCTIONS[node.value]
        yield from (arg for place, arg in enumerate(args) if function.sort(place) in _INSTANT_SORTS)


def _beside_instants(typer: Typer, operands: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the operands beside which another operand is a date or timestamp, or is of unknown type. Spark may cast
    such an operand to an instant.
    """
    maybe = [typer.of(operand).type in (None, *_INSTANTS) for operand in operands]
    return tuple(operand for operand, own in zip(operands, maybe, strict=True) if sum(maybe) > own)


def _said(node: Node) -> Node:
    """Return the operand within any casts to a string around it."""
    while node.op in ("cast", "try_cast") and node.value[0] == pa.string():
        node = node.args[0]
    return node


def _has_no_word(node: Node) -> bool:
    """Return whether a computed constant is certain to contain no time word. It must be NULL, possibly with casts, or
    the text of a date or timestamp in a pattern without quoted text.
    """
    while node.op in ("cast", "try_cast"):
        node = node.args[0]
    if node.op == "call" and node.value in _TEXTS_OF_INSTANTS:
        return not any(arg.op == "literal" and "'" in str(arg.value.value) for arg in node.args)
    return node.op == "literal" and node.value.value is None
