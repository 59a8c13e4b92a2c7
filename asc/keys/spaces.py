"""The list of all key spaces (the keys of one type each), from which the key space of a type is chosen."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from asc.keys.booleans import Booleans
from asc.keys.byte_strings import Binaries, Strings
from asc.keys.decimals import LongDecimals, ShortDecimals
from asc.keys.floats import Floats
from asc.keys.instants import Dates, Timestamps
from asc.keys.integers import Integers
from asc.keys.key_space import KeySpace
from asc.keys.positions import Positions

_KINDS: tuple[type[KeySpace], ...] = (
    Booleans,
    Integers,
    Dates,
    Timestamps,
    Floats,
    ShortDecimals,
    LongDecimals,
    Strings,
    Binaries,
    Positions,
)


@lru_cache(maxsize=1024)
def space_of(data_type: pa.DataType) -> KeySpace | None:
    """Return the key space of a type. Return None if no p-attribute can have the type (array, map, most structs, ...).

    >>> type(space_of(pa.date32())).__name__, space_of(pa.list_(pa.int32()))
    ('Dates', None)
    """
    return next((space for kind in _KINDS if (space := kind.of(data_type)) is not None), None)
