"""Functions of arrays and maps that take a lambda: ``exists(xs, x -> x > 1)`` and the like, as typed expressions.

A body is computed once an element, so its work and what it makes are bounded: a lambda stands in at most one other one
and goes through a part of that one's variable; text of the record that is no part of the variable is only compared
with it; the bodies of a predicate have at most 100 nodes together; what ``transform`` makes of an element is of fixed
size or no longer than the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.keys.spaces import space_of
from asc.predicate import types
from asc.predicate.expression import Expression, column_sql
from asc.predicate.syntax import Node
from asc.spark_types import folded

if TYPE_CHECKING:
    from asc.predicate.typer import Typer

_OF_ARRAY = {"exists": (1,), "forall": (1,), "filter": (1, 2), "transform": (1, 2)}
_OF_MAP = ("map_filter", "transform_values")
_AGGREGATES = ("aggregate", "reduce")
LAMBDA_FUNCTIONS = frozenset((*_OF_ARRAY, *_OF_MAP, *_AGGREGATES, "zip_with"))
"""The functions that take a lambda."""

_MAX_NODES = 100
_MAX_LEVELS = 2
_MAX_LITERAL = 32
_MAX_LENGTH = 100
_LENGTHENING = frozenset(("lpad", "rpad", "repeat", "space"))
_COMPARED = frozenset(("=", "<=>", "<", "<=", ">", ">=", "in", "between"))
_SHRINKING_LIST = "lower lcase upper ucase trim btrim ltrim rtrim substr substring left right reverse"
_SHRINKING = frozenset(_SHRINKING_LIST.split())


def lambda_call(typer: Typer, node: Node) -> Expression:
    """A call of one of LAMBDA_FUNCTIONS; PredicateError for what is refused."""
    name, args = node.value, node.args
    if name in _AGGREGATES:
        return _aggregate(typer, node)
    containers = args[: 2 if name == "zip_with" else 1]
    if len(args) != len(containers) + 1 or args[-1].op != "lambda":
        form = "array, array, (x, y) -> value" if name == "zip_with" else "array, x -> condition"
        raise typer.source.error_at(node, "call of a function", f"write {name}({form})")
    given = [_container(typer, node, arg) for arg in containers]
    body = args[-1]
    if name in _OF_MAP:
        kinds = _entry(typer, node, given[0])
        counts: Sequence[int] = (2,)
    else:
        kinds = [_element(typer, node, container) for container in given]
        counts = (2,) if name == "zip_with" else _OF_ARRAY[name]
    if len(body.value) not in counts:
        wanted = " or ".join(map(str, counts))
        raise typer.source.error_at(body, "lambda", f"that of {name} has {wanted} variable{'s' * (wanted != '1')}")
    if name in ("filter", "transform") and len(body.value) == 2:
        kinds = [*kinds, pa.int32()]
    made = _body(typer, body, kinds, condition=name in ("exists", "forall", "filter", "map_filter"))
    if name in ("transform", "zip_with", "transform_values"):
        _check_growth(typer, body)
    result: pa.DataType | None = pa.bool_() if name in ("exists", "forall") else given[0].type
    if name in ("transform", "zip_with"):
        result = None if made.type is None else pa.list_(made.type)
    elif name == "transform_values" and result is not None:
        result = None if made.type is None else pa.map_(result.key_type, made.type)
    return Expression(f"{name}({', '.join([*(c.sql for c in given), made.sql])})", result, node)


def _aggregate(typer: Typer, node: Node) -> Expression:
    args = node.args
    if not 3 <= len(args) <= 4 or any(arg.op != "lambda" for arg in args[2:]):
        raise typer.source.error_at(
            node, "call of a function", f"write {node.value}(array, start, (sum, x) -> sum + x)"
        )
    container, start = _container(typer, node, args[0]), typer.of(args[1])
    if not _is_fixed(start.type):
        raise typer.source.error_at(args[1], f"start of {node.value}:", "a number, boolean, date or timestamp")
    for body, count in zip(args[2:], (2, 1), strict=False):
        if len(body.value) != count:
            raise typer.source.error_at(body, "lambda", f"this one has {count} variable{'s' * (count > 1)}")
    merged = _body(typer, args[2], [start.type, _element(typer, node, container)])
    if merged.type not in (start.type, pa.null()):
        problem = f"{node.value} from {types.name(start.type)} to {types.name(merged.type)}:"
        raise typer.source.error_at(args[2], problem, "the lambda's result must have the type of the start: CAST one")
    parts = [container.sql, start.sql, merged.sql]
    result = start.type
    if len(args) == 4:
        finished = _body(typer, args[3], [start.type])
        if not _is_fixed(finished.type):
            raise typer.source.error_at(args[3], f"result of {node.value}:", "a number, boolean, date or timestamp")
        parts.append(finished.sql)
        result = finished.type
    return Expression(f"{node.value}({', '.join(parts)})", result, node)


def _container(typer: Typer, call: Node, node: Node) -> Expression:
    """What a lambda goes through: an array that the record holds, not one that is made longer than the record; inside
    another lambda a part of that one's variable.
    """
    if _makes(node):
        remedy = "go through an array of the record, not one that sequence or array_repeat makes"
        raise typer.source.error_at(node, f"{call.value}:", remedy)
    if typer.scopes:
        root = node
        while root.args and root.op in ("index", "field", "call"):
            root = root.args[0]
        if root.op != "column" or folded(root.value[0]) not in typer.scopes[-1]:
            raise typer.source.error_at(
                node, f"{call.value} in a lambda:", "go through a part of the lambda's variable"
            )
        if len(typer.scopes) >= _MAX_LEVELS:
            raise typer.source.error_at(call, "lambda in a lambda in a lambda", f"at most {_MAX_LEVELS} levels")
    return typer.of(node)


def _element(typer: Typer, call: Node, container: Expression) -> pa.DataType | None:
    kind = container.type
    if kind is None:
        return None
    if not pa.types.is_list(kind):
        raise typer.source.error_at(container.node, f"{call.value} of {types.name(kind)}:", "give it an array")
    return kind.value_type


def _entry(typer: Typer, call: Node, container: Expression) -> list[pa.DataType | None]:
    kind = container.type
    if kind is None:
        return [None, None]
    if not pa.types.is_map(kind):
        raise typer.source.error_at(container.node, f"{call.value} of {types.name(kind)}:", "give it a map")
    return [kind.key_type, kind.item_type]


def _body(typer: Typer, node: Node, kinds: Sequence[pa.DataType | None], *, condition: bool = False) -> Expression:
    """The lambda itself: its type is that of its body."""
    names = [folded(name) for name in node.value]
    if len(set(names)) < len(names):
        raise typer.source.error_at(node, "lambda", "its variables need different names")
    typer.lambda_nodes += _size(node)
    if typer.lambda_nodes > _MAX_NODES:
        raise typer.source.error_at(node, "lambdas", f"at most {_MAX_NODES} operations in those of a predicate")
    typer.scopes.append(dict(zip(names, kinds, strict=True)))
    try:
        body = typer.condition(node.args[0]) if condition else typer.of(node.args[0])
        _check_names(typer, node.args[0], None)
    finally:
        typer.scopes.pop()
    variables = [column_sql((name,)) for name in node.value]
    head = variables[0] if len(variables) == 1 else f"({', '.join(variables)})"
    return Expression(f"{head} -> {body.sql}", body.type, node, atomic=False)


def _size(node: Node) -> int:
    return 1 + sum(map(_size, node.args))


def _check_names(typer: Typer, node: Node, parent: Node | None) -> None:
    """PredicateError where text, or a container, that is no part of the variable is more than compared."""
    if node.op == "lambda":
        return  # checked by its own variables
    if node.op == "column" and folded(node.value[0]) not in typer.scopes[-1]:
        made = typer.of(node)
        # an entry of a map is searched for
        kind = made.type if "[" not in made.sql else None
        tested = parent is not None and parent.op == "is" and parent.value == "NULL"
        compared = (
            parent is not None
            and parent.op in _COMPARED
            and kind in (pa.string(), pa.binary())
            and all(typer.of(arg).type == kind for arg in parent.args)
        )
        if not (_is_fixed(kind) or tested or compared):
            problem = f"{types.name(kind)} in a lambda:"
            raise typer.source.error_at(node, problem, "compare it with text, or bring it out of the lambda")
    if node.op == "call" and node.value in _LENGTHENING:
        length = node.args[0 if node.value == "space" else 1]
        if length.op != "literal" or not (type(length.value.value) is int and length.value.value <= _MAX_LENGTH):
            remedy = f"a constant up to {_MAX_LENGTH}: each element would become as long"
            raise typer.source.error_at(length, f"length given to {node.value} in a lambda:", remedy)
    for arg in node.args:
        _check_names(typer, arg, node)


def _check_growth(typer: Typer, node: Node) -> None:
    """PredicateError where what a lambda makes of an element may be longer than the element."""
    body = node.args[0]
    if not (_is_fixed(typer.of(body).type) or _is_no_longer(typer, body)):
        raise typer.source.error_at(body, "result of a lambda:", "a number, a condition, or a part of its variable")


def _is_no_longer(typer: Typer, node: Node) -> bool:
    if node.op == "literal":
        return node.value.value is None or len(str(node.value.value)) <= _MAX_LITERAL
    if node.op == "call" and node.value in _SHRINKING:
        *_, own = node.args if node.value.endswith("trim") else node.args[:1]
        return _is_no_longer(typer, own) and all(arg.op == "literal" for arg in node.args if arg is not own)
    if node.op == "cast":
        return _is_fixed(typer.of(node.args[0]).type)
    if node.op in ("index", "field"):
        return _is_no_longer(typer, node.args[0]) and all(arg.op == "literal" for arg in node.args[1:])
    return node.op == "column"


def _is_fixed(kind: pa.DataType | None) -> bool:
    """Whether every value of a type takes the same few bytes."""
    return kind is not None and kind not in (pa.string(), pa.binary()) and space_of(kind) is not None


def _makes(node: Node) -> bool:
    """Whether something in a node makes elements out of a constant."""
    if node.op == "call" and node.value in ("sequence", "array_repeat"):
        return True
    return any(_makes(arg) for arg in node.args)
