"""Tests for constants in an array (``array_contains`` and equivalent forms), evaluated as pattern matches.

The engine receives the array as one text in which each element is enclosed by two separators. So a constant between two
separators is found exactly if it is an element. The engine searches for the constants of all queries in an array as it
searches for patterns: it reads the text once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.like import NULL_ELEMENT, SEPARATOR, Elements
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.syntax.nodes import Node

_WEIGHT = 12
"""The cost for Spark of making one text of an array, in nodes (operators and operands). It is added to the cost of the
array.
"""


@dataclass(frozen=True, slots=True)
class Membership:
    """A test whether at least one of several constants is an element of an array.

    The test is NULL if no constant is an element and an element is NULL.
    """

    array: Expression
    constants: tuple[str, ...]

    @property
    def text(self) -> Expression:
        """The array as a text in which each element is between two separators.

        The text is NULL if the array is NULL.
        """
        separator = f"CAST(X'{SEPARATOR.hex().upper()}' AS STRING)"
        unknown = f"CAST(X'{NULL_ELEMENT.hex().upper()}' AS STRING)"
        strings = self.array.argument if self._is_text else f"CAST({self.array.argument} AS ARRAY<STRING>)"
        joined = f"array_join(concat(array(''), {strings}, array('')), {separator}, {unknown})"
        return Expression(joined, pa.string(), self.array.node)

    def subject(self, text: PAttribute) -> PAttribute:
        """Return the p-attribute of the array's text in the form in which the engine searches it for the constants.

        ``text``: the p-attribute of the array's text.
        """
        elements = Elements(self.array.argument, self._is_text)
        return replace(text, weight=text.weight + _WEIGHT, is_matched=True, elements=elements)

    @property
    def _is_text(self) -> bool:
        return bool(pa.types.is_string(self.array.type.value_type)) if self.array.type is not None else False


def membership(typer: ExpressionTyper, node: Node) -> Membership | None:
    """Return the membership test of a typed condition on an array of strings or integers.

    Return None for any other condition.
    """
    if node.op != "call" or node.value not in _READ or len(node.args) != 2:
        return None
    array, sought = node.args
    if node.value == "arrays_overlap" and array.op == "call" and array.value == "array":
        array, sought = sought, array
    typed_array = typer.of(array)
    if (
        not _is_recorded(array)
        or typed_array.type is None
        or not pa.types.is_list(typed_array.type)
        or typed_array.literal is not None
    ):
        return None
    items = _items(node.value, sought)
    constants = [_constant(typer, item, typed_array.type.value_type) for item in items or ()]
    known = tuple(constant for constant in constants if constant is not None)
    return Membership(typed_array, known) if known and len(known) == len(constants) else None


_READ = frozenset(("array_contains", "arrays_overlap", "exists"))


def _is_recorded(array: Node) -> bool:
    """Return whether the elements of an array are strings that occur in the record, so that they contain no separators.

    Other strings may be invalid UTF-8 and contain separators.
    """
    if array.op == "call" and array.value in ("map_keys", "map_values", "split"):
        return array.args[0].op == "column"
    return array.op == "column"


def _items(name: str, sought: Node) -> tuple[Node, ...] | None:
    """Return the nodes of the constants that are searched for; None if the condition tests anything else."""
    if name == "array_contains":
        return (sought,)
    if name == "arrays_overlap":
        return sought.args if sought.op == "call" and sought.value == "array" else None
    if sought.op != "lambda" or len(sought.value) != 1:
        return None
    (body,) = sought.args
    if body.op not in ("=", "in"):
        return None
    is_variable = [arg.op == "column" and arg.value == sought.value for arg in body.args]
    if body.op == "=" and is_variable == [False, True]:
        return (body.args[0],)
    return body.args[1:] if is_variable[0] else None


def _constant(typer: ExpressionTyper, node: Node, kind: pa.DataType) -> str | None:
    """Return the text of a constant that has the type ``kind`` of the array's elements.

    Return None for NULL and for any other expression.
    """
    literal = typer.of(node).literal if node.op in ("literal", "-") else None
    if literal is None or literal.value is None or not literal.known:
        return None
    if pa.types.is_string(kind) and literal.type == pa.string():
        return str(literal.value)
    return str(literal.value) if pa.types.is_integer(kind) and pa.types.is_integer(literal.type) else None
