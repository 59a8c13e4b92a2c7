"""Functions of arrays, maps and structs."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.common_type import held_together
from asc.predicate.functions.array_sets import ARRAY_SETS
from asc.predicate.functions.binding import bound, bound_together
from asc.predicate.functions.checks import constant_integer, every, held, of_one_kind
from asc.predicate.functions.function import MANY, Call, Check, Function, Result, is_array, is_map, plain
from asc.predicate.functions.growth import joined, longest
from asc.predicate.functions.joining import ARRAY_JOIN, GROWTH_OF_RECORD, MAX_JOINED_BYTES
from asc.predicate.functions.maps import MAPS
from asc.predicate.functions.results import BIGINT, BOOLEAN, INT, element, first, unknown
from asc.predicate.functions.sequences import SEQUENCES
from asc.predicate.functions.try_spellings import as_together

_MAX_REPEATED = 100
_MAX_PLACE = 100
_MAX_OF_RECORD = 10_000
_PLACES = (pa.int8(), pa.int16(), pa.int32())
_MOST_ELEMENTS = 1_000_000_000
"""The greatest absolute value that the index of an element may have.

Spark itself handles an index beyond the array, with one exception: the call element_at(array, -2147483648) reads beyond
the array and terminates the JVM.
"""
_NO_PLACE = f"{{0}} = 0 OR {{0}} < -{_MOST_ELEMENTS}"


def _of_own_type(place: int) -> Check:
    """Return a check of the type of the argument at ``place``, a value that the call adds to an array or removes from
    it.

    The type of the value and the type of the array's elements must be equal or have a common type, as numbers have.
    """

    def check(call: Call) -> str | None:
        array, put = call.type(0), call.type(place)
        if array is None or not is_array(array) or put in (array.value_type, pa.null()):
            return None
        mixed = types.mixed_instants([array.value_type, put])
        if put is None or mixed or types.common([array.value_type, put]) is None:
            return f"{call.name} puts {types.name(put)} among {types.name(array.value_type)}: CAST it"
        return None

    return check


def _with_element(place: int) -> Result:
    def result(call: Call) -> pa.DataType | None:
        array = first(call)
        held = types.common([array.value_type, call.type(place)]) if array is not None and is_array(array) else None
        return None if held is None else pa.list_(held)

    return result


def _ordered(call: Call) -> str | None:
    if types.holds_map(call.type(0)):
        return f"{call.name} of {types.name(call.type(0))}: maps have no order"
    return None


def _element_place(call: Call) -> str | None:
    container = call.type(0)
    if container is not None and is_map(container):
        return held(call)
    if call.type(1) not in _PLACES:
        return f"{call.name} takes a place that is an INT, not {types.name(call.type(1))}"
    return constant_integer(1, "place", -_MOST_ELEMENTS, _MOST_ELEMENTS, but=0)(call) if _is_constant(call, 1) else None


def _is_constant(call: Call, place: int) -> bool:
    return call.args[place].literal is not None


def _other_than(call: Call, place: int, odd: str) -> str:
    """Return SQL for an integer argument that is NULL if the condition ``odd`` holds.

    ``{0}`` in ``odd`` is the argument.
    """
    arg = call.args[place]
    if _is_constant(call, place):
        return arg.sql
    if arg.path is None:
        return bound(arg.sql, f"if({odd.format('p')}, NULL, p)")
    return f"if({odd.format(arg.sql)}, NULL, {arg.sql})"


def _element_at(call: Call) -> str:
    """Return SQL for ``element_at`` so that the index 0 and the least INT give NULL.

    Spark throws for the index 0, and reads beyond the array for the least INT.
    """
    if call.type(0) is None or is_map(call.type(0)):
        return plain(call)
    return f"{call.name}({call.args[0].sql}, {_other_than(call, 1, _NO_PLACE)})"


def _part(call: Call) -> str | None:
    """Return the reason for refusing a call of ``slice`` unless its start and its length have the type INT or a
    narrower one.

    Also refuse a constant start of 0, and a constant negative length, because Spark throws for them. Return None if the
    call is allowed.
    """
    start = constant_integer(1, "start", -_MOST_ELEMENTS, _MOST_ELEMENTS, but=0)
    length = constant_integer(2, "length", 0, _MOST_ELEMENTS)
    checks = [check for place, check in ((1, start), (2, length)) if _is_constant(call, place)]
    if any(call.type(place) not in _PLACES for place in (1, 2)):
        return f"{call.name} takes a start and a length that are INT"
    return every(*checks)(call)


def _sliced(call: Call) -> str:
    return f"slice({call.args[0].sql}, {_other_than(call, 1, '{0} = 0')}, {_other_than(call, 2, '{0} < 0')})"


def _count(call: Call) -> str | None:
    if _is_constant(call, 1):
        return constant_integer(1, "count", 0, _MAX_REPEATED)(call)
    if call.type(1) != pa.int32():
        return f"{call.name} takes a count that is an INT, not {types.name(call.type(1))}"
    if call.type(0) is None or types.is_container(call.type(0)):
        return f"{call.name} repeats {types.name(call.type(0))} a constant number of times"
    return None


def _repeated(call: Call) -> str:
    """Return SQL for ``array_repeat`` so that a count from the record gives NULL if the array would be too large.

    A record that is crafted to stall a stream could require such an array.
    """
    if _is_constant(call, 1):
        return plain(call)
    few = f"p.b <= {_MAX_OF_RECORD}"
    if call.type(0) in (pa.string(), pa.binary()):
        few += f" AND (p.a IS NULL OR CAST(p.b AS BIGINT) * octet_length(p.a) <= {MAX_JOINED_BYTES})"
    return bound_together([arg.sql for arg in call.args], f"if({few}, array_repeat(p.a, p.b), NULL)")


def _entry(call: Call) -> pa.DataType | None:
    container = first(call)
    return container.item_type if container is not None and is_map(container) else element(call)


def _array_of_arguments(call: Call) -> pa.DataType | None:
    kind = held_together(call.kinds)
    return None if kind is None else pa.list_(kind)


def _holds_arrays(call: Call) -> str | None:
    array = first(call)
    if array is not None and not is_array(array.value_type):
        return f"flatten of {types.name(array)}: it takes an array of arrays"
    return None


def _repeats(call: Call) -> float:
    count = call.constant(1)
    return longest(call) * (max(1, count) if isinstance(count, int) else GROWTH_OF_RECORD)


def _array_of_first(call: Call) -> pa.DataType | None:
    kind = first(call)
    return None if kind is None else pa.list_(kind)


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
    if len(call.args) > 1 and not isinstance(call.constant(1), bool) and not call.is_null(1):
        return "sort_array takes TRUE or FALSE: whether the smallest comes first"
    return None


def _table() -> dict[str, Function]:
    size = Function(1, 1, "a", INT)
    same = Function(1, 1, "y", first)
    of_order = Function(1, 1, "y", first, _ordered)
    extreme = Function(1, 1, "y", element, _ordered)
    put = Function(2, 2, "yx", _with_element(1), _of_own_type(1), joined)
    place = constant_integer(1, "place", -_MAX_PLACE, _MAX_PLACE, but=0)
    return {
        **dict.fromkeys(("size", "cardinality"), size),
        "array_size": Function(1, 1, "y", INT),
        "array": Function(0, MANY, "x", _array_of_arguments, of_one_kind(), joined, as_together()),
        "array_contains": Function(2, 2, "yx", BOOLEAN, held),
        "array_position": Function(2, 2, "yx", BIGINT, held),
        "array_remove": Function(2, 2, "yx", _with_element(1), _of_own_type(1)),
        **dict.fromkeys(("array_append", "array_prepend"), put),
        "array_insert": Function(3, 3, "yIx", _with_element(2), every(place, _of_own_type(2)), joined),
        "array_repeat": Function(2, 2, "xI", _array_of_first, _count, _repeats, _repeated),
        "array_compact": same,
        **dict.fromkeys(("array_min", "array_max"), extreme),
        "array_sort": of_order,
        "sort_array": Function(1, 2, "yb", first, every(_ordered, _direction)),
        "array_join": ARRAY_JOIN,
        **ARRAY_SETS,
        **SEQUENCES,
        "arrays_zip": Function(1, MANY, "y", unknown, growth=joined),
        "slice": Function(3, 3, "yII", first, _part, spelling=_sliced, fails=True),
        "flatten": Function(1, 1, "y", element, _holds_arrays),
        **dict.fromkeys(
            ("element_at", "try_element_at"), Function(2, 2, "ax", _entry, _element_place, spelling=_element_at)
        ),
        "get": Function(2, 2, "yI", element),
        **MAPS,
        "named_struct": Function(2, MANY, "x", _struct_of_named, _field_names, joined),
    }


COLLECTIONS = _table()
