"""Estimates of the size of a query's operator state, computed from the last records of the query's stream."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from asc.errors import AscError
from asc.keys.attribute import PAttribute
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.http.scoped_service import ScopedService
from broker.matching.fold_task import Times
from broker.operators.definition import Definition
from broker.operators.expression import OperatorExpressions
from broker.operators.fold_destination import FoldDestination
from broker.operators.fold_sample import FoldEstimate, FoldSample
from broker.operators.kind import FoldedQuery
from broker.operators.kinds import fold_kinds
from broker.stream.stream import Stream

RECORDS_MAX = 10_000
"""The most records of a stream from which an estimate is computed."""

_STAMP = PAttribute("unix_millis(_timestamp)", pa.int64())


def estimate_of(
    permitted: ScopedService,
    stream: Stream,
    predicate: Predicate,
    operator: Definition,
    expressions: OperatorExpressions,
) -> FoldEstimate | None:
    """Return an estimate of the size of the states that a query's operator would have. Return None for an operator
    without the handoff ``fold``, because only the states of these operators are estimated.

    ``expressions``: the expressions of a record that the operator reads. If the last records of the stream cannot be
    read, the estimate has the reason instead of numbers. Raise CancelledError if the request is cancelled.
    """
    kind = fold_kinds().get(operator.name)
    if kind is None:
        return None
    query = FoldedQuery("", stream.name, predicate.text, "")
    destination = kind.destination(operator, query, predicate, expressions)
    return kind.estimate(destination, _sample(permitted, stream, predicate, destination))


def _sample(
    permitted: ScopedService, stream: Stream, predicate: Predicate, destination: FoldDestination
) -> FoldSample | str:
    """Return the last records that the predicate accepts, as columns of the values that the operator's states
    aggregate. Records without a usable time are excluded. If the records cannot be read, return the reason as a text.
    """
    permitted.cancellation.check()
    attributes = (*destination.attributes, _STAMP)
    try:
        permitted.check_runs_predicates()
        sample = stream.recent.sampled(predicate, attributes, RECORDS_MAX, cancellation=permitted.cancellation)
    except AscError as error:
        permitted.cancellation.check()
        return str(error)
    times, stamps = (sample.columns[own] for own in (destination.attributes[0], _STAMP))
    future_us = round(stream.config.max_future_s * 1_000_000)
    kept = Times.of(times, stamps.fill_null(-1).to_numpy(zero_copy_only=False), future_us).is_usable
    columns = {own.name: sample.columns[own.attribute].filter(pa.array(kept)) for own in destination.columns}
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    assert batch.num_rows == np.count_nonzero(kept)
    return FoldSample(sample.records, sample.records - sample.decoded, batch)
