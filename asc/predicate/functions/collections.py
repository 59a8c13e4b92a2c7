"""Functions of arrays, maps and structs."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.functions.array_sets import ARRAY_SETS
from asc.predicate.functions.checks import constant_integer, every, same_kind, unified
from asc.predicate.functions.function import MANY, Call, Check, Function, is_array, is_map, plain
from asc.predicate.functions.growth import joined, longest
from asc.predicate.functions.results import BIGINT, BOOLEAN, INT, STRING, element, first, unknown
from asc.predicate.functions.sequences import SEQUENCE

_MAX_REPEATED = 100
_MAX_PLACE = 100
_PLACES = (pa.int8(), pa.int16(), pa.int32())
_MAX_SEPARATOR = 20
_MOST_ELEMENTS = 1_000_000_000
"""Spark's own bound but one: element_at(array, -2147483648) reads beyond the array, and ends the JVM."""


def _sought(call: Call) -> str | None:
    """What is sought in an array or among the keys of a map, or put there."""
    container, sought = call.type(0), call.type(1)
    if container is None or container == pa.null():
        return None
    held = container.key_type if is_map(container) else container.value_type
    if not types.searchable(held, sought):
        return f"{call.name} seeks {types.name(held)}, not {types.name(sought)}: CAST it"
    return None


def _of_own_type(place: int) -> Check:
    """What is put into an array must be of the type that it holds: Spark would cast all of it."""

    def check(call: Call) -> str | None:
        array, put = call.type(0), call.type(place)
        if array is not None and is_array(array) and put not in (array.value_type, pa.null()):
            return f"{call.name} puts {types.name(put)} among {types.name(array.value_type)}: CAST it"
        return None

    return check


def _ordered(call: Call) -> str | None:
    if types.holds_map(call.type(0)):
        return f"{call.name} of {types.name(call.type(0))}: maps have no order"
    return None


def _element_place(call: Call) -> str | None:
    container = call.type(0)
    if container is None or not is_map(container):
        if _is_column_place(call):
            return None
        if call.type(1) not in _PLACES:
            return f"{call.name} takes a place that is an INT, not {types.name(call.type(1))}"
        return constant_integer(1, "place", -_MOST_ELEMENTS, _MOST_ELEMENTS, but=0)(call)
    return _sought(call)


def _is_column_place(call: Call) -> bool:
    """Whether the place of an array's element is a column of integers, whose odd values can be left out."""
    place = call.args[1]
    return place.path is not None and place.type in _PLACES and call.type(0) is not None


def _element_at(call: Call) -> str:
    """Spark throws for place 0, and reads beyond the array for the least integer there is."""
    array, place = call.args
    if is_map(array.type) or not _is_column_place(call):
        return plain(call)
    return f"{call.name}({array.sql}, if({place.sql} = 0 OR {place.sql} < -{_MOST_ELEMENTS}, NULL, {place.sql}))"


def _entry(call: Call) -> pa.DataType | None:
    container = first(call)
    return container.item_type if container is not None and is_map(container) else element(call)


def _joinable(call: Call) -> str | None:
    array = first(call)
    if array is not None and types.is_container(array.value_type):
        return f"array_join of {types.name(array)}: its elements are no strings"
    for place in range(1, len(call.args)):
        text = call.constant(place)
        if not isinstance(text, str) or len(text) > _MAX_SEPARATOR:
            return f"array_join takes separator and replacement as constants of at most {_MAX_SEPARATOR} characters"
    return None


def _with_separators(call: Call) -> float:
    texts = (call.constant(place) for place in range(1, len(call.args)))
    return longest(call) * (1.0 + sum(len(str(text)) for text in texts))


def _array_of_arguments(call: Call) -> pa.DataType | None:
    kind = types.common(call.kinds) if call.args else None
    return None if kind is None else pa.list_(kind)


def _holds_arrays(call: Call) -> str | None:
    array = first(call)
    if array is not None and not is_array(array.value_type):
        return f"flatten of {types.name(array)}: it takes an array of arrays"
    return None


def _repeats(call: Call) -> float:
    count = call.constant(1)
    return longest(call) * max(1, count if isinstance(count, int) else 1)


def _array_of_first(call: Call) -> pa.DataType | None:
    kind = first(call)
    return None if kind is None else pa.list_(kind)


def _keys(call: Call) -> pa.DataType | None:
    kind = first(call)
    return None if kind is None else pa.list_(kind.key_type)


