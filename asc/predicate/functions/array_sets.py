"""The functions that treat arrays as sets of elements, rewritten so that their work is bounded.

Spark finds equal elements with a hash table, or by comparing every pair. For a record whose elements all have the same
hash this takes time quadratic in the array's length, so these functions are rewritten with a sort. The sort places
equal elements next to each other, each with the number of its array and its index.

The call is left unchanged if there is little to search: for arrays whose elements are written in the predicate, and for
element types with few values.
"""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.binding import bound
from asc.predicate.functions.function import Call, Function, Spelling, is_array, plain
from asc.predicate.functions.growth import joined
from asc.predicate.functions.results import BOOLEAN

_FEW_VALUES = (pa.bool_(), pa.int8(), pa.int16())
_FLOATS = (pa.float32(), pa.float64())
_OF_ELEMENTS = """
array_append array_compact array_distinct array_except array_insert array_intersect array_prepend array_remove
array_sort array_union concat filter map_concat map_filter map_from_arrays map_from_entries map_keys map_values
map_entries reverse slice sort_array transform transform_keys transform_values zip_with
"""
_MADE_OF_ARGUMENTS = frozenset(("array", "map", "named_struct"))
_MADE_OF_ELEMENTS = frozenset(_OF_ELEMENTS.split())


def is_written_out(arg: Expression) -> bool:
    """Return whether the predicate's text determines the number of elements of an array or map.

    This holds for ``array(a, b)`` and for arrays and maps that are computed from such arrays.
    """
    pending = [arg.node]
    for node in pending:
        if node.op == "call" and node.value in _MADE_OF_ELEMENTS:
            pending += [held for held in node.args if held.op in ("call", "column", "index", "field", "cast", "||")]
        elif not (node.op == "literal" or (node.op == "call" and node.value in _MADE_OF_ARGUMENTS)):
            return False
    return True


def _comparable_arrays(call: Call) -> str | None:
    held = _held(call)
    if held is None or None in call.kinds:
        return f"{call.name} of {' and '.join(map(types.name, call.kinds))}: CAST them to one type"
    if types.mixed_instants(kind.value_type for kind in call.kinds if kind is not None and is_array(kind)):
        return f"{call.name} of {' and '.join(map(types.name, call.kinds))}: CAST them to one type"
    if types.holds_map(held):
        return f"{call.name} of arrays of {types.name(held)}: maps cannot be compared"
    return None


def _held(call: Call) -> pa.DataType | None:
    """Return the common type to which Spark casts the elements of the arrays in order to compare them.

    Return None if the type is not known.
    """
    held = [kind.value_type for kind in call.kinds if kind is not None and is_array(kind)]
    return pa.null() if held and all(kind == pa.null() for kind in held) else types.common(held)


def _set(call: Call) -> pa.DataType | None:
    held = _held(call)
    return None if held is None else pa.list_(held)


def _of_one_type(spelling: Spelling) -> Spelling:
    """Return ``spelling`` (a function that writes the SQL of a call), applied after all arrays of the call are cast to
    the same type.
    """

    def spelled(call: Call) -> str:
        kind = _set(call)
        assert kind is not None
        return spelling(Call(call.name, [_as(arg, kind) for arg in call.args]))

    return spelled


def _as(arg: Expression, kind: pa.DataType) -> Expression:
    if arg.type in (kind, pa.null()) or types.same_shape(arg.type, kind):
        return arg
    return Expression(f"CAST({arg.sql} AS {types.name(kind)})", kind, arg.node)


def _is_unchanged(call: Call) -> bool:
    held = _held(call)
    return held in _FEW_VALUES or (not types.is_container(held) and all(map(is_written_out, call.args)))


def _marked(call: Call, sql: str, array: int) -> str:
    """Return SQL for an array of structs: each element of an array, with its index and with the number ``array``.

    ``sql`` is SQL for the array. ``array`` is a number that identifies the array.
    For floats each element also has a flag for -0.0, because a set keeps 0.0 and -0.0 apart.
    """
    zero = "CAST(x AS STRING) = '-0.0' AS z, " if _held(call) in _FLOATS else ""
    return f"transform({sql}, (x, i) -> struct(x AS v, {zero}{array} AS t, i AS i))"


def _same(call: Call) -> str:
    """Return the SQL condition that an element ``e`` of the sorted array ``p`` equals the previous element."""
    zero = " AND e.z <=> p[j - 1].z" if _held(call) in _FLOATS else ""
    return f"e.v <=> p[j - 1].v{zero}"


def _in_order(marked: str, kept: str) -> str:
    """Return SQL for the elements that meet the SQL condition ``kept``, in their original order.

    ``marked`` is SQL for all elements with their indices (see :func:`_marked`).
    """
    chosen = f"transform(filter(p, (e, j) -> {kept}), e -> struct(e.i AS i, e.v AS v))"
    return bound(f"sort_array({marked})", f"transform(sort_array({chosen}), e -> e.v)")


def _first_of_each(call: Call) -> str:
    if _is_unchanged(call):
        return plain(call)
    sql = call.args[0].sql if len(call.args) == 1 else f"concat({', '.join(arg.sql for arg in call.args)})"
    return _in_order(_marked(call, sql, 1), f"j = 0 OR NOT ({_same(call)})")


def _both(call: Call) -> str:
    """Return SQL for the elements of both arrays, with their indices and the numbers of their arrays.

    The first array has the number 1 and the second array 0. So a sort places an element of the second array before the
    equal elements of the first array.
    """
    return f"concat({_marked(call, call.args[0].sql, 1)}, {_marked(call, call.args[1].sql, 0)})"


def _first_only(call: Call) -> str:
    if _is_unchanged(call):
        return plain(call)
    return _in_order(_both(call), f"e.t = 1 AND (j = 0 OR NOT ({_same(call)}))")


def _in_both(call: Call) -> str:
    # A search in an array written in the predicate takes little work.
    if _is_unchanged(call) or (not types.is_container(_held(call)) and is_written_out(call.args[1])):
        return plain(call)
    return _in_order(_both(call), f"e.t = 1 AND j > 0 AND {_same(call)} AND p[j - 1].t = 0")


def _overlap(call: Call) -> str:
    """Return SQL for ``arrays_overlap`` that sorts the elements if they are containers, binaries or decimals.

    The call is left unchanged for every other type, because Spark's hash table keeps colliding elements of such a type
    in a sorted tree.
    """
    held = _held(call)
    if _is_unchanged(call) or not (types.is_container(held) or held == pa.binary() or pa.types.is_decimal(held)):
        return plain(call)
    common = f"e.t = 1 AND j > 0 AND e.v IS NOT NULL AND {_same(call)} AND p[j - 1].t = 0"
    unknown = "exists(p, e -> e.t = 0) AND exists(p, e -> e.t = 1) AND exists(p, e -> e.v IS NULL)"
    found = f"CASE WHEN p IS NULL THEN NULL WHEN size(filter(p, (e, j) -> {common})) > 0 THEN TRUE"
    return bound(f"sort_array({_both(call)})", f"{found} WHEN {unknown} THEN NULL ELSE FALSE END")


ARRAY_SETS = {
    name: Function(count, count, "y", result, _comparable_arrays, growth, _of_one_type(spelling))
    for name, count, result, growth, spelling in (
        ("array_distinct", 1, _set, None, _first_of_each),
        ("array_union", 2, _set, joined, _first_of_each),
        ("array_except", 2, _set, None, _first_only),
        ("array_intersect", 2, _set, None, _in_both),
        ("arrays_overlap", 2, BOOLEAN, None, _overlap),
    )
}
"""The functions that treat arrays as sets, by name."""
