"""Samples of records for the kinds with the handoff ``fold``, to estimate the states that a query would have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class FoldSample:
    """A sample of a stream's records. It contains the columns that a query's states read, of the records that the query
    accepts.

    ``records``: the number of records read. ``undecodable``: the number of these records that are dead letters.
    ``columns``: the columns of the accepted records with a usable time, by the names under which states find them.
    """

    records: int
    undecodable: int
    columns: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class FoldEstimate:
    """The estimated size of the states of a query, as answers show it, and its warnings."""

    plain: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
