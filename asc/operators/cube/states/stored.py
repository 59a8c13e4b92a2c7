"""States of variable size as kernels read and write them."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any


class Stored(NamedTuple):
    """States of variable size. ``content`` uint8: the bytes of all states. ``offsets`` int32[states + 1]: the place of
    each state in ``content``. A NULL state has no bytes.
    """

    content: Array
    offsets: Array
