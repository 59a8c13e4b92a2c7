"""Normalisation of the predicates that a user passes by id. The resulting queries are compiled to a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from asc.errors import PredicateError
from asc.plan.plan import Query
from asc.predicate import Limits, normalise
from asc.predicate.normal_form.join_predicate import Join, JoinPredicate
from asc.query_id import checked_id, checked_queries
from asc.schema import Schema
from broker.errors import MatchError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def normalised_queries(
    queries: Mapping[str, str | Join], schema: Schema, limits: Limits, time_zone: str
) -> Iterator[Query]:
    """Yield the normal form of each query over a schema. For a join, yield one query for each shape. Spark is not
    needed. Raise PredicateError for an invalid predicate; the error names the query and the shape. Raise MatchError for
    an illegal id.

    >>> [query.id for query in normalised_queries({"late": "n > 1"}, Schema.from_ddl("n INT"), Limits(), "UTC")]
    ['late']
    """
    for query_id, query in checked_queries(queries, MatchError).items():
        checked_id(query_id, MatchError)
        if not isinstance(query, (str, Join)):
            remedy = "give Spark SQL as text, or an asc.Join"
            raise PredicateError(f"query {query_id!r}: predicate of type", type(query).__name__, remedy)
        try:
            if not isinstance(query, Join):
                yield Query(query_id, normalise(query, schema, limits=limits, time_zone=time_zone))
                continue
            join = JoinPredicate(query.where, schema, query.layer, limits=limits, time_zone=time_zone)
        except PredicateError as error:
            raise _named(error, query_id) from None
        for shape_id, row in schema.layers[query.layer].features.items():
            member_id = f"{query_id}/{shape_id}"
            if _CONTROL.search(member_id):
                raise MatchError("query id", member_id, "the id of its shape has control characters: change it")
            try:
                yield Query(member_id, join.of(row))
            except PredicateError as error:
                raise _named(error, member_id) from None


def _named(error: PredicateError, query_id: str) -> PredicateError:
    subject = f"query {query_id!r}: {error.subject}"
    return PredicateError(subject, error.value, error.remedy, text=error.text, start=error.start, end=error.end)
