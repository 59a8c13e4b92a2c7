"""Samples of records for the kinds with the handoff ``fold``: what their states would make of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class FoldSample:
    """Records of a stream, and of those that a query accepts the columns that its states read.

    ``records``: the number of those read; ``undecodable``: dead letters of these. ``columns``: of the accepted ones
    with a usable time, each by the name under which states find it.
    """

    records: int
    undecodable: int
    columns: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class FoldEstimate:
    """The size of the states of a query, as answers have it, and the warnings of it."""

    plain: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
