"""The handoff ``fold``: the interface of a kind of operator whose states Spark's Python workers fill while they
evaluate records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class FoldState(Protocol):
    """The state of one query over the records that one Spark task evaluates."""

    @property
    def nbytes(self) -> int:
        """Return the size of the state in bytes. It is about the size of the result of :meth:`to_bytes`, or more."""

    def fold(self, columns: Any, rows: npt.NDArray[np.int64]) -> int:
        """Add some records of a batch. Return how many of these records the state excludes because they are too large.

        ``columns``: the result of :meth:`Fold.columns`. ``rows``: ascending indices into the columns; each of these
        rows has a usable time.
        """

    def compact(self) -> None:
        """Free the memory that the state can do without, for example by merging equal groups."""

    def to_bytes(self) -> bytes:
        """Return the state as bytes."""


class Fold(Protocol):
    """The computation of one kind, in tasks and on the driver.

    Invariant: the object itself is stateless, so that it can be sent to workers. If a batch is split into parts in any
    way, the states of the parts, merged in order (:meth:`merge`), equal the state of the whole batch.
    """

    def prepare(self, definition: Mapping[str, Any]) -> Any:
        """Return the definition of a query in the form that :meth:`state` and :meth:`merge` read. The result is
        computed once for a plan, and sent to workers.
        """

    def columns(self, batch: pa.RecordBatch) -> Any:
        """Return the columns of a batch in the form that :meth:`FoldState.fold` reads. All queries of the kind share
        the result.
        """

    def state(self, prepared: Any) -> FoldState:
        """Return a new state of a query, without records."""

    def merge(self, prepared: Any, states: Sequence[bytes]) -> bytes:
        """Return the result of merging partial states in order."""
