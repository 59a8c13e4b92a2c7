"""Traces: the path of a tuple, or of a record of a source topic, through the running plan to the queries that accept
it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan
from broker.errors import QueryError
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.http.models import TraceBody, plain_query
from broker.http.scoped_service import ScopedService
from broker.http.shape_names import shape_names, with_shape_names
from broker.http.tuples import failure_warnings, in_slots, tuple_text, tuple_warnings
from broker.kafka.source_record import Place, SourceRecord
from broker.matching.plan_ids import join_shapes_in
from broker.queries.query import RegisteredQuery
from broker.queries.validated_query import plan_id_of
from broker.stream.stream import Stream

_READ_WITHIN_S = 10.0
_RECORD_BYTES = 4 << 20
"""The most bytes of a source record that can be traced."""

_SHOWN_BYTES = 16 << 10
"""The most bytes of a record's key or value in an answer."""

_HEADERS_SHOWN = 50


def traced_record(permitted: ScopedService, body: TraceBody) -> dict[str, Any]:
    """Return the path of a tuple or a source record through the running plan, and the verdict of one query, term by
    term.

    A caller that does not see whole streams, or may not read whole records, gets only the verdict of one query that it
    sees. The verdict then names only columns that the caller may name. Raise ForbiddenError if such a caller requests
    more. Raise QueryError, NotThereError and KafkaError for a record that cannot be read.
    """
    if (body.tuple is None) == (body.source is None):
        raise QueryError("trace", None, "give a tuple or a source, one of the two")
    place = None if body.source is None else Place.of(body.source)
    is_whole = permitted.sees_whole_streams and (place is None or permitted.reads_whole_records)
    if body.query is None:
        remedy = "name a query to see its verdict"
        permitted.check_sees_whole_streams("way through a plan", remedy)
        if place is not None:
            permitted.check_sees_records("records", remedy)
    query, shape_id = (None, None) if body.query is None else permitted.planned(body.query)
    stream = _stream(permitted, body, query, place)
    plan = stream.running.plan if query is None else permitted.plan_of(query)
    needed = _needed(permitted, stream, plan, query, shape_id=shape_id, place=place, is_whole=is_whole)
    record, tuple_, warnings = None, None, []
    if place is not None:
        record = stream.record_at(place, timeout_s=_READ_WITHIN_S, most_bytes=_RECORD_BYTES)
        evaluated = stream.analyser.record_values(record, needed)
        warnings.append(_when(stream, plan, place))
    else:
        text = tuple_text(body.tuple or {})
        # Parse the encoded text again, because it has no lone surrogates, which neither records nor answers can
        # contain.
        tuple_ = json.loads(text)
        warnings += tuple_warnings(stream, tuple_, needed)
        evaluated = stream.analyser.tuple_values(text, needed)
    reason = evaluated.reason
    answer = {
        "stream": stream.name,
        "version": plan.version,
        "source": body.source,
        "record": _shown(record) if record is not None and permitted.reads_whole_records else None,
        "tuple": tuple_,
        "query": None if query is None else plain_query(query),
        "dead_letter": None if reason is None else _reason_fields(reason, stream, whole=permitted.reads_whole_records),
        "verdict": None,
        "trace": None,
        "warnings": warnings,
    }
    if reason is not None:
        # A dead letter is not traced, because its values are undefined.
        return answer
    warnings += failure_warnings(evaluated.failed)
    plan_id = None if query is None else plan_id_of(query, shape_id)
    answer.update(_followed(plan, needed, evaluated.values, body, plan_id=plan_id, is_whole=is_whole))
    if query is None:
        return answer
    predicate = permitted.predicate_of(query, stream, shape_id)
    names = shape_names(predicate, permitted.shapes, query.join, shape_id)
    return {**answer, **{part: with_shape_names(answer[part], names) for part in ("verdict", "trace")}}


