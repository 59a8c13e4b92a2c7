"""Casts and collations as typed expressions."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.syntax.interval import Interval
from asc.predicate.syntax.nodes import Node
from asc.spark_types import VARIANT

_COMPARING = frozenset(("=", "<=>", "<", "<=", ">", ">=", "in", "is", "collate"))

_KEYWORDS = {"case_of": "CASE", "index": "[]", "struct": "STRUCT", "row": "STRUCT", "field": "a field", "neg": "-"}


def cast(typer: ExpressionTyper, node: Node) -> Expression:
    """Return the typed expression of a CAST or TRY_CAST. Raise PredicateError for a cast that Spark does not
    support.
    """
    operand = typer.of(node.args[0])
    target, spelling = node.value
    if not types.castable(operand.type, target, attempt=node.op == "try_cast"):
        is_always_null = operand.type == pa.date32() and (types.is_number(target) or target == pa.bool_())
        remedy = (
            "it is always NULL in Spark: unix_date() counts the days" if is_always_null else "Spark has no such cast"
        )
        raise typer.source.error_at(node, f"cast of {types.name(operand.type)} to {spelling}:", remedy)
    if types.is_container(target):
        _check_parts(typer, node, operand)
    if operand.node.op == "interval" and not _fits(operand.node.value, target):
        raise typer.source.error_at(node, f"cast to {spelling} of", "it does not fit")
    if pa.types.is_decimal(target) and operand.literal is None:
        if operand.type is None:
            raise typer.source.error_at(node, f"cast of {types.name(None)} to {spelling}:", "CAST it to STRING first")
        if operand.type == pa.string():
            return Expression(f"{node.op.upper()}(left({operand.sql}, {types.MAX_DIGITS}) AS {spelling})", target, node)
    if target == pa.string() and types.is_container(operand.type):
        made = Expression(f"{node.op.upper()}({operand.sql} AS {spelling})", target, node)
        made.growth = typer.count_grown(node, operand.growth * _text_growth(operand.type))
        return made
    throws = types.needs_guard(operand, target) or types.throws_beyond(operand.type, target) or operand.type == VARIANT
    if throws and typer.catches:
        return Expression(f"TRY_CAST({operand.sql} AS {spelling})", target, node)
    return Expression(f"{node.op.upper()}({operand.sql} AS {spelling})", target, node)


def check_collated(typer: ExpressionTyper, node: Node) -> None:
    """Raise PredicateError if a collated text is an operand of anything but a comparison.

    In Spark, the result of another operation would have the collation, too. The engine would compare that result byte
    by byte. LIKE, and functions that search a collated text, may take time quadratic in the length.
    """
    for arg in node.args:
        if arg.op == "collate" and node.op not in _COMPARING and not (node.op == "call" and node.value == "collation"):
            remedy = "compare it by = <> < <= > >= <=> or IN, or use lower(text)"
            raise typer.source.error_at(arg, f"{_name(typer, node)} of collated text:", remedy)


def _name(typer: ExpressionTyper, node: Node) -> str:
    """Return the name of the operation ``node`` for an error message, as the user wrote it: the name of the function,
    or the keyword.
    """
    if node.op != "call":
        return _KEYWORDS.get(node.op, node.op.upper())
    # ILIKE is parsed as the LIKE of both operands in lower case.
    is_written = node.value != "lower" or typer.source.text[node.start : node.end].lower().startswith("lower")
    return str(node.value) if is_written else "ILIKE"


def collated(typer: ExpressionTyper, node: Node) -> Expression:
    """Return the typed expression of a text with a collation. Its type is None (unknown), because Spark does not
    compare the text byte by byte.
    """
    operand = typer.of(node.args[0])
    if operand.type not in (None, pa.string(), pa.null()):
        raise typer.source.error_at(node, f"collation of {types.name(operand.type)}:", "CAST it to STRING")
    return Expression(f"{operand.argument} COLLATE {node.value}", None, node, atomic=False)


def _check_parts(typer: ExpressionTyper, node: Node, operand: Expression) -> None:
    """Raise PredicateError if casting the elements of a container can throw or takes long."""
    if operand.type == pa.null():
        return
    subject = f"cast of {types.name(operand.type)} to {node.value[1]}:"
    if operand.type is None:
        raise typer.source.error_at(node, subject, "name a column, or CAST what it is made of")
    for source, target in types.parts(operand.type, node.value[0]):
        instants = types.is_instant(source) and types.is_instant(target) and source != target
        # A constant element may be a time word. Parsing a text as a decimal takes time quadratic in its length.
        read = source == pa.string() and (pa.types.is_decimal(target) or types.is_instant(target))
        if (
            instants
            or read
            or types.throws_beyond(source, target)
            or (target == pa.string() and types.is_container(source))
        ):
            raise typer.source.error_at(node, subject, "cast its elements one by one: transform(array, x -> CAST(...))")


def _text_growth(kind: pa.DataType) -> float:
    """Return the factor by which the text of a container may be longer than the record, if the container is cast to a
    string.

    The text has NULL for each field that is missing in the record.
    """
    if types.is_container(kind):
        return sum(_text_growth(kind.field(i).type) for i in range(kind.num_fields))
    return 24.0 if pa.types.is_decimal(kind) else 8.0


def _fits(interval: Interval, target: pa.DataType) -> bool:
    """Return whether a number type can hold the value of a constant interval.

    If it cannot, Spark throws, unless it does not evaluate the cast.
    """
    count = abs(interval.in_last_field)
    if pa.types.is_decimal(target):
        return bool(count < 10 ** (target.precision - target.scale))
    return target not in types.INTEGERS or bool(count < 1 << (target.bit_width - 1))
