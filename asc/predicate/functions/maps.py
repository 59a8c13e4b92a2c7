"""The functions of maps.

Spark throws for a key that is NULL or a duplicate. The entries that Spark collected before the exception remain for the
next record, so the exception must be prevented. The keys are checked first. They are sorted, so that equal keys are
next to each other.
"""

from __future__ import annotations

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate.expressions import types
from asc.predicate.expressions.common_type import wider
from asc.predicate.expressions.expression import column_sql
from asc.predicate.functions.binding import bound, bound_together, names
from asc.predicate.functions.checks import held, of_one_kind
from asc.predicate.functions.function import MANY, Call, Function, is_array, is_map, not_constant
from asc.predicate.functions.growth import joined, times
from asc.predicate.functions.results import BOOLEAN, always, element, first
from asc.predicate.functions.try_spellings import as_together
from asc.predicate.regex.pattern_search import Search, Use, search
from asc.spark_types import folded

_MAX_DECIMALS = 1_000
"""The maximum number of keys of a map if the keys are decimals. Spark compares decimals with the same hash one after
the other, which takes long for many of them.
"""


def if_keys_differ(keys: str, made: str, kind: pa.DataType | None) -> str:
    """Return SQL that gives the map ``made``, or NULL if a key of the map is NULL or a duplicate.

    ``made`` and ``keys`` are SQL for the map and for the array of its keys. ``kind`` is the type of the keys.
    """
    few = f"size(s) <= {_MAX_DECIMALS} AND " if kind is not None and pa.types.is_decimal(kind) else ""
    none_twice = bound(f"sort_array({keys})", f"{few}size(filter(s, (e, j) -> e <=> get(s, j - 1))) = 0", "s")
    return f"if({none_twice}, {made}, NULL)"


def key_trouble(kind: pa.DataType | None) -> str | None:
    """Return the reason why values of a type cannot be keys of a map; None if they can be."""
    if kind is None or kind == pa.null() or types.is_interval(kind) or types.holds_map(kind):
        return f"keys of type {types.name(kind)}: CAST them"
    return None


def _keys(call: Call) -> pa.DataType | None:
    kind = first(call)
    return None if kind is None else pa.list_(kind.key_type)


def _values(call: Call) -> pa.DataType | None:
    kind = first(call)
    return None if kind is None else pa.list_(kind.item_type)


def _entries(call: Call) -> pa.DataType | None:
    kind = first(call)
    if kind is None:
        return None
    return pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)]))


# -- map

_VALUES = slice(1, None, 2)
_of_one_kind = of_one_kind(_VALUES)


def _is_exact(kind: pa.DataType | None) -> bool:
    return kind is not None and bool(pa.types.is_decimal(kind))


def _arguments(call: Call) -> str | None:
    """Return the reason for refusing a call of ``map`` unless its keys are distinct constants of one type; None if they
    are.

    Several types are allowed if they are all integers, or if one decimal type holds all of them. Spark throws for a key
    that is NULL or a duplicate. But if Spark optimises the map away, it does not check the keys. So SQL that gives NULL
    for such keys would have another result.
    """
    if len(call.args) % 2:
        return "map takes keys and values in turn"
    keys = [arg.literal for arg in call.args[::2]]
    values = [key.value for key in keys if key is not None and key.known and key.value is not None]
    if len(values) < len(keys) or len(set(values)) < len(values):
        return "map takes keys that are constants, each once; of the record's: map_from_arrays(array(...), array(...))"
    kinds = call.kinds[::2]
    if len(set(kinds)) > 1 and not (set(kinds) <= types.INTEGERS or _is_exact(wider(kinds))):
        return "the keys given to map must be of one type, or integers and decimals that one decimal holds"
    return _of_one_kind(call)


def _map_of_arguments(call: Call) -> pa.DataType | None:
    key, item = wider(call.kinds[::2]), wider(call.kinds[1::2])
    return None if key is None or item is None else pa.map_(key, item)


# -- maps of arrays, of entries, of maps, of text


def _arrays(call: Call) -> str | None:
    keys = first(call)
    trouble = key_trouble(None if keys is None else keys.value_type)
    return None if trouble is None else f"{call.name} with {trouble}"


def _of_arrays(call: Call) -> str:
    made = "if(size(p.a) = size(p.b), map_from_arrays(p.a, p.b), NULL)"
    return bound_together([arg.sql for arg in call.args], if_keys_differ("p.a", made, element(call)))


