"""Completion of operator definitions, such as edges of bins, from a sample of a stream's records. It is for requests
that only check a query, or that change one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from broker.http.scoped_service import ScopedService
from broker.operators.definition import Definition
from broker.operators.kinds import fold_kinds
from broker.queries.completion import sampler_of
from broker.stream.stream import Stream


def completed_by_sample(permitted: ScopedService, stream: Stream, where: str, operator: Definition) -> Definition:
    """Return ``operator`` completed by the parameters that a registration of a new query would compute from the last
    records of the stream.

    Return it unchanged if its kind computes no parameters. ``where``: the predicate that selects the records. Raise
    ForbiddenError if the caller may register no query, and AscError if the records cannot be read.
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
