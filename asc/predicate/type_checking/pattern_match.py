"""LIKE and RLIKE as typed expressions."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate.expressions import types
from asc.predicate.expressions.constant_text import ConstantText, constant_text
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.binding import bound
from asc.predicate.functions.function import not_constant
from asc.predicate.regex.like_of_record import MAX_LIKE_CHARS, like_regex_of_record
from asc.predicate.regex.like_pattern import like_parts, like_regex, like_text, like_work
from asc.predicate.regex.pattern_search import Use, search
from asc.predicate.syntax.interval_type import CALENDAR
from asc.predicate.syntax.nodes import Node
from asc.predicate.type_checking.scoped_typer import ScopedTyper


def pattern_match(typer: ScopedTyper, node: Node) -> Expression:
    """Return the typed expression of a LIKE or RLIKE. Raise PredicateError for a pattern that is refused."""
    subject, pattern = typer.of(node.args[0]), typer.of(node.args[1])
    if types.is_container(subject.type) or subject.type == CALENDAR:
        raise typer.source.error_at(
            subject.node, f"{types.name(subject.type)} matched with a pattern:", "patterns match strings"
        )
    constant = constant_text(pattern.node)
    if pattern.type == pa.null() or constant == ConstantText(None):
        return typer.operator(node, node.op.upper(), subject, pattern, pa.bool_())
    if constant is None and node.op == "rlike":
        raise typer.source.error_at(pattern.node, "pattern", not_constant("what RLIKE matches with"))
    if constant is None or constant.value is None:
        return _with_pattern_of_record(typer, node, subject, pattern)
    text = constant.value
    if node.op == "rlike":
        try:
            sought = search(text, Use.TEST)
        except ValueError as error:
            raise typer.source.error_at(pattern.node, "regular expression", str(error)) from None
        typer.pattern_work.add(node, subject, sought.steps)
        return Expression(f"{subject.argument} RLIKE {quoted(sought.pattern)}", pa.bool_(), node, atomic=False)
    escape = _escape(typer, node)
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


def _escape(typer: ScopedTyper, node: Node) -> str:
    if len(node.args) < 3:
        return "\\"
    escape = node.args[2].value.value if node.args[2].op == "literal" else ""
    if not isinstance(escape, str) or len(escape) != 1:
        raise typer.source.error_at(node.args[2], "escape", "it is one character")
    return escape


def _with_pattern_of_record(typer: ScopedTyper, node: Node, subject: Expression, pattern: Expression) -> Expression:
    """Return the typed expression of a LIKE whose pattern comes from the record.

    Its value is NULL if the pattern is too long, or if Spark throws for the pattern.
    """
    if types.is_container(pattern.type) or pattern.type == CALENDAR:
        raise typer.source.error_at(pattern.node, f"{types.name(pattern.type)} as a pattern:", "patterns are strings")
    if typer.scopes:
        raise typer.source.error_at(pattern.node, "pattern in a lambda", "a pattern there must be a constant string")
    escape = _escape(typer, node)
    if escape in "%_" or escape > "\uffff":
        remedy = "beside a pattern that is no constant it is another character than % and _"
        raise typer.source.error_at(node.args[2], "escape", remedy)
    typer.pattern_work.add(node, subject, MAX_LIKE_CHARS)
    typer.warnings[f"LIKE with a pattern of more than {MAX_LIKE_CHARS} characters is NULL, an evaluation error"] = None
    text = pattern.sql if pattern.type == pa.string() else f"CAST({pattern.sql} AS STRING)"
    regex = bound(text, like_regex_of_record("p", escape))
    return Expression(f"{subject.argument} RLIKE {regex}", pa.bool_(), node, atomic=False)
