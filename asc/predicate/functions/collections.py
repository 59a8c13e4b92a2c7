"""Functions of arrays, maps and structs."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.functions.array_sets import ARRAY_SETS
from asc.predicate.functions.checks import constant_integer, every, same_kind, sought
from asc.predicate.functions.function import MANY, Call, Check, Function, is_array, is_map, plain
from asc.predicate.functions.growth import joined, longest
from asc.predicate.functions.maps import MAPS
from asc.predicate.functions.results import BIGINT, BOOLEAN, INT, STRING, element, first, unknown

_MAX_REPEATED = 100
_MAX_PLACE = 100
_MAX_ENTRIES = 1_000
_PLACES = (pa.int8(), pa.int16(), pa.int32())
_MAX_SEPARATOR = 20
_MOST_ELEMENTS = 1_000_000_000
"""Spark's own bound but one: element_at(array, -2147483648) reads beyond the array, and ends the JVM."""


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
    return sought(call)


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


def _short_sequence(call: Call) -> str | None:
    """Spark throws for a step that leads away from the end."""
    ends = [call.constant(place) for place in range(len(call.args))]
    start, stop, step = (*ends, 1 if ends[0:1] <= ends[1:2] else -1)[:3] if None not in ends else (None, None, None)
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
        return "sequence takes constants: compare with its ends instead"
    if step == 0 or (stop - start) * step < 0 or abs(stop - start) // abs(step) >= _MAX_ENTRIES:
        return f"sequence takes a step towards its end, and has at most {_MAX_ENTRIES:,} entries"
    return None


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
        "array_contains": Function(2, 2, "yx", BOOLEAN, sought),
        "array_position": Function(2, 2, "yx", BIGINT, sought),
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
        "sequence": Function(2, 3, "I", _array_of_arguments, _short_sequence),
        "arrays_zip": Function(1, MANY, "y", unknown, growth=joined),
        "slice": Function(3, 3, "yII", first, every(start, length)),
        "flatten": Function(1, 1, "y", element, _holds_arrays),
        **dict.fromkeys(
            ("element_at", "try_element_at"), Function(2, 2, "ax", _entry, _element_place, spelling=_element_at)
        ),
        "get": Function(2, 2, "yI", element),
        **MAPS,
        "named_struct": Function(2, MANY, "x", _struct_of_named, _field_names, joined),
    }


COLLECTIONS = _table()
