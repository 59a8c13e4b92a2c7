"""The completion of definitions at a registration: parameters that the last records of a stream decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.spatial.layer import Layer
from broker.access.scope import Scope
from broker.cancellation import Cancellation
from broker.operators.expression import Expression
from broker.operators.kind import Sampler
from broker.operators.kinds import fold_kinds
from broker.queries.query import RegisteredQuery
from broker.stream.stream import Stream

SAMPLE_RECORDS_MOST = 10_000
"""The most records that a registration reads to complete a definition."""


def completed(
    query: RegisteredQuery,
    former: RegisteredQuery | None,
    stream: Stream,
    shapes: Mapping[str, Layer],
    *,
    scope: Scope,
    cancellation: Cancellation | None = None,
) -> RegisteredQuery:
    """Return a query whose definition is complete. ``former``: the registered query with its id, or None.

    The parameters of the registered query are kept if it has the same stream and WHERE. Otherwise they come from the
    last records that WHERE accepts. Raise AscError if these cannot be read, or if the scope does not permit a column.
    """
    operator = query.operator
    kind = None if operator is None else fold_kinds().get(operator.name)
    if kind is None or operator is None or query.join is not None:
        return query
    known = None
    if former is not None and (former.stream, former.where) == (query.stream, query.where):
        known = former.operator if type(former.operator) is type(operator) else None
    sampler = sampler_of(stream, query.where, shapes, scope.check_columns, cancellation)
    definition = kind.completed(operator, known, sampler)
    return query if definition is operator else replace(query, operator=definition)


def sampler_of(
    stream: Stream,
    where: str,
    shapes: Mapping[str, Layer],
    check_columns: Callable[[Predicate], None],
    cancellation: Cancellation | None = None,
) -> Sampler:
    """Return the reader of values of expressions in the last records of a stream that a predicate accepts.

    ``check_columns`` raises ForbiddenError if the caller may not name a column of a predicate or of an expression.
    """

    def sampled(texts: Sequence[str]) -> Mapping[str, pa.Array]:
        predicate = stream.analyser.normalise(where, shapes)
        read = [Expression("dimensions", text, "value").read(stream.analyser) for text in texts]
        for each in (predicate, *read):
            # A sample shows values, so the columns are checked before it is read.
            check_columns(each)
            stream.analyser.check(each)
        attributes = [each.read[0] for each in read]
        sample = stream.recent.sampled(
            predicate, attributes, SAMPLE_RECORDS_MOST, is_read_anew=True, cancellation=cancellation
        )
        return {text: sample.columns[own] for text, own in zip(texts, attributes, strict=True)}

    return sampled
