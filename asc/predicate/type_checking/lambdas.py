"""Functions of arrays and maps that take a lambda, such as ``exists(xs, x -> x > 1)``, as typed expressions.

The body of a lambda is evaluated for each element, so its work and its result are bounded:

* A lambda is nested in at most one other lambda. The inner lambda then iterates over a part of the outer lambda's
  variable.
* A text of the record that is no part of the variable may only be compared with the variable.
* The bodies of all lambdas in a predicate have at most 100 nodes together.
* The result of ``transform`` for an element has a fixed size, or is longer than the element by a bounded factor. The
  sum of such factors over all calls of the predicate that make values longer is limited.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from asc.keys.spaces import space_of
from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression, column_sql
from asc.predicate.functions.binding import bound, unused_name
from asc.predicate.functions.function import Call
from asc.predicate.functions.maps import if_keys_differ, key_trouble
from asc.predicate.functions.pattern_argument import OF_TIME_PATTERNS, brings_pattern
from asc.predicate.functions.try_spellings import caught_date
from asc.predicate.syntax.nodes import Node
from asc.predicate.type_checking.scoped_typer import ScopedTyper
from asc.spark_types import folded

_OF_ARRAY = {"exists": (1,), "forall": (1,), "filter": (1, 2), "transform": (1, 2), "array_sort": (2,)}
_OF_MAP = ("map_filter", "transform_values", "transform_keys")
_OF_TWO = ("zip_with", "map_zip_with")
_CONDITIONS = ("exists", "forall", "filter", "map_filter")
_AGGREGATES = ("aggregate", "reduce")
LAMBDA_FUNCTIONS = frozenset((*_OF_ARRAY, *_OF_MAP, *_OF_TWO, *_AGGREGATES)) - {"array_sort"}
"""The functions that require a lambda. The lambda of ``array_sort`` is optional."""
THROWING_LAMBDA_FUNCTIONS = frozenset(("array_sort", "map_zip_with", "transform_keys"))
"""The functions whose SQL is rewritten to give NULL for some arguments that are not NULL. For these arguments Spark
would throw or take too long.
"""

_MAX_NODES = 100
_MAX_LEVELS = 2
_MAX_LITERAL = 32
_FIXED = "a number, boolean, date or timestamp, or a struct of them"
_MAX_ENTRIES = 1_000
_MAX_SHORT = 50
_COMPARISONS_OF_ELEMENT = 3
_JOINING = frozenset(("array", "concat", "named_struct"))
_CHOOSING = frozenset(("coalesce", "ifnull", "nvl"))
_MAX_LENGTH = 100
_LENGTHENING = frozenset(("lpad", "rpad", "repeat", "space", "array_repeat"))
_COMPARED = frozenset(("=", "<=>", "<", "<=", ">", ">=", "in", "between"))
_SHRINKING_LIST = "lower lcase upper ucase trim btrim ltrim rtrim substr substring left right reverse"
_SHRINKING = frozenset(_SHRINKING_LIST.split())


def lambda_call(typer: ScopedTyper, node: Node) -> Expression:
    """Return the typed expression of a call of one of LAMBDA_FUNCTIONS, or of ``array_sort``. Raise PredicateError for
    a call that is refused.
    """
    name, args = node.value, node.args
    if name in _AGGREGATES:
        return _aggregate(typer, node)
    containers = args[: 2 if name in _OF_TWO else 1]
    if len(args) != len(containers) + 1 or any(arg.op == "lambda" for arg in containers):
        form = {1: "array, x -> condition", 2: "array, array, (x, y) -> value"}[max(1, len(containers))]
        raise typer.source.error_at(node, "call of a function", f"write {name}({form})")
    inputs = [_container(typer, node, arg) for arg in containers]
    body = args[-1]
    kinds, counts = _variables(typer, node, inputs)
    # An expression without an arrow is evaluated for each element, too.
    if body.op == "lambda" and len(body.value) not in counts:
        wanted = " or ".join(map(str, counts))
        raise typer.source.error_at(body, "lambda", f"that of {name} has {wanted} variable{'s' * (wanted != '1')}")
    made = _body(typer, body, kinds, condition=name in _CONDITIONS)
    if name == "array_sort":
        return sorted_by(typer, node, inputs[0], made)
    growth = 1.0 if name in _CONDITIONS else _count_growth(typer, node, body, inputs)
    sql = _SPELLINGS.get(name, _plain)(typer, node, inputs, made)
    return Expression(sql, _result(name, inputs[0].type, made.type), node, growth=growth)


def _variables(
    typer: ScopedTyper, node: Node, inputs: Sequence[Expression]
) -> tuple[list[pa.DataType | None], Sequence[int]]:
    """Return the types of the variables of a call's lambda, and the numbers of variables that the lambda may have."""
    name = node.value
    if name in ("zip_with", "array_sort"):
        return [_element(typer, node, container) for container in (inputs[0], inputs[-1])], (2,)
    if name in _OF_ARRAY:
        with_index = name in ("filter", "transform") and node.args[-1].op == "lambda" and len(node.args[-1].value) == 2
        return [_element(typer, node, inputs[0]), *[pa.int32()] * with_index], _OF_ARRAY[name]
    key, item = _entry(typer, node, inputs[0])
    if name == "map_zip_with":
        other, second = _entry(typer, node, inputs[1])
        if key is None or key != other:
            problem = f"map_zip_with of {types.name(inputs[0].type)} and {types.name(inputs[1].type)}:"
            raise typer.source.error_at(node, problem, "the keys must be of one type: CAST them")
        return [key, item, second], (3,)
    return [key, item], (2,)


