"""LIKE and RLIKE as typed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.interval_type import CALENDAR
from asc.predicate.pattern import like_parts, like_regex, like_text, like_work
from asc.predicate.pattern_search import Use, search
from asc.predicate.syntax import Node

if TYPE_CHECKING:
    from asc.predicate.typer import Typer


def pattern_text(pattern: Expression) -> str | None:
    """The text of a pattern: a constant, or constants joined; None for NULL and for anything else."""
    return None if pattern.type == pa.null() else _constant(pattern.node)


def pattern_match(typer: Typer, node: Node) -> Expression:
    """A match with a pattern that is a constant; PredicateError for what is refused."""
    subject, pattern = typer.of(node.args[0]), typer.of(node.args[1])
    if types.is_container(subject.type) or subject.type == CALENDAR:
        raise typer.source.error_at(
            subject.node, f"{types.name(subject.type)} matched with a pattern:", "patterns match strings"
        )
    text = pattern_text(pattern)
    if text is None and pattern.type != pa.null():
        raise typer.source.error_at(pattern.node, "pattern", "a pattern must be a constant string")
    if text is None:
        return typer.operator(node, node.op.upper(), subject, pattern, pa.bool_())
    if node.op == "rlike":
        try:
            sought = search(text, Use.TEST)
        except ValueError as error:
            raise typer.source.error_at(pattern.node, "regular expression", str(error)) from None
        typer.pattern_work.add(node, subject, sought.steps)
        return Expression(f"{subject.argument} RLIKE {quoted(sought.pattern)}", pa.bool_(), node, atomic=False)
    escape = "\\"
    if len(node.args) > 2:
        escape = node.args[2].value.value if node.args[2].op == "literal" else ""
        if not isinstance(escape, str) or len(escape) != 1:
            raise typer.source.error_at(node.args[2], "escape", "it is one character")
    try:
        steps = like_work(like_parts(text, escape))
        regex = like_regex(text, escape)
    except ValueError as error:
        raise typer.source.error_at(pattern.node, "LIKE pattern", str(error)) from None
    typer.pattern_work.add(node, subject, steps)
    if regex is not None:
        return Expression(f"{subject.argument} RLIKE {quoted(regex)}", pa.bool_(), node, atomic=False)
    suffix = f" ESCAPE {quoted(escape)}" if len(node.args) > 2 else ""
    like = quoted(like_text(like_parts(text, escape), escape))
    return Expression(f"{subject.argument} LIKE {like}{suffix}", pa.bool_(), node, atomic=False)


def _constant(node: Node) -> str | None:
    """The text of a constant, or of constants joined; None for anything else."""
    if node.op == "||" or (node.op == "call" and node.value == "concat"):
        parts = [_constant(arg) for arg in node.args]
        return None if None in parts else "".join(part for part in parts if part is not None)
    value = node.value.value if node.op == "literal" else None
    if isinstance(value, bool):
        return None
    return value if isinstance(value, str) else str(value) if isinstance(value, int) and node.value.known else None