def _values(call: Call) -> pa.DataType | None:
    kind = first(call)
    return None if kind is None else pa.list_(kind.item_type)


def _map_entries(call: Call) -> str | None:
    """Spark throws for a key that is NULL, or comes twice."""
    if len(call.args) % 2:
        return "map takes keys and values in turn"
    keys = [arg.literal for arg in call.args[::2]]
    values = [key.value for key in keys if key is not None and key.known and key.value is not None]
    kinds = {key.type for key in keys if key is not None}
    if len(values) < len(keys) or len(kinds) > 1 or len(set(values)) < len(values):
        return "the keys given to map must be constants of one type, each once: Spark throws for a key that comes twice"
    return unified(call.kinds[1::2], "the values of map", "numbers and instants")


def _map_of_arguments(call: Call) -> pa.DataType | None:
    item = types.common(call.kinds[1::2]) if call.args else None
    return None if item is None else pa.map_(call.type(0), item)


def _field_names(call: Call) -> str | None:
    names = [call.constant(place) for place in range(0, len(call.args), 2)]
    if len(call.args) % 2 or not all(isinstance(name, str) for name in names):
        return "named_struct takes names, constant strings, and values in turn"
    return None


def _struct_of_named(call: Call) -> pa.DataType | None:
    kinds = call.kinds[1::2]
    if None in kinds or pa.null() in kinds:
        return None
    return pa.struct([pa.field(str(call.constant(2 * i)), kind) for i, kind in enumerate(kinds)])


def _direction(call: Call) -> str | None:
    if len(call.args) > 1 and not isinstance(call.constant(1), bool):
        return "sort_array takes TRUE or FALSE: whether the smallest comes first"
    return None


def _table() -> dict[str, Function]:
    size = Function(1, 1, "a", INT)
    same = Function(1, 1, "y", first)
    of_order = Function(1, 1, "y", first, _ordered)
    extreme = Function(1, 1, "y", element, _ordered)
    put = Function(2, 2, "yx", first, _of_own_type(1), joined)
    place = constant_integer(1, "place", -_MAX_PLACE, _MAX_PLACE, but=0)
    start = constant_integer(1, "start", -_MOST_ELEMENTS, _MOST_ELEMENTS, but=0)
    count = constant_integer(1, "count", 0, _MAX_REPEATED)
    length = constant_integer(2, "length", 0, _MOST_ELEMENTS)
    return {
        **dict.fromkeys(("size", "cardinality"), size),
        "array_size": Function(1, 1, "y", INT),
        "array": Function(0, MANY, "x", _array_of_arguments, same_kind, joined),
        "array_contains": Function(2, 2, "yx", BOOLEAN, _sought),
        "array_position": Function(2, 2, "yx", BIGINT, _sought),
        "array_remove": Function(2, 2, "yx", first, _of_own_type(1)),
        **dict.fromkeys(("array_append", "array_prepend"), put),
        "array_insert": Function(3, 3, "yIx", first, every(place, _of_own_type(2)), joined),
        "array_repeat": Function(2, 2, "xI", _array_of_first, count, _repeats),
        "array_compact": same,
        **dict.fromkeys(("array_min", "array_max"), extreme),
        "array_sort": of_order,
        "sort_array": Function(1, 2, "yb", first, every(_ordered, _direction)),
        "array_join": Function(2, 3, "yS", STRING, _joinable, _with_separators),
        **ARRAY_SETS,
        "sequence": SEQUENCE,
        "arrays_zip": Function(1, MANY, "y", unknown, growth=joined),
        "slice": Function(3, 3, "yII", first, every(start, length)),
        "flatten": Function(1, 1, "y", element, _holds_arrays),
        **dict.fromkeys(
            ("element_at", "try_element_at"), Function(2, 2, "ax", _entry, _element_place, spelling=_element_at)
        ),
        "get": Function(2, 2, "yI", element),
        "map": Function(0, MANY, "x", _map_of_arguments, _map_entries, joined),
        "map_contains_key": Function(2, 2, "mx", BOOLEAN, _sought),
        "map_keys": Function(1, 1, "m", _keys),
        "map_values": Function(1, 1, "m", _values),
        "map_entries": Function(1, 1, "m", unknown),
        "named_struct": Function(2, MANY, "x", _struct_of_named, _field_names, joined),
    }


COLLECTIONS = _table()
