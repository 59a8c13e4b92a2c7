"""What the API shows of predicates, streams and plans: read-only views as plain values."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.predicate.normal_form import Predicate
from broker.errors import QueryError
from broker.http.flow import delivered, described_flow
from broker.http.permitted import Permitted
from broker.queries.query import RegisteredQuery
from broker.stream.stream import Stream

_WITHOUT_A_RECORD = {"_key": "NULL", "_partition": "0", "_offset": "0", "_timestamp": "NULL", "_headers": "NULL"}
"""What ``tuple_values`` has for the record's own attributes; ``_topic`` is what it would be."""

_TUPLE_BYTES = 1 << 20
"""The largest tuple that is explained."""

_UNKNOWN_TOLD = 20
"""Fields of a tuple, that no schema names, of which it is said what was meant."""

_OWN_ATTRIBUTE = re.compile(
    rf"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.`])`?({"|".join(_WITHOUT_A_RECORD)})(?!\w)""",
    re.IGNORECASE | re.DOTALL,
)
"""One of them in an expression, past the texts in it and the fields of structs."""


def checked(permitted: Permitted, stream: Stream, where: str) -> dict[str, Any]:
    """A predicate's normal form, judged as a registration would judge it; AscError where it would be refused."""
    from asc.predicate.describe import plain_form

    return plain_form(judged(permitted, stream, where))


def judged(permitted: Permitted, stream: Stream, where: str) -> Predicate:
    """A predicate that could be registered for the stream; AscError where it would be refused."""
    predicate = stream.analyser.normalise(where)
    permitted.check_columns(predicate)
    for refusals in (stream.analyser.misread([predicate]), stream.analyser.refusals(predicate.read)):
        for refusal in refusals.values():
            raise refusal
    return predicate


def shown(permitted: Permitted, query: RegisteredQuery) -> dict[str, Any]:
    """A standing query: whether a plan may hold it, the reason where none can, the records that it was given, and those
    that could not be evaluated.
    """
    reason = permitted.unserved(query)
    stream = permitted.streams().get(query.stream)
    errors = 0 if stream is None else stream.evaluation_errors.of(query.id, query.version)
    return {
        **query.plain(),
        "served": reason is None,
        "reason": reason,
        "delivered": delivered(permitted, query),
        "evaluation_errors": errors,
    }


def described_streams(permitted: Permitted) -> list[dict[str, Any]]:
    """The configured streams with the number of queries on each, and of those that no plan can hold."""
    return [
        _described_stream(name, stream, *permitted.counts(name)) for name, stream in sorted(permitted.streams().items())
    ]


def _described_stream(name: str, stream: Stream, queries: int, not_served: int) -> dict[str, Any]:
    return {
        "name": name,
        "topic": stream.config.topic,
        "format": stream.config.format,
        "schema": stream.fields.ddl(),
        "options": dict(stream.config.options),
        "time_zone": stream.time_zone,
        "dead_letter": stream.dead_letter_topic,
        "queries": queries,
        "not_served": not_served,
    }


def described_plans(permitted: Permitted) -> dict[str, Any]:
    """The running plan of every stream: its p-attributes, the sequence of each block, and what its monitor did. For one
    who does not see all queries of a stream, what tells of the others is left out.
    """
    described = described_plan if permitted.sees_whole_streams else _described_job
    return {name: described(stream) for name, stream in sorted(permitted.streams().items())}


def _described_job(stream: Stream, *, whole: bool = False) -> dict[str, Any]:
    """What is said of a stream whatever queries it has."""
    return {
        "flow": described_flow(stream, whole=whole),
        "version": stream.running.plan.version,
        "dead_letters": described_dead_letters(stream),
        "phases": stream.phases(),
    }


def described_plan(stream: Stream) -> dict[str, Any]:
    """The running plan of a stream, for one who sees all of its queries."""
    plan = stream.running.plan
    return {
        **_described_job(stream, whole=True),
        "queries": len(plan),
        "conjuncts": plan.conjunct_count,
        "match_all": len(plan.match_all),
        "bytes": plan.nbytes,
        "p_attributes": [
            {"sql": str(attribute), "type": str(attribute.type), "spark": attribute.is_computed}
            for attribute in plan.p_attributes
        ],
        "blocks": [
            {
                "conjuncts": block.conjunct_count,
                "sequence": [str(plan.p_attributes[block.slots[own]]) for own in block.sequence],
                "micro_arrows": block.order.arrow_count,
            }
            for block in plan.blocks
        ],
        "monitor": stream.monitor.view(),
        "evaluation_errors": stream.evaluation_errors.total,
    }


def described_dead_letters(stream: Stream) -> dict[str, Any]:
    """How many there were since the daemon began, and why."""
    counts = stream.dead_letters.counts()
    return {
        "total": sum(count for _, count in counts),
        "reasons": [{"reason": reason.kind, "column": reason.column, "count": count} for reason, count in counts],
    }


def explained(
    permitted: Permitted, query: RegisteredQuery, tuple_: Mapping[str, Any] | None, *, whole: bool = False
) -> dict[str, Any]:
    """The constructs a query uses or, where a tuple is given, whether it accepts that and which of its terms hold;
    both and the tuple's way with ``whole``.

    A field that the stream's schema does not name is left out, as it is of a record, with a warning; so is it said
    what the record's own attributes are taken for, where the query uses them. ForbiddenError where the sequence would
    name what queries compare that are not seen.
    """
    from asc.evaluation.explain import explain

    if tuple_ is None or whole:
        permitted.check_sees_whole_streams("sequence of constructs", "give a tuple, without whole")
    plan = permitted.plan_of(query)
    values = None
    warnings: list[str] = []
    if tuple_ is not None:
        stream = permitted.streams()[query.stream]
        known = stream.fields.arrow.names
        text = json.dumps(tuple_, ensure_ascii=False).encode("utf-8", "replace")
        if len(text) > _TUPLE_BYTES:
            raise QueryError("tuple", f"{len(text)} bytes", f"give one of {_TUPLE_BYTES} bytes at most")
        unknown = islice((name for name in tuple_ if name not in known), _UNKNOWN_TOLD)
        warnings = [f"field '{name}': {_unknown(name, known)}" for name in unknown]
        read = stream.analyser.normalise(query.where).read
        warnings += _taken_for(read)
        # Without the whole way, what other queries have Spark compute is not looked at.
        needed = [one for one in plan.p_attributes if whole or one in read]
        found_values = dict(zip(needed, stream.analyser.tuple_values(text, needed), strict=True))
        values = [found_values.get(one, pa.scalar(None, one.type)) for one in plan.p_attributes]
    found = explain(plan, query.id, values, whole=whole)
    return {"query": query.plain(), "accepted": found.accepted, "text": found.text, "warnings": warnings}


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"not in the stream's schema, left out{f': did you mean {near[0]!r}?' if near else ''}"


def _taken_for(attributes: Iterable[PAttribute]) -> Iterator[str]:
    """A warning for each of the record's own attributes that these use: there is no record."""
    used = {found.lower() for attribute in attributes for found in _OWN_ATTRIBUTE.findall(attribute.sql)}
    for name, value in _WITHOUT_A_RECORD.items():
        if name in used:
            yield f"'{name}' is followed as {value}: a tuple has no record around it"
