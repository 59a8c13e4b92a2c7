"""The protocol of scopes: parts of the world that classify the cells of geohashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

OUTSIDE, TOUCHED, INSIDE = 0, 1, 2
"""The classes of cells. No position in an outside cell is in the scope. All positions in an inside cell are in the
scope.
"""

Cells = npt.NDArray[np.int64]
Classes = npt.NDArray[np.uint8]
Pause = Callable[[], None]
"""A function that a long computation calls between its steps. It may raise an exception to cancel the computation."""


class Scope(Protocol):
    """A part of the world that a question asks for with ``within``.

    Invariant: immutable; different scopes have different ``repr``. The classes are valid for positions that are
    doubles: a cell contains its lower edges, and ends with the last double before its upper edges. The last cells also
    contain the longitude 180 and the latitude 90.
    """

    def classes(self, cells: Cells, bits: int, pause: Pause) -> Classes:
        """Return the class of each cell, uint8[n]. ``cells``: distinct numbers of cells with ``bits`` bits,
        ascending.
        """
