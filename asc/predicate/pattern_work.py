"""The work that the patterns of one predicate are together."""

from __future__ import annotations

from collections.abc import Iterator

from asc.predicate.functions.regular_expressions import REGULAR_EXPRESSIONS
from asc.predicate.pattern import like_parts, like_work
from asc.predicate.pattern_match import pattern_text
from asc.predicate.regular_expression import MAX_STEPS, rlike_work
from asc.predicate.syntax import Node
from asc.predicate.typer import Typer


def check_pattern_work(typer: Typer, tree: Node) -> None:
    """PredicateError where a record could keep the patterns of a predicate busy for too long, all of them together.

    The predicate has been typed: each of its patterns alone is allowed.
    """
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
            yield node, like_work(like_parts(pattern, escape))
    elif node.op == "rlike" or (node.op == "call" and node.value in REGULAR_EXPRESSIONS):
        pattern = pattern_text(typer.of(node.args[1]))
        if pattern is not None:
            yield node, rlike_work(pattern)
    for arg in node.args:
        yield from _works(typer, arg)