def _stream(permitted: ScopedService, body: TraceBody, query: RegisteredQuery | None, place: Place | None) -> Stream:
    """Return the stream to trace in: the stream that the body names, otherwise the stream of the query or of the source
    record. Raise QueryError if these belong to different streams.
    """
    name = body.stream
    if query is not None:
        if name not in (None, query.stream):
            raise QueryError("query", query.id, f"is of stream '{query.stream}', not of '{name}': leave out stream")
        permitted.plan_of(query)
        name = query.stream
    if name is None and place is not None:
        streams = permitted.streams()
        name = next(
            (own for own, one in streams.items() if place.topic in (one.config.topic, one.dead_letter_topic)), None
        )
        if name is None and len(streams) > 1:
            topics = ", ".join(sorted(one.config.topic for one in streams.values()))
            raise QueryError("source", str(place), f"is of no stream: they read {topics[:200]}: name a record of one")
    stream = permitted.stream_of(name)
    if place is not None and place.topic == stream.dead_letter_topic:
        remedy = "is a dead letter: name the record that it came from, which its header asc-source has"
        raise QueryError("source", str(place), remedy)
    if place is not None and place.topic != stream.config.topic:
        remedy = f"is not of stream '{stream.name}', which reads '{stream.config.topic}': name a record of that topic"
        raise QueryError("source", str(place), remedy)
    return stream


def _needed(
    permitted: ScopedService,
    stream: Stream,
    plan: Plan,
    query: RegisteredQuery | None,
    *,
    shape_id: str | None,
    place: Place | None,
    is_whole: bool,
) -> Sequence[PAttribute]:
    """Return the p-attributes of the plan whose values the trace needs: all of them for a whole path, otherwise those
    of the query's predicate. Raise ForbiddenError for a column that the caller may not read.

    ``place``: the topic, partition and offset of the source record; None for a tuple. ``is_whole``: whether the answer
    has the whole path.
    """
    if is_whole or query is None:
        return plan.p_attributes
    predicate = permitted.predicate_of(query, stream, shape_id)
    if place is not None:
        permitted.check_columns(predicate)
    return [one for one in plan.p_attributes if one in predicate.read]


def _followed(
    plan: Plan,
    needed: Sequence[PAttribute],
    values: Sequence[Any],
    body: TraceBody,
    *,
    plan_id: str | None,
    is_whole: bool,
) -> dict[str, Any]:
    from asc.evaluation.trace import plain
    from asc.evaluation.trace_walk import traced
    from asc.evaluation.verdict import judged

    in_order = in_slots(plan, needed, values)
    if not is_whole:
        keys = {one: one.key_of(value) for one, value in zip(plan.p_attributes, in_order, strict=True)}
        return {"verdict": plain(judged(plan, str(plan_id), keys))}
    found = dict(plain(traced(plan, in_order, query_id=plan_id, blocks=body.max_blocks, listed=body.max_ids)))
    return {"verdict": found.pop("verdict"), "trace": {**found, "join_shapes": join_shapes_in(plan)}}


def _when(stream: Stream, plan: Plan, place: Place) -> str:
    """Return a warning that the plan of the trace may differ from the plan that evaluated, or will evaluate, the record
    in its batch.
    """
    following = f"it is followed through version {plan.version}, which runs now"
    if place.offset < stream.running.effective_offsets().get(place.partition, 0):
        return f"{place} was read before, and judged by the plan of then: {following}"
    return f"{place} is not read yet, and will be judged by the plan of then: {following}"


def _reason_fields(reason: DeadLetterReason, stream: Stream, *, whole: bool) -> dict[str, Any]:
    """Return the reason of a dead letter in the form of an answer. Without ``whole``, return only the kind of the
    reason, because the caller may not read all columns.
    """
    return {
        "topic": stream.dead_letter_topic,
        "reason": reason.text if whole else reason.kind,
        "column": reason.column if whole else None,
    }


def _shown(record: SourceRecord) -> dict[str, Any]:
    """Return a source record in the form of an answer. Long keys, values and headers are shortened."""
    return {
        "topic": record.place.topic,
        "partition": record.place.partition,
        "offset": record.place.offset,
        "timestamp_ms": record.timestamp_ms,
        "size_bytes": record.size_bytes,
        "key": _part(record.key),
        "value": _part(record.value),
        "headers": [{"name": name[:200], **_part(value)} for name, value in record.headers[:_HEADERS_SHOWN]],
        "header_count": len(record.headers),
    }


def _part(content: bytes | None) -> dict[str, Any]:
    """Return bytes as text, or in base64 if they are not UTF-8. ``truncated`` is true if they are shortened."""
    if content is None:
        return {"text": None, "truncated": False}
    shown, is_cut = content[:_SHOWN_BYTES], len(content) > _SHOWN_BYTES
    try:
        content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(shown).decode(), "truncated": is_cut}
    # The limit may divide a character; its first bytes are ignored.
    return {"text": shown.decode("utf-8", "ignore"), "truncated": is_cut}
