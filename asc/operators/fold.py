"""The handoff ``fold``: the pure computation of a kind whose states workers fill while they evaluate records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class FoldState(Protocol):
    """The partial state of one query in one task."""

    @property
    def nbytes(self) -> int:
        """Return the size of the state in bytes: about that of :meth:`to_bytes`, or more."""

    def fold(self, columns: Any, rows: npt.NDArray[np.int64]) -> int:
        """Add some records of a batch. Return how many of them are too large and therefore excluded.

        ``columns``: the result of :meth:`Fold.columns`. ``rows``: ascending indices into them; each row has a usable
        time.
        """

    def to_bytes(self) -> bytes:
        """Return the state as bytes."""


class Fold(Protocol):
    """The computation of one kind, in tasks and on the driver.

    Invariant: it has no state, so that it can be sent to workers. The states of any parts of a batch, merged in order
    (:meth:`merge`), equal the state of the whole batch.
    """

    def prepare(self, definition: Mapping[str, Any]) -> Any:
        """Return the definition of a query in the form that states read. It is computed once for a plan, and sent to
        workers.
        """

    def columns(self, batch: pa.RecordBatch) -> Any:
        """Return the columns of a batch in the form that states read, shared by all queries of the kind."""

    def state(self, prepared: Any) -> FoldState:
        """Return the empty state of a query."""

    def merge(self, prepared: Any, states: Sequence[bytes]) -> bytes:
        """Return the result of merging partial states in order."""
