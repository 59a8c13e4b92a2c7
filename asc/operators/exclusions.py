"""Exclusion of records that cannot be used as observations, and the counts of a feed's messages."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from asc.operators.feed import Kind, Observation
from asc.operators.times import is_in_range

KEY_BYTES_MAX = 1_024
"""The most bytes of the key of an object, such as a vehicle. The key is held in memory as long as the object's state.
"""

OUTPUT_TOO_LARGE = "output_too_large"
"""The reason under which an output is counted as excluded because it is too large for its topic."""

NOT_OF_RECORDS: Mapping[str, str] = MappingProxyType(
    {"too_many_pairs": "tick", "unreadable": "message", "replaced_writer": "message", OUTPUT_TOO_LARGE: "output"}
)
"""The reasons that exclude something other than a record. Each reason is mapped to the unit that it excludes: a tick, a
message or an output.
"""


@dataclass(slots=True)
class FeedCounts:
    """Counts over some messages of a feed: the observations, the excluded records by reason, and the outputs by type.

    ``latest``: figures of the state or of the last output of each query of the part, by the query's id; None if the
    kind has no figures.
    """

    observations: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    outputs: Counter[Kind] = field(default_factory=Counter)
    latest: Mapping[str, Mapping[str, Any]] | None = None


def exclusion_reason(seen: Observation, *, is_planar: bool) -> str | None:
    """Return the reason why a record is excluded regardless of earlier records. Return None for a usable record."""
    if seen.key is None or len(seen.key.encode("utf-8", "replace")) > KEY_BYTES_MAX:
        return "key"
    if seen.is_future:
        return "future_timestamp"
    if seen.time_us is None or not is_in_range(seen.time_us):
        return "time"
    return None if _is_position(seen.position, is_planar=is_planar) else "position"


def _is_position(position: tuple[float | None, ...], *, is_planar: bool) -> bool:
    """Return whether all coordinates of a position are finite numbers. Unless ``is_planar``, they must also be degrees
    in range: longitude and latitude, twice for a box.
    """
    for place, part in enumerate(position):
        # A whole number may exceed all doubles.
        if not isinstance(part, (int, float)) or isinstance(part, bool) or not abs(part) <= sys.float_info.max:
            return False
        if not is_planar and abs(part) > (90 if place % 2 else 180):
            return False
    return True
