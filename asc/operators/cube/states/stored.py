"""The form in which kernels read and write states of variable size."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any


class Stored(NamedTuple):
    """States of variable size. ``content`` uint8: the bytes of all states. ``offsets`` int32[states + 1]: the position
    of each state in ``content``. A NULL state has no bytes.
    """

    content: Array
    offsets: Array
