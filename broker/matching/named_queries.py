"""Predicates by id, as users give them, in their normal form: what a plan is compiled from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from asc.errors import PredicateError
from asc.plan.plan import Query
from asc.predicate import Limits, normalise
from asc.schema import Schema
from broker.errors import MatchError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def normalised_queries(queries: Mapping[str, str], schema: Schema, limits: Limits, time_zone: str) -> Iterator[Query]:
    """Each query over a schema; needs no Spark. PredicateError names the query, MatchError an illegal id.

    >>> [query.id for query in normalised_queries({"late": "n > 1"}, Schema.from_ddl("n INT"), Limits(), "UTC")]
    ['late']
    """
    for query_id, text in queries.items():
        if not isinstance(query_id, str) or not query_id or _CONTROL.search(query_id):
            raise MatchError("query id", query_id, "is a text without control characters, at least one character long")
        try:
            yield Query(query_id, normalise(text, schema, limits=limits, time_zone=time_zone))
        except PredicateError as error:
            named = PredicateError(
                f"query {query_id!r}: {error.subject}",
                error.value,
                error.remedy,
                text=error.text,
                start=error.start,
                end=error.end,
            )
            raise named from None