def _result(name: str, container: pa.DataType | None, made: pa.DataType | None) -> pa.DataType | None:
    if name in ("exists", "forall"):
        return pa.bool_()
    if name in ("filter", "map_filter"):
        return container
    if made is None:
        return None
    if name in ("transform", "zip_with"):
        return pa.list_(made)
    if name == "transform_keys":
        return None if container is None else pa.map_(made, container.item_type)
    return None if container is None else pa.map_(container.key_type, made)


def _plain(typer: ScopedTyper, node: Node, inputs: Sequence[Expression], made: Expression) -> str:
    return f"{node.value}({', '.join([*(container.sql for container in inputs), made.sql])})"


def _with_other_keys(typer: ScopedTyper, node: Node, inputs: Sequence[Expression], made: Expression) -> str:
    """Return SQL for ``transform_keys`` that gives NULL if a new key is NULL or a duplicate, because Spark throws for
    such a key.
    """
    trouble = key_trouble(made.type)
    if trouble is not None:
        raise typer.source.error_at(node.args[-1], "lambda of transform_keys:", trouble)
    name = unused_name(made.sql)
    keys = f"zip_with(map_keys({name}), map_values({name}), {made.sql})"
    return bound(inputs[0].sql, if_keys_differ(keys, f"transform_keys({name}, {made.sql})", made.type), name)


def _of_few_entries(typer: ScopedTyper, node: Node, inputs: Sequence[Expression], made: Expression) -> str:
    """Return SQL for ``map_zip_with`` that gives NULL for maps with many entries.

    Spark finds the keys of both maps with a hash table. For a record whose keys all have the same hash, this takes time
    quadratic in the number of keys.
    """
    name = unused_name(made.sql)
    both = f"struct({inputs[0].sql} AS a, {inputs[1].sql} AS b)"
    few = f"size({name}.a) + size({name}.b) <= {_MAX_ENTRIES}"
    return bound(both, f"if({few}, map_zip_with({name}.a, {name}.b, {made.sql}), NULL)", name)


_SPELLINGS = {"transform_keys": _with_other_keys, "map_zip_with": _of_few_entries}


def _aggregate(typer: ScopedTyper, node: Node) -> Expression:
    args = node.args
    if not 3 <= len(args) <= 4 or any(arg.op != "lambda" for arg in args[2:]):
        raise typer.source.error_at(
            node, "call of a function", f"write {node.value}(array, start, (sum, x) -> sum + x)"
        )
    container, start = _container(typer, node, args[0]), typer.of(args[1])
    if not _is_fixed(start.type):
        raise typer.source.error_at(args[1], f"start of {node.value}:", _FIXED)
    for body, count in zip(args[2:], (2, 1), strict=False):
        if len(body.value) != count:
            raise typer.source.error_at(body, "lambda", f"this one has {count} variable{'s' * (count > 1)}")
    merged = _body(typer, args[2], [start.type, _element(typer, node, container)])
    if merged.type is None or not (merged.type == pa.null() or types.same_shape(merged.type, start.type)):
        problem = f"{node.value} from {types.name(start.type)} to {types.name(merged.type)}:"
        raise typer.source.error_at(args[2], problem, "the lambda's result must have the type of the start: CAST one")
    parts = [container.sql, start.sql, merged.sql]
    result, growth = start.type, 1.0
    if len(args) == 4:
        finished = _body(typer, args[3], [start.type])
        growth = _count_growth(typer, node, args[3], [start])
        if not _is_fixed(finished.type):
            raise typer.source.error_at(args[3], f"result of {node.value}:", _FIXED)
        parts.append(finished.sql)
        result = finished.type
    return Expression(f"{node.value}({', '.join(parts)})", result, node, growth=growth)