def _map_of_arrays(call: Call) -> pa.DataType | None:
    keys, values = call.kinds
    if keys is None or values is None or not is_array(keys) or not is_array(values):
        return None
    return pa.map_(keys.value_type, values.value_type)


def _struct(call: Call) -> pa.DataType | None:
    array = first(call)
    kind = array.value_type if array is not None and is_array(array) else None
    return kind if kind is not None and pa.types.is_struct(kind) and kind.num_fields == 2 else None


def _array_of_entries(call: Call) -> str | None:
    struct = _struct(call)
    if struct is None or folded(struct.field(0).name) == folded(struct.field(1).name):
        return f"{call.name} of {types.name(call.type(0))}: it takes an array of structs with two names"
    trouble = key_trouble(struct.field(0).type)
    return None if trouble is None else f"{call.name} with {trouble}"


def _of_entries(call: Call) -> str:
    struct = _struct(call)
    assert struct is not None
    keys = f"transform(p, e -> e.{column_sql((struct.field(0).name,))})"
    return bound(call.args[0].sql, if_keys_differ(keys, "map_from_entries(p)", struct.field(0).type))


def _map_of_entries(call: Call) -> pa.DataType | None:
    struct = _struct(call)
    return None if struct is None else pa.map_(struct.field(0).type, struct.field(1).type)


def _same_maps(call: Call) -> str | None:
    kinds = set(call.kinds) - {pa.null()}
    kind = next(iter(kinds), None)
    if len(kinds) != 1 or kind is None:
        return f"map_concat of {' and '.join(map(types.name, call.kinds))}: CAST them to one type"
    trouble = key_trouble(kind.key_type)
    return None if trouble is None else f"map_concat of {trouble}"


def _of_maps(call: Call) -> str:
    places = [f"p.{name}" for name in names(len(call.args))]
    keys = f"concat({', '.join(f'map_keys({place})' for place in places)})"
    kind = _common_map(call)
    made = f"map_concat({', '.join(places)})"
    return bound_together(
        [arg.sql for arg in call.args], if_keys_differ(keys, made, None if kind is None else kind.key_type)
    )


def _common_map(call: Call) -> pa.DataType | None:
    return next((kind for kind in call.kinds if kind is not None and is_map(kind)), None)


def _delimiters(call: Call) -> list[Search]:
    """Return the searches for the delimiter between entries and for the delimiter within an entry.

    Raise ValueError if a delimiter is refused.
    """
    patterns = [call.text(i) if i < len(call.args) else default for i, default in ((1, ","), (2, ":"))]
    if None in patterns:
        raise ValueError(not_constant("a delimiter given to str_to_map"))
    return [search(str(pattern), Use.ALL) for pattern in patterns]


def _refused_delimiter(call: Call) -> str | None:
    try:
        _delimiters(call)
    except ValueError as error:
        return str(error)
    return None


def _steps_of_delimiters(call: Call) -> int:
    return sum(delimiter.steps for delimiter in _delimiters(call))


def _of_text(call: Call) -> str:
    between, within = (quoted(delimiter.pattern) for delimiter in _delimiters(call))
    keys = f"transform(split(p, {between}, -1), e -> split(e, {within}, 2)[0])"
    return bound(call.args[0].sql, if_keys_differ(keys, f"str_to_map(p, {between}, {within})", pa.string()))


def _table() -> dict[str, Function]:
    return {
        "map": Function(0, MANY, "x", _map_of_arguments, _arguments, joined, as_together(_VALUES)),
        "map_from_arrays": Function(2, 2, "y", _map_of_arrays, _arrays, joined, _of_arrays, fails=True),
        "map_from_entries": Function(1, 1, "y", _map_of_entries, _array_of_entries, spelling=_of_entries),
        "map_concat": Function(1, MANY, "m", _common_map, _same_maps, joined, _of_maps, fails=True),
        "str_to_map": Function(
            1,
            3,
            "S",
            always(pa.map_(pa.string(), pa.string())),
            _refused_delimiter,
            times(4),
            _of_text,
            fails=True,
            steps=_steps_of_delimiters,
        ),
        "map_contains_key": Function(2, 2, "mx", BOOLEAN, held),
        "map_keys": Function(1, 1, "m", _keys),
        "map_values": Function(1, 1, "m", _values),
        "map_entries": Function(1, 1, "m", _entries),
    }


KEYED = frozenset(("map_from_arrays", "map_from_entries", "map_concat", "transform_keys", "map_zip_with"))
"""The functions that construct a map and throw for a key that is NULL or a duplicate."""

MAPS = _table()
