"""The table of the kinds of computed dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.computed.call import Call
from asc.operators.cube.computed.computed_dimension import ComputedDimension
from asc.operators.cube.computed.geohash import Geohash

KINDS: Mapping[str, Callable[[Call], ComputedDimension]] = MappingProxyType(
    {"bins": BinDimension.of, "geohash": Geohash.of}
)
"""The function that creates a dimension from its call, by the name in the call. It raises CubeError if the call is
invalid.
"""


def computed_dimension(text: str) -> ComputedDimension | None:
    """Return the computed dimension that a text declares. Return None if the text is an expression over a record. Raise
    CubeError if the declaration is invalid.

    >>> computed_dimension("geohash(lat, lon, 10 > 15)").levels
    ('geo:10', 'geo:15')
    """
    call = Call.parse(text, KINDS)
    return None if call is None else KINDS[call.function](call)
