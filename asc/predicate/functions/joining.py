"""The functions ``array_join`` and ``concat_ws``, which join texts with a separator."""

from __future__ import annotations

from asc.predicate.expressions import types
from asc.predicate.functions.binding import bound_together, names
from asc.predicate.functions.function import MANY, Call, Function, is_array, plain
from asc.predicate.functions.growth import joined, longest
from asc.predicate.functions.results import STRING, first

MAX_JOINED_BYTES = 50_000
"""The maximum length of a joined text in bytes, if the separator comes from the record. The SQL gives NULL for a longer
text.
"""
GROWTH_OF_RECORD = 40.0
"""The factor by which a joined text may be longer than the record if the separator comes from the record. The SQL then
gives NULL for a text that is too long.
"""
_MAX_SEPARATOR = 20


def _joinable(call: Call) -> str | None:
    array = first(call)
    if array is not None and types.is_container(array.value_type):
        return f"array_join of {types.name(array)}: its elements are no strings"
    return None


def _are_short(call: Call, places: range) -> bool:
    texts = [call.constant(place) for place in places]
    return all(isinstance(text, str) and len(text) <= _MAX_SEPARATOR for text in texts)


def _texts(call: Call) -> range:
    """Return the indices of the arguments of ``array_join`` that are the separator and the replacement for NULL."""
    return range(1, len(call.args))


def _with_separators(call: Call) -> float:
    if not _are_short(call, _texts(call)):
        return longest(call) + GROWTH_OF_RECORD
    return longest(call) * (1.0 + sum(len(str(call.constant(place))) for place in _texts(call)))


def _joined_text(call: Call) -> str:
    """Return SQL for ``array_join`` that is NULL if a separator from the record would make the text too long.

    A record that is crafted to stall a stream could contain such a separator.
    """
    if _are_short(call, _texts(call)):
        return plain(call)
    places = [f"p.{name}" for name in names(len(call.args))]
    longest_text = [f"octet_length({place})" for place in places[1:]]
    put = f"greatest({', '.join(longest_text)})" if len(longest_text) > 1 else longest_text[0]
    few = f"CAST(size(p.a) AS BIGINT) * {put} <= {MAX_JOINED_BYTES}"
    return bound_together([arg.sql for arg in call.args], f"if({few}, array_join({', '.join(places)}), NULL)")


def _arrays(call: Call) -> list[int]:
    """Return the indices of the arguments of ``concat_ws`` that are arrays or may be arrays."""
    return [i for i, kind in enumerate(call.kinds) if i and (kind is None or is_array(kind))]


def _separable(call: Call) -> str | None:
    unknown = [i for i in _arrays(call) if call.type(i) is None]
    if unknown and not _are_short(call, range(1)):
        return f"argument {unknown[0] + 1} of concat_ws is of unknown type: CAST it to STRING or ARRAY<STRING>"
    return None


def joined_by(call: Call) -> float:
    """Return the factor by which a joined text may be longer than the record: the sum of the factors of its parts, plus
    the separators between the elements of arrays.
    """
    arrays = [call.args[i].growth for i in _arrays(call)]
    if not arrays:
        return joined(call)
    if not _are_short(call, range(1)):
        return joined(call) + GROWTH_OF_RECORD
    return joined(call) + sum(arrays) * len(str(call.constant(0)))


def _separated(call: Call) -> str:
    arrays = _arrays(call)
    if not arrays or _are_short(call, range(1)) or call.is_null(0):
        return plain(call)
    places = [f"p.{name}" for name in names(len(call.args))]
    # concat_ws skips an array that is NULL.
    elements = " + ".join(f"CAST(greatest(size({places[i]}), 0) AS BIGINT)" for i in arrays)
    few = f"({elements}) * octet_length(p.a) <= {MAX_JOINED_BYTES}"
    return bound_together([arg.sql for arg in call.args], f"if({few}, concat_ws({', '.join(places)}), NULL)")


ARRAY_JOIN = Function(2, 3, "yS", STRING, _joinable, _with_separators, _joined_text)
CONCAT_WS = Function(1, MANY, "sW", STRING, _separable, joined_by, _separated, fails=True)
