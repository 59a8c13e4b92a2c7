"""LIKE and RLIKE as typed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.pattern import like_parts, like_regex, like_text, rlike_trouble
from asc.predicate.syntax import Node

if TYPE_CHECKING:
    from asc.predicate.typer import Typer


def pattern_match(typer: Typer, node: Node) -> Expression:
    """A match with a pattern that is a constant; PredicateError for what is refused."""
    subject, pattern = typer.of(node.args[0]), typer.of(node.args[1])
    if types.is_container(subject.type) or subject.type == pa.binary():
        raise typer.source.error_at(
            subject.node, f"{types.name(subject.type)} matched with a pattern:", "patterns match strings"
        )
    if pattern.literal is None or not isinstance(pattern.literal.value, str | None):
        raise typer.source.error_at(pattern.node, "pattern", "a pattern must be a constant string")
    text = pattern.literal.value
    if text is None:
        return typer.operator(node, node.op.upper(), subject, pattern, pa.bool_())
    if node.op == "rlike":
        trouble = rlike_trouble(text)
        if trouble:
            raise typer.source.error_at(pattern.node, "regular expression", trouble)
        return typer.operator(node, "RLIKE", subject, pattern, pa.bool_())
    escape = "\\"
    if len(node.args) > 2:
        escape = node.args[2].value.value
        if len(escape) != 1:
            raise typer.source.error_at(node.args[2], "escape", "it is one character")
    try:
        regex = like_regex(text, escape)
    except ValueError as error:
        raise typer.source.error_at(pattern.node, "LIKE pattern", str(error)) from None
    if regex is not None:
        return Expression(f"{subject.argument} RLIKE {quoted(regex)}", pa.bool_(), node, atomic=False)
    suffix = f" ESCAPE {quoted(escape)}" if len(node.args) > 2 else ""
    like = quoted(like_text(like_parts(text, escape), escape))
    return Expression(f"{subject.argument} LIKE {like}{suffix}", pa.bool_(), node, atomic=False)
