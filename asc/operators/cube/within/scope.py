"""Scopes of questions: parts of the world, which classify cells of geohashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

OUTSIDE, TOUCHED, INSIDE = 0, 1, 2
"""The classes of cells. A position in an outside cell is never in the scope, a position in an inside cell always is."""

Cells = npt.NDArray[np.int64]
Classes = npt.NDArray[np.uint8]
Pause = Callable[[], None]
"""A function that is called between parts of a computation, and may raise."""


class Scope(Protocol):
    """A part of the world.

    Invariant: immutable. ``repr`` is different for different scopes. The classes hold for positions that are doubles: a
    cell has its lower edges, and ends with the last double before its upper edges. The last cells have 180 and 90.
    """

    def classes(self, cells: Cells, bits: int, pause: Pause) -> Classes:
        """Return the class of each cell, uint8[n]. ``cells``: distinct numbers of geohashes of some bits, ascending."""
