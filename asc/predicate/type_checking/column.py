"""Columns as typed expressions, and names after a dot: fields of structs, entries of maps, parts of array elements."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from asc.errors import SchemaError
from asc.keys.byte_strings import quoted
from asc.predicate.catalogue.refusals import refusal
from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression, column_sql
from asc.predicate.syntax.nodes import Node
from asc.predicate.type_checking.scoped_typer import ScopedTyper
from asc.spark_types import folded


def column(typer: ScopedTyper, node: Node) -> Expression:
    """Return the typed expression of a name: a variable of a lambda, a column or a part of a column.

    Raise PredicateError if the name is none of these.
    """
    for scope in reversed(typer.scopes):
        name = node.value[0]
        # identifier('x') is always a column, never a variable
        if folded(name) in scope and node.written is None:
            return inside(typer, Expression(column_sql((name,)), scope[folded(name)], node), node.value[1:])
    try:
        attribute = typer.schema.resolve(node.value)
    except SchemaError as error:
        return _part_of_container(typer, node, error)
    typer.columns.add(attribute.path)
    return Expression(column_sql(attribute.path), attribute.type, node, path=attribute.path)


def _part_of_container(typer: ScopedTyper, node: Node, error: SchemaError) -> Expression:
    """Return the typed expression of a name that leads into a map or an array. ``labels.k`` means ``labels['k']``, and
    ``items.price`` the array of the prices of all items.
    """
    for length in range(1, len(node.value)):
        try:
            parent = typer.schema.resolve(node.value[:length])
        except SchemaError:
            break
        if _has_parts(parent.type):
            typer.columns.add(parent.path)
            return inside(typer, Expression(column_sql(parent.path), parent.type, node), node.value[length:])
    raise _unresolved(typer, node, error)


def inside(typer: ScopedTyper, outer: Expression, names: Sequence[str]) -> Expression:
    """Return the expression for a path of names that starts at ``outer`` and leads through structs and maps."""
    for name in names:
        kind = outer.type
        if kind is None:
            outer = Expression(f"{outer.argument}.{column_sql((name,))}", None, outer.node)
        elif pa.types.is_map(kind) and _has_parts(kind):
            outer = Expression(f"{outer.sql}[{quoted(name)}]", kind.item_type, outer.node)
        elif pa.types.is_struct(kind) or _has_parts(kind):
            outer = _field_of(typer, outer, name)
        else:
            raise typer.source.error_at(outer.node, f"{types.name(kind)} with a field:", "only a struct has fields")
    return outer


def _field_of(typer: ScopedTyper, outer: Expression, name: str) -> Expression:
    """Return the typed expression of a field of a struct. For an array of structs, the expression is the array of that
    field's values.
    """
    assert outer.type is not None
    several = pa.types.is_list(outer.type)
    struct = outer.type.value_type if several else outer.type
    for field in (struct.field(i) for i in range(struct.num_fields)):
        if folded(field.name) == folded(name):
            data_type = pa.list_(field.type) if several else field.type
            return Expression(f"{outer.argument}.{column_sql((field.name,))}", data_type, outer.node)
    raise typer.source.error_at(outer.node, "unknown field", "the struct has " + ", ".join(f.name for f in struct))


def _unresolved(typer: ScopedTyper, node: Node, error: SchemaError) -> Exception:
    name = ".".join(node.value)
    problem, remedy = refusal(name.lower())
    if len(node.value) == 1 and problem.startswith("non-deterministic"):
        return typer.source.error_at(node, problem, remedy)
    # The path is read from the front, because the schema may end before the name does.
    for length in range(1, len(node.value)):
        try:
            parent = typer.schema.resolve(node.value[:length])
        except SchemaError:
            break
        if pa.types.is_map(parent.type):
            entry = f"an entry of a map is {parent.name}['{node.value[length]}']"
            return typer.source.error_at(node, "unknown column", entry)
        if pa.types.is_list(parent.type):
            return typer.source.error_at(node, "unknown column", f"an element of an array is {parent.name}[0]")
    remedy = error.remedy
    if len(node.value) == 1 and not remedy.startswith("did you mean"):
        remedy += f"; where it is a text, write {quoted(name)} in quotes"
    return typer.source.error(error.subject, error.value, remedy, node.start, node.end)


def _has_parts(kind: pa.DataType) -> bool:
    """Return whether a name after a dot is allowed for a type that is no struct.

    Such types are maps with strings for keys, and arrays of structs.
    """
    if pa.types.is_map(kind):
        return bool(kind.key_type == pa.string())
    return bool(pa.types.is_list(kind) and pa.types.is_struct(kind.value_type))