def sorted_by(typer: ScopedTyper, node: Node, array: Expression, comparator: Expression) -> Expression:
    """Return the typed expression of ``array_sort`` with a comparator. Its value is NULL where Spark would throw.

    Spark throws for a comparator that returns NULL, and for a comparator that is inconsistent.
    """
    if comparator.type != pa.int32():
        problem = f"comparator that gives {types.name(comparator.type)}:"
        raise typer.source.error_at(node.args[1], problem, "it gives -1, 0 or 1")
    _check_comparator(typer, node.args[1])
    if not typer.catches:
        return Expression(f"array_sort({array.sql}, {comparator.sql})", array.type, node)
    name = unused_name(comparator.sql)
    made = f"array_sort({name}, {comparator.sql})"
    known = f"{caught_date(f'date_from_unix_date(size({made}))')} IS NOT NULL"
    return Expression(bound(array.sql, f"if({known}, {made}, NULL)", name), array.type, node)


def _check_comparator(typer: ScopedTyper, body: Node) -> None:
    """Raise PredicateError if the comparator of ``array_sort`` does much work.

    Spark calls the comparator more often than once for each element, also for long elements.
    """
    typer.lambda_nodes += (_COMPARISONS_OF_ELEMENT - 1) * _size(body)
    pending = list(body.args if body.op == "lambda" else (body,))
    for node in pending:
        is_compared = node.op in _COMPARED or (node.op == "is" and node.value == "NULL")
        for arg in node.args:
            leads = arg.op in ("column", "literal", "field", "index")
            if not (_is_fixed(typer.of(arg).type) or (is_compared and leads) or arg.op == "literal"):
                raise typer.source.error_at(arg, "comparator of array_sort:", "compare its variables or their fields")
        pending += node.args
    if typer.lambda_nodes > _MAX_NODES:
        remedy = f"at most {_MAX_NODES} operations, those of a comparator counted {_COMPARISONS_OF_ELEMENT} times"
        raise typer.source.error_at(body, "lambdas", remedy)


