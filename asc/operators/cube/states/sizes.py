"""The parameters of sketches: their defaults and bounds. The module loads no kernel."""

from __future__ import annotations

from typing import Final

from asc.errors import CubeError

CAPACITY: Final = 64
"""The number of items of ``frequent`` if the measure does not state another number."""
CAPACITY_MAX: Final = 4_096
STATED_MAX: Final = 1_000_000
"""The largest number of different values for which ``seen`` may be sized."""
ITEM_BYTES_MAX: Final = 1_024
"""The largest number of bytes of an item of ``frequent``. A longer text or BINARY value is only counted."""

VALUES_A_BLOCK: Final = 45
"""The number of stated values of ``seen`` for each block of 64 bytes. With the stated number of values, the
false-positive chance is below 1 %.
"""
BLOCK_BYTES: Final = 64
COUNTERS: Final = 4
"""The counters of ``seen`` for each stated value, each of 1 to 8 bytes."""


def checked_capacity(capacity: object) -> int:
    """Return the number of items of ``frequent``. Raise CubeError if it is out of range.

    >>> checked_capacity(10)
    10
    """
    if isinstance(capacity, bool) or not isinstance(capacity, int) or not 1 <= capacity <= CAPACITY_MAX:
        raise CubeError("capacity of frequent", capacity, f"is out of range: keep 1 to {CAPACITY_MAX:,} items a cell")
    return capacity


def checked_stated(stated: object) -> int:
    """Return the number of different values for which ``seen`` is sized. Raise CubeError if it is out of range.

    >>> checked_stated(1_000)
    1000
    """
    if isinstance(stated, bool) or not isinstance(stated, int) or not 1 <= stated <= STATED_MAX:
        least, most = (dense_bytes(STATED_MAX, counter_bytes) / 1e6 for counter_bytes in (1, 8))
        remedy = (
            f"is out of range: state 1 to {STATED_MAX:,} a cell, of which each cell takes {least:.1f} to {most:.0f} MB"
        )
        raise CubeError("number of values of seen", stated, remedy)
    return stated


def dense_bytes(stated: int, counter_bytes: int) -> int:
    """Return the bytes of a dense state of ``seen``, without its header.

    >>> dense_bytes(1_000, 1)
    5472
    """
    return BLOCK_BYTES * -(-stated // VALUES_A_BLOCK) + COUNTERS * counter_bytes * stated
