"""Samples of records for the kinds with the handoff ``fold``, to estimate the states that a query would have."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from broker.operators.estimate_body import EstimateBody


@dataclass(frozen=True, slots=True, eq=False)
class FoldSample:
    """A sample of a stream's records. Of the records that a query accepts, it contains the columns that the query's
    states read.

    ``records``: the number of records read. ``undecodable``: the number of these records that are dead letters.
    ``columns``: the columns of the accepted records with a usable time. Their names are those of :class:`FoldColumn`.
    """

    records: int
    undecodable: int
    columns: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class FoldEstimate:
    """The estimated size of the states of a query, in the kind's model of answers, and its warnings."""

    body: EstimateBody
    warnings: tuple[str, ...] = ()