def _container(typer: ScopedTyper, call: Node, node: Node) -> Expression:
    """Return the typed expression of the container (array or map) over which a lambda iterates.

    Raise PredicateError if the container may be longer than the record. Inside another lambda, also raise the error if
    the container is no part of the outer lambda's variable, or if the lambdas are nested too deeply.
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


def _element(typer: ScopedTyper, call: Node, container: Expression) -> pa.DataType | None:
    kind = container.type
    if kind is None:
        return None
    if not pa.types.is_list(kind):
        raise typer.source.error_at(container.node, f"{call.value} of {types.name(kind)}:", "give it an array")
    return kind.value_type


def _entry(typer: ScopedTyper, call: Node, container: Expression) -> list[pa.DataType | None]:
    kind = container.type
    if kind is None:
        return [None, None]
    if not pa.types.is_map(kind):
        raise typer.source.error_at(container.node, f"{call.value} of {types.name(kind)}:", "give it a map")
    return [kind.key_type, kind.item_type]


def _body(
    typer: ScopedTyper, node: Node, kinds: Sequence[pa.DataType | None], *, condition: bool = False
) -> Expression:
    """Return the typed expression of a lambda, or of an expression in place of a lambda. Its type is the type of the
    body. ``kinds``: the types of the variables. ``condition``: whether the body must be boolean.
    """
    held, variables = (node.args[0], node.value) if node.op == "lambda" else (node, ())
    names = [folded(name) for name in variables]
    if len(set(names)) < len(names):
        raise typer.source.error_at(node, "lambda", "its variables need different names")
    typer.lambda_nodes += _size(node)
    if typer.lambda_nodes > _MAX_NODES:
        raise typer.source.error_at(node, "lambdas", f"at most {_MAX_NODES} operations in those of a predicate")
    typer.scopes.append(dict(zip(names, kinds, strict=bool(names))))
    try:
        body = typer.condition(held) if condition else typer.of(held)
        _check_names(typer, held, None)
    finally:
        typer.scopes.pop()
    if not names:
        return Expression(body.sql, body.type, node)
    written = [column_sql((name,)) for name in variables]
    head = written[0] if len(written) == 1 else f"({', '.join(written)})"
    return Expression(f"{head} -> {body.sql}", body.type, node, atomic=False)


def _size(node: Node) -> int:
    return 1 + sum(map(_size, node.args))


def _check_names(typer: ScopedTyper, node: Node, parent: Node | None) -> None:
    """Raise PredicateError if the body of a lambda uses an outer text or container for anything but a comparison.

    A text or container is outer if it is no part of the lambda's variable.
    """
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
    if node.op == "call":
        _check_made(typer, node)
    for arg in node.args:
        _check_names(typer, arg, node)


def _check_made(typer: ScopedTyper, call: Node) -> None:
    """Raise PredicateError for a call that returns a long value for each element."""
    name, args = call.value, call.args
    if name in _LENGTHENING:
        length = args[0 if name == "space" else 1]
        if length.op != "literal" or not (type(length.value.value) is int and length.value.value <= _MAX_LENGTH):
            remedy = f"a constant up to {_MAX_LENGTH}: each element would become as long"
            raise typer.source.error_at(length, f"length given to {name} in a lambda:", remedy)
    if name == "sequence" and not _is_short(call):
        remedy = f"its ends are constants up to {_MAX_SHORT}: for each element one would be made"
        raise typer.source.error_at(call, "sequence in a lambda:", remedy)
    if name in OF_TIME_PATTERNS and brings_pattern(Call(name, [typer.of(arg) for arg in args])):
        remedy = "a constant: for each element one would be put together"
        raise typer.source.error_at(args[1], f"pattern given to {name} in a lambda:", remedy)


def _count_growth(typer: ScopedTyper, node: Node, body: Node, made_of: Sequence[Expression]) -> float:
    """Return the factor by which the result of a lambda may be longer than the record.

    Raise PredicateError if the factor has no bound. If the container itself may be longer than the record, because
    another call made it, the two factors are multiplied.
    """
    growth = _growth(typer, body.args[0] if body.op == "lambda" else body)
    if growth is None:
        remedy = "a number, a condition, parts of its variables, or a struct or array of them"
        raise typer.source.error_at(body, "result of a lambda:", remedy)
    return typer.count_grown(node, growth * max(one.growth for one in made_of)) if growth > 1 else 1.0


def _growth(typer: ScopedTyper, node: Node) -> float | None:
    if _is_no_longer(typer, node):
        return 1.0
    # This also covers nested structs: a struct of two structs of two, and so on, has a type too long to read.
    names = node.op == "call" and node.value == "named_struct"
    if node.op in ("struct", "row", "||") or (node.op == "call" and node.value in _JOINING):
        parts = [_growth(typer, arg) for arg in (node.args[1::2] if names else node.args)]
        return None if None in parts else max(1.0, sum(part for part in parts if part is not None))
    if node.op == "call" and node.value in _CHOOSING:
        parts = [_growth(typer, arg) for arg in node.args]
        return None if None in parts else max(part for part in parts if part is not None)
    kind = typer.of(node).type
    return _width(kind) if _is_fixed(kind) else None


def _is_no_longer(typer: ScopedTyper, node: Node) -> bool:
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
    """Return whether all values of a type have the same small size in bytes."""
    if kind is not None and pa.types.is_struct(kind):
        return all(_is_fixed(kind.field(i).type) for i in range(kind.num_fields))
    return kind is not None and kind not in (pa.string(), pa.binary()) and space_of(kind) is not None


def _width(kind: pa.DataType | None) -> float:
    """Return the number of single values in a value of a type of fixed width: the fields of a struct, else 1."""
    if kind is None or not pa.types.is_struct(kind):
        return 1.0
    return max(1.0, sum(_width(kind.field(i).type) for i in range(kind.num_fields)))


def _makes(node: Node) -> bool:
    """Return whether a node contains a call, such as ``sequence``, that makes elements that are not in the record."""
    if node.op == "call" and node.value == "sequence":
        return not _is_short(node)
    if node.op == "call" and node.value == "array_repeat":
        return True
    return any(_makes(arg) for arg in node.args)


def _is_short(node: Node) -> bool:
    """Return whether the ends of a call of ``sequence`` are constants close to zero, so that the sequence is short."""
    ends = [arg.value.value if arg.op == "literal" else None for arg in node.args[:2]]
    return len(ends) == 2 and all(isinstance(end, int) and abs(end) <= _MAX_SHORT for end in ends)
