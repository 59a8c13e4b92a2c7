"""What the API shows of predicates, streams and plans: read-only views as plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from asc.keys.attribute import PAttribute
from broker.adapting.stream_monitor import StreamMonitor
from broker.queries.query import RegisteredQuery
from broker.queries.registration import StandingQueries
from broker.stream.analyser import StreamAnalyser

_WITHOUT_A_RECORD = {"_key": "NULL", "_partition": "0", "_offset": "0", "_timestamp": "NULL", "_headers": "NULL"}
"""What ``tuple_values`` has for the record's own attributes; ``_topic`` is what it would be."""

_OWN_ATTRIBUTE = re.compile(
    rf"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.`])`?({"|".join(_WITHOUT_A_RECORD)})(?!\w)""",
    re.IGNORECASE | re.DOTALL,
)
"""One of them in an expression, past the texts in it and the fields of structs."""


def checked(
    standing: StandingQueries, analysers: Mapping[str, StreamAnalyser], stream: str | None, where: str
) -> dict[str, Any]:
    """A predicate's normal form, judged as a registration would judge it; AscError where it would be refused."""
    from asc.predicate.describe import plain_form

    name = standing.stream_name(stream)
    predicate = standing.normalise(name, where)
    for refusal in analysers[name].refusals(predicate.p_attributes).values():
        raise refusal
    return plain_form(predicate)


def described_streams(standing: StandingQueries) -> list[dict[str, Any]]:
    """The configured streams with the number of queries on each."""
    counts = standing.counts()
    return [
        {
            "name": name,
            "topic": stream.topic,
            "format": stream.format,
            "schema": stream.fields().ddl(),
            "dead_letter": standing.config.dead_letter_topic(name),
            "queries": counts.get(name, 0),
        }
        for name, stream in sorted(standing.config.streams.items())
    ]


def described_plan(standing: StandingQueries, monitors: Mapping[str, StreamMonitor]) -> dict[str, Any]:
    """The running plan of every stream: its p-attributes, the sequence of each block, and what its monitor did."""
    return {
        name: {
            "version": plan.version,
            "queries": len(plan),
            "conjuncts": plan.conjunct_count,
            "match_all": len(plan.match_all),
            "bytes": plan.nbytes,
            "p_attributes": [
                {"sql": attribute.sql, "type": str(attribute.type), "spark": attribute.path is None}
                for attribute in plan.p_attributes
            ],
            "blocks": [
                {
                    "conjuncts": block.conjunct_count,
                    "sequence": [plan.p_attributes[block.slots[own]].sql for own in block.sequence],
                    "micro_arrows": int((block.arrows >= 0).sum()),
                }
                for block in plan.blocks
            ],
            "monitor": monitors[name].view() if name in monitors else None,
        }
        for name, plan in standing.plans().items()
    }


def explained(
    standing: StandingQueries,
    analysers: Mapping[str, StreamAnalyser],
    query: RegisteredQuery,
    tuple_: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The constructs a query uses and, where a tuple is given, its way through them.

    A field that the stream's schema does not name is left out, as it is of a record, with a warning; so is it said
    what the record's own attributes are taken for, where the query uses them.
    """
    from asc.evaluation.explain import explain

    plan = standing.plan_of(query)
    values = None
    warnings: list[str] = []
    if tuple_ is not None:
        known = standing.config.streams[query.stream].fields().arrow.names
        warnings = [f"field '{name}': not in the stream's schema, left out" for name in tuple_ if name not in known]
        warnings += _taken_for(standing.normalise(query.stream, query.where).p_attributes)
        text = json.dumps(tuple_, ensure_ascii=False).encode("utf-8", "replace")
        values = analysers[query.stream].tuple_values(text, plan.p_attributes)
    return {"query": query.plain(), "text": explain(plan, query.id, values), "warnings": warnings}


def _taken_for(attributes: Iterable[PAttribute]) -> Iterator[str]:
    """A warning for each of the record's own attributes that these use: there is no record."""
    used = {found.lower() for attribute in attributes for found in _OWN_ATTRIBUTE.findall(attribute.sql)}
    for name, value in _WITHOUT_A_RECORD.items():
        if name in used:
            yield f"'{name}' is followed as {value}: a tuple has no record around it"
