"""A check for NULL arguments without a type. Spark refuses such an argument if the function derives the types of its
result or of other arguments from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from asc.predicate.functions.function import Call

_TYPED_BY: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "array_append": (0,),
        "array_contains": (0,),
        "array_insert": (0, 1),
        "array_position": (0,),
        "array_prepend": (0,),
        "array_remove": (0,),
        "array_sort": (0,),
        "bitmap_count": (0,),
        "element_at": (0,),
        "flatten": (0,),
        "map_contains_key": (0,),
        "schema_of_csv": (0,),
        "schema_of_json": (0,),
        "try_element_at": (0,),
    }
)
"""The positions of the arguments that must have a type, by function name."""

_OF_ONE_TYPE = frozenset(("array_except", "array_intersect", "array_union", "arrays_overlap", "map_concat"))
"""The functions whose arguments share one type. All arguments may be untyped NULLs, but not only some of them."""


def untyped_null(call: Call) -> str | None:
    """Return the reason why Spark refuses a call because of an untyped NULL argument; None if Spark accepts the call.

    A test compares this function with Spark, for every function and each of its arguments.
    """
    places = [place for place in _TYPED_BY.get(call.name, ()) if call.is_null(place)]
    if call.name in _OF_ONE_TYPE:
        nulls = [place for place in range(len(call.args)) if call.is_null(place)]
        places += nulls if len(nulls) < len(call.args) else []
    if not places:
        return None
    return f"argument {places[0] + 1} of {call.name} is NULL without a type, which Spark refuses: CAST it to one"
