"""Read-only descriptions of predicates, streams and plans in the API, as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

from asc.errors import AscError
from asc.keys.attribute import PAttribute
from asc.plan.block import Block
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.cancellation import Cancellation
from broker.errors import QueryError
from broker.http.completion import completed_by_sample
from broker.http.estimates import estimate_of
from broker.http.models import plain_query
from broker.http.scoped_service import ScopedService
from broker.http.shape_names import shape_names, with_shape_names
from broker.http.stream_rates import delivered, described_delivered, described_flow, described_operators
from broker.http.tuples import failure_warnings, in_slots, tuple_text, tuple_warnings
from broker.operators.definition import Definition
from broker.operators.expression import NO_EXPRESSIONS, OperatorExpressions
from broker.operators.kept_state import kept_state
from broker.operators.kinds import kind_of
from broker.queries.operator_limits import check_alone
from broker.queries.query import RegisteredQuery
from broker.queries.validated_query import Members, of_shape, plan_id_of
from broker.stream.stream import Stream

_SHAPES_CHECKED = 1_000
_EXPRESSIONS_CHECKED = 400


def checked(
    permitted: ScopedService, stream: Stream, where: str, layer: str | None = None, operators: Sequence[Definition] = ()
) -> dict[str, Any]:
    """Return the normal form of a predicate, after the same validation as at a registration. Raise AscError if a
    registration would refuse the predicate.

    For a join over a ``layer``, return the normal form for the first shape of the layer; at most a thousand shapes are
    validated. ``operators``: the operators of the query to check; several if lists of values define several queries,
    which all read the same expressions. With an operator, the result has its expressions, and for kinds with the
    handoff ``fold`` an estimate of the size of its state.
    """
    from asc.predicate.normal_form.describe import plain_form

    expressions, operator = NO_EXPRESSIONS, next(iter(operators), None)
    if operator is not None:
        expressions = _read_by(permitted, stream, operator, is_join=layer is not None)
        check_alone(permitted.limits, operators)
    if layer is not None:
        return expressions.beside(_join(permitted, stream, where, layer))
    predicate = judged(permitted, stream, where)
    form = plain_form(predicate)
    if len(operators) > 1:
        form = {**form, "combinations": len(operators)}
    if operator is not None:
        completed = completed_by_sample(permitted, stream, where, operator)
        if completed is not operator:
            # The parameters computed from the sample may add warnings.
            operator, expressions = completed, kind_of(completed).read(completed, stream.analyser)
        estimate = estimate_of(permitted, stream, predicate, operator, expressions)
        if estimate is not None:
            form = {**form, "estimate": estimate.body.model_dump()}
            expressions = replace(expressions, warnings=(*expressions.warnings, *estimate.warnings))
    return expressions.beside(form)


def _read_by(permitted: ScopedService, stream: Stream, operator: Definition, *, is_join: bool) -> OperatorExpressions:
    """Return the expressions that an operator reads from a record. Raise AscError if a registration would refuse the
    operator.
    """
    kind = kind_of(operator)
    if is_join and not kind.allows_join:
        raise QueryError("operator", operator.name, "is not for joins: leave out join")
    expressions = kind.read(operator, stream.analyser)
    for predicate in expressions.all:
        permitted.check_columns(predicate)
        _raise_refusals(stream, predicate, predicate.read, permitted.cancellation)
    return expressions


def _join(permitted: ScopedService, stream: Stream, where: str, layer: str) -> dict[str, Any]:
    from asc.predicate.normal_form.describe import plain_form

    join = stream.analyser.join(where, layer, permitted.shapes)
    permitted.check_columns(join.template)
    rows = permitted.shapes[layer].features
    join.check_effort(rows)
    checked = dict(islice(rows.items(), _SHAPES_CHECKED))
    members = Members.of(join, checked, permitted.cancellation, is_bounded=True)
    for refused_id, error in members.refused.items():
        raise of_shape(error, layer, refused_id)
    read = dict.fromkeys([*join.template.read, *members.computed])
    _raise_refusals(stream, join.template, islice(read, _EXPRESSIONS_CHECKED), permitted.cancellation)
    shape_id, own = next(iter(members.predicates.items()), (None, join.template))
    found = plain_form(replace(own, warnings=join.template.warnings))
    what = "for no shape yet; a made-up one"
    if shape_id is not None:
        what = _of_shapes(len(rows), shape_id)
    return {**found, "text": f"{what} {found['text']}", "shapes": len(rows), "shape": shape_id}


def _of_shapes(count: int, shape_id: str) -> str:
    """Return the beginning of a text about a join: the number of its layer's shapes, and the shape whose predicate the
    text describes.

    >>> _of_shapes(1, "NO"), _of_shapes(1_200, "NO")
    ("for the one shape 'NO'", "for 1,200 shapes, of which 'NO'")
    """
    return f"for the one shape '{shape_id}'" if count == 1 else f"for {count:,} shapes, of which '{shape_id}'"


def judged(permitted: ScopedService, stream: Stream, where: str) -> Predicate:
    """Return the predicate that the text ``where`` means on a stream. Raise AscError if a registration would refuse the
    predicate.
    """
    predicate = stream.analyser.normalise(where, permitted.shapes)
    permitted.check_columns(predicate)
    _raise_refusals(stream, predicate, predicate.read, permitted.cancellation)
    return predicate


def _raise_refusals(
    stream: Stream, predicate: Predicate, read: Iterable[PAttribute], cancellation: Cancellation
) -> None:
    """Raise the first error of Spark about a predicate, or about the p-attributes that it reads."""
    analyser = stream.analyser
    misread = analyser.misread([predicate], cancellation=cancellation)
    for refusals in (misread, analyser.refusals(read, cancellation=cancellation)):
        for refusal in refusals.values():
            raise refusal


def shown(permitted: ScopedService, query: RegisteredQuery, *, is_brief: bool = False) -> dict[str, Any]:
    """Return a standing query in the form of an answer.

    Besides the query's fields, the answer says whether a plan can contain the query, and the reason if not. It also has
    the numbers of the query's delivered records and evaluation errors, and the state of its operator. With
    ``is_brief``, the state has only the figures that a list shows.
    """
    reason = permitted.unserved(query)
    stream = permitted.streams().get(query.stream)
    errors = 0 if stream is None else stream.evaluation_errors.of(query.id, query.version)
    shapes, excluded_shapes = permitted.shape_counts(query)
    return {
        **plain_query(query),
        "served": reason is None,
        "reason": reason,
        "pending_shapes": permitted.pending_shapes(query),
        "shapes": shapes,
        "excluded_shapes": excluded_shapes,
        "delivered": delivered(permitted, query),
        "evaluation_errors": errors,
        "kept": _kept(permitted, query, is_brief=is_brief),
    }


def _kept(permitted: ScopedService, query: RegisteredQuery, *, is_brief: bool) -> dict[str, Any] | None:
    """Return the state of a query's operator. For a caller that may not name all columns of the query, the state has
    only its figures. Return None if there is no state.
    """
    stream = permitted.streams().get(query.stream)
    if query.operator is None or stream is None:
        return None
    op = query.operator.name
    if op in stream.feed_queries:
        # The figures of an operator reveal no column, so every caller may see them. A paused query has no figures,
        # because its state is discarded.
        figures = None if query.paused else stream.feed_queries[op].latest(query.id)
        return None if figures is None else kept_state(op, figures)
    if op not in stream.folders:
        return None
    if not is_brief:
        try:
            permitted.check_reads(query)
        except AscError:
            is_brief = True
    folder = stream.folders[op]
    found = folder.kept(query.id, query.where, query.operator, is_brief=is_brief)
    return None if found is None else kept_state(op, found)


def described_streams(permitted: ScopedService) -> list[dict[str, Any]]:
    """Return the visible streams, each with its configuration, the number of its queries, and the number of these that
    no plan can contain.
    """
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
        "dead_letter_topic": stream.dead_letter_topic,
        "queries": queries,
        "not_served": not_served,
    }


def described_plans(permitted: ScopedService) -> dict[str, Any]:
    """Return the running plan of every stream: p-attributes, the sequence of each block, and the monitor's figures.

    For a caller that does not see all queries of the streams, only facts that do not depend on queries are returned.
    """
    described = described_plan if permitted.sees_whole_streams else _described_job
    return {name: described(stream) for name, stream in sorted(permitted.streams().items())}


def _described_job(stream: Stream, *, whole: bool = False) -> dict[str, Any]:
    """Return the facts about a stream that do not depend on its queries. ``whole``: whether its rates also include
    those that depend on queries.
    """
    return {
        "flow": described_flow(stream, whole=whole),
        "version": stream.running.plan.version,
        "dead_letters": described_dead_letters(stream),
        "phases": stream.phases(),
    }


def described_plan(stream: Stream) -> dict[str, Any]:
    """Return the running plan of a stream, for a caller that sees all of its queries."""
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
        "listed_by_position": [
            {
                "position": str(block.listed),
                "conjuncts": len(block),
                "shapes": block.under,
                "bytes": block.nbytes,
            }
            for block in plan.listed
            if block.by_shapes
        ],
        "listed_by_value": [
            {
                "attribute": str(block.listed),
                "conjuncts": len(block),
                "values": block.under,
                "bytes": block.nbytes,
            }
            for block in plan.listed
            if not block.by_shapes
        ],
        "monitor": {**stream.monitor.view(), "blocks": [_figures(stream, block) for block in plan.blocks]},
        "delivered": described_delivered(stream),
        "operators": described_operators(stream),
        "evaluation_errors": stream.evaluation_errors.total,
    }


def _figures(stream: Stream, block: Block) -> dict[str, Any] | None:
    """Return the dropping ratio and the cost of a block, as the monitor measured them. Return None if the measurements
    belong to the previous plan.
    """
    found = stream.monitor.measured(block)
    return None if found is None else {name: found[name] for name in ("dropping_ratio", "cost")}


def described_dead_letters(stream: Stream) -> dict[str, Any]:
    """Return the number of dead letters since the daemon began, in total and by reason."""
    counts = stream.dead_letters.counts()
    return {
        "total": sum(count for _, count in counts),
        "reasons": [{"reason": reason.kind, "column": reason.column, "count": count} for reason, count in counts],
    }


def explained(
    permitted: ScopedService, query_id: str, tuple_: Mapping[str, Any] | None, *, whole: bool = False
) -> dict[str, Any]:
    """Return the constructs that a query uses or, for a tuple, whether the query accepts it and which of its terms
    hold.

    With ``whole``, return the constructs, the verdict, and the path of the tuple through the sequence. A field that the
    stream's schema does not have is ignored, with a warning. There are also warnings about the values assumed for
    attributes such as ``_offset``, if the query uses them. Raise ForbiddenError if the sequence would reveal queries
    that the caller does not see. A join is explained for one of its shapes: the id ``over/CHE`` means the shape ``CHE``
    of the join ``over``.
    """
    from asc.evaluation.explain import explain

    query, shape_id = permitted.planned(query_id)
    if tuple_ is None or whole:
        permitted.check_sees_whole_streams("sequence of constructs", "give a tuple, without with_sequence")
    plan = permitted.plan_of(query)
    stream = permitted.streams()[query.stream]
    predicate = permitted.predicate_of(query, stream, shape_id)
    values = None
    waited = [] if shape_id is not None else permitted.pending_shapes(query)
    missing = [f"waits for {', '.join(waited)}, not in the layer: NULL until it is put"] if waited else []
    warnings: list[str] = []
    if tuple_ is not None:
        text = tuple_text(tuple_)
        read = predicate.read
        warnings = tuple_warnings(stream, json.loads(text), read)
        # If the whole path is not requested, the expressions of other queries are not computed.
        needed = [one for one in plan.p_attributes if whole or one in read]
        own = stream.analyser.tuple_values(text, needed)
        values = in_slots(plan, needed, own.values)
        warnings += failure_warnings(own.failed)
    found = explain(plan, plan_id_of(query, shape_id), values, whole=whole)
    names = shape_names(predicate, permitted.shapes, query.join, shape_id)
    shown = with_shape_names(asdict(found), names)
    return {"query": plain_query(query), "version": plan.version, **shown, "warnings": missing + warnings}
