"""The work that the patterns of one predicate are together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

from asc.predicate.functions.bounded import MAX_LENGTH_CHARS
from asc.predicate.functions.regular_expressions import REGULAR_EXPRESSIONS
from asc.predicate.pattern import like_parts, like_work
from asc.predicate.pattern_match import pattern_text
from asc.predicate.regular_expression import MAX_STEPS, rlike_work
from asc.predicate.syntax import Node
from asc.predicate.typer import Typer

_MAY_HOLD_PATTERNS = re.compile("like|regexp|split", re.IGNORECASE)
"""Every operator and function that takes a pattern is named so."""

_SHORT_CHARS = 500
"""Constant text that is no more work than a record is."""

_LENGTHENING = frozenset(("lpad", "rpad", "repeat", "space", "array_repeat", "sequence"))


def check_pattern_work(typer: Typer, tree: Node) -> None:
    """PredicateError where a record could keep the patterns of a predicate busy for too long, all of them together.

    The predicate has been typed: each of its patterns alone is allowed.
    """
    if _MAY_HOLD_PATTERNS.search(typer.source.text) is None:
        return
    work = 0
    for node, steps in _works(typer, tree):
        work += steps
        if work > MAX_STEPS:
            remedy = f"together they may take more than {MAX_STEPS} steps for each character of a string: write fewer"
            raise typer.source.error_at(node, "patterns up to", remedy)


def _works(typer: Typer, node: Node) -> Iterator[tuple[Node, int]]:
    if node.op == "like":
        pattern = pattern_text(typer.of(node.args[1]))
        if pattern is not None:
            escape = node.args[2].value.value if len(node.args) > 2 else "\\"
            yield node, like_work(like_parts(pattern, escape)) * _times(typer, node.args[0])
    elif node.op == "rlike" or (node.op == "call" and node.value in REGULAR_EXPRESSIONS):
        pattern = pattern_text(typer.of(node.args[1]))
        if pattern is not None:
            yield node, rlike_work(pattern) * _times(typer, node.args[0])
    for arg in node.args:
        yield from _works(typer, arg)


def _times(typer: Typer, subject: Node) -> int:
    """How much longer than a record the text may be that a pattern is matched with."""
    return ceil(typer.of(subject).growth) + _constant_chars(subject) // _SHORT_CHARS


def _constant_chars(node: Node) -> int:
    """Characters that constants may bring into a text: their own, and those that they ask for."""
    if node.op == "literal":
        value = node.value.value
        return len(value) if isinstance(value, str | bytes) else 0
    asked = 0
    if node.op == "call" and node.value in _LENGTHENING:
        numbers = [arg.value.value for arg in node.args if arg.op == "literal" and isinstance(arg.value.value, int)]
        asked = max(numbers, default=MAX_LENGTH_CHARS)
    return asked + sum(_constant_chars(arg) for arg in node.args)
