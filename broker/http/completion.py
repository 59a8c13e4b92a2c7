"""Definitions that a sample of a stream completes, for requests that register nothing or change one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from broker.http.scoped_service import ScopedService
from broker.operators.definition import Definition
from broker.operators.kinds import fold_kinds
from broker.queries.completion import sampler_of
from broker.stream.stream import Stream


def completed_by_sample(permitted: ScopedService, stream: Stream, where: str, operator: Definition) -> Definition:
    """Return a definition with the parameters that the last records decide, as at a registration of a new query.

    Raise ForbiddenError if the caller may register no query, and AscError if the records cannot be read.
    """
    kind = fold_kinds().get(operator.name)
    if kind is None:
        return operator

    def sampled(texts: Sequence[str]) -> Mapping[str, pa.Array]:
        permitted.check_runs_predicates()
        read = sampler_of(stream, where, permitted.shapes, permitted.check_columns, permitted.cancellation)
        return read(texts)

    completed: Definition = kind.completed(operator, None, sampled)
    return completed
