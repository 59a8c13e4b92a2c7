"""The protocol that each kind of computed dimension implements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

if TYPE_CHECKING:
    from asc.operators.cube.keys import Key


class ComputedDimension(Protocol):
    """A dimension whose keys are computed from the values of other expressions, one key for each level.

    Invariant: immutable and hashable. Two dimensions with equal texts have equal keys for equal values. The key of a
    level is a function of the key of the next finer level, so that coarser cells can be computed from finer cells.
    """

    @property
    def name(self) -> str:
        """Return the name, without the level."""

    @property
    def text(self) -> str:
        """Return the text of the dimension, from which the table of kinds creates an equal dimension."""

    @property
    def summary(self) -> str:
        """Return the text of the dimension as a user writes it, without the edges that a sample decided."""

    @property
    def needs_moments(self) -> bool:
        """Return whether each cell stores the co-moments of ``inputs`` in addition to its measures."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings that a registration of the cube shows."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the names of the levels, from coarse to fine. Each name begins with the name of the dimension and a
        colon.
        """

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the different expressions over a record from whose values the keys are computed."""

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the keys of all levels."""

    def check(self, types: Sequence[pa.DataType | None]) -> None:
        """Raise CubeError if the keys cannot be computed from values of ``types``, which are in the order of
        ``inputs``.
        """

    def keys(self, columns: Sequence[pa.Array]) -> tuple[Key, ...]:
        """Return the key of each level, in the order of ``levels``. ``columns``: the values of ``inputs``."""
