"""The bodies of the HTTP API's requests and answers, and the form of errors in answers."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
)

from asc.errors import AscError, PredicateError, beginning
from asc.json_fault import json_fault
from broker.answers.predicate import AttributeOfPredicate, ConjunctTerm
from broker.answers.refusal import ErrorText, RefusedLine
from broker.body import Body, Text
from broker.errors import MissingStreamError, QueryError
from broker.operators.definition import Definition
from broker.operators.kept_state import KeptState
from broker.operators.kinds import definition_of, described, settable
from broker.operators.operator_body import OperatorBody, operators_of
from broker.operators.state_estimate import StateEstimate
from broker.plans.offsets import Offsets
from broker.queries.change import Became, Registered
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery, default_topic, parse_time
from broker.value_remedy import value_remedy

JSON_MAX_BYTES = 2 << 20
"""The most bytes of a request body, or of a line of a load, that are parsed as one JSON text.

The parsed objects may take twenty times as many bytes, and no other thread runs while they are created.
"""


_ADDED = (
    "version",
    "served",
    "reason",
    "pending_shapes",
    "shapes",
    "excluded_shapes",
    "delivered",
    "evaluation_errors",
    "kept",
)
"""The fields that a query has only in answers: no request can set them."""


class JoinBody(Body):
    """The layer over which a query is a join; ``per_shape``: an accepted record is written once for each shape."""

    layer: Text
    per_shape: StrictBool = False


def _judged_operator(plain: Any) -> Any:
    """Return the fields of an operator unchanged. Raise QueryError if they are no valid definition; the error names the
    value and the remedy.
    """
    if isinstance(plain, dict):
        definition_of(settable(plain))
    return plain


def _judged_operators(plain: Any) -> Any:
    """Validate the operator that the fields of a body define, or each operator if they contain lists of values. Return
    the fields unchanged.
    """
    for each in operators_of(plain) if isinstance(plain, dict) else ():
        definition_of(settable(each))
    return plain


AskedOperator = Annotated[OperatorBody | None, BeforeValidator(_judged_operator)]

AskedOperators = Annotated[OperatorBody | None, BeforeValidator(_judged_operators)]
"""The operator of a body, which may define several operators by lists of values."""


class QueryBody(Body):
    """A query to register.

    ``stream`` is by default the only one that is configured, ``topic`` ``asc.<id>``. With ``join`` its predicate names
    columns of a layer, and it represents a query a shape.
    """

    answered_too = _ADDED

    id: Text
    stream: Text | None = None
    where: Text
    topic: Text | None = None
    labels: dict[Text, Text] = Field(default_factory=dict)
    paused: StrictBool = False
    expires_at: Text | None = Field(default=None, description="ISO 8601 with an offset, as 2030-01-31T12:00:00Z")
    join: JoinBody | None = None
    operator: AskedOperator = None


class QueryChange(Body):
    """The changes of a query: the fields that are given; the others stay."""

    answered_too = _ADDED

    id: Text | None = None
    stream: Text | None = None
    where: Text | None = None
    topic: Text | None = None
    labels: dict[Text, Text] | None = None
    paused: StrictBool | None = None
    expires_at: Text | None = None
    join: JoinBody | None = None
    operator: AskedOperator = None


class CheckBody(Body):
    """A query to check without registering it: the body of one, of which its predicate, join and operator count.

    Lists of values in its operator, where its kind has such, stand for several queries: all are checked.
    """

    answered_too = ("id", "topic", "labels", "paused", "expires_at", *_ADDED)

    stream: Text | None = None
    where: Text
    join: JoinBody | None = None
    operator: AskedOperators = None


class CheckedModel(Body):
    """The normal form of a predicate, the ``expressions`` that the operator reads, and the warnings of a registration.

    For a join: the number of ``shapes`` of its layer, and the ``shape`` to which the normal form belongs. ``estimate``:
    the state that the query would have, if its kind estimates it. ``combinations``: the number of queries that the
    lists of values in the operator define, if there are several.
    """

    conjuncts: list[list[ConjunctTerm]]
    p_attributes: list[AttributeOfPredicate]
    match_all: bool
    contradiction: bool
    warnings: list[str]
    text: str
    expressions: list[AttributeOfPredicate]
    estimate: StateEstimate | None = None
    combinations: int | None = None
    shapes: int | None = None
    shape: str | None = None


class TrialBody(Body):
    """A predicate to try on the ``last`` records of a stream; ``show``: the most accepted ones in the answer."""

    stream: Text | None = None
    where: Text
    last: StrictInt = 10_000
    show: StrictInt = 0


class ExplainBody(Body):
    """A tuple to evaluate, as the JSON object a record would hold, or none.

    ``with_sequence``: with its path through the sequence, past the constructs of all other queries.
    """

    tuple: dict[str, Any] | None = None
    with_sequence: StrictBool = False


class TraceBody(Body):
    """A tuple or record to follow through a stream's plan.

    ``tuple``: the JSON object a record would hold. ``source``: a record, as ``<topic>-<partition>-<offset>``.
    ``query``: the id of a query whose verdict is explained. ``max_blocks``: the most blocks in which the path is shown
    in detail. ``max_ids``: the most ids at each place.
    """

    stream: Text | None = None
    tuple: dict[str, Any] | None = None
    source: Text | None = None
    query: Text | None = None
    max_blocks: StrictInt = Field(default=8, ge=0, le=16)
    max_ids: StrictInt = Field(default=10, ge=0, le=50)


class PlainQueryModel(Body):
    """The fields of a query that can be set, and the version of its registration."""

    id: str
    stream: str
    where: str
    topic: str
    labels: dict[str, str]
    paused: bool
    expires_at: str | None
    version: int
    join: JoinBody | None = None
    operator: OperatorBody | None = None


class QueryModel(PlainQueryModel):
    """A registered query; ``served`` is false, with a ``reason``, where no plan can hold it any more.

    ``pending_shapes``: shapes that it names, as ``layer/id``, and that their layers do not have: they are NULL in it.
    ``join``: the layer over which it is one. ``shapes``: the number of its shapes for which a plan holds a member.
    ``excluded_shapes``: the number of the others, which are refused with the values of their rows. Both are null of
    other queries, and in the answer to a change. ``delivered``: the records that it received since the daemon began;
    null in the answer to a change. ``evaluation_errors``: the records on which an expression of it could not be
    evaluated, since the daemon began. ``kept``: what the daemon keeps for its operator, if it keeps anything; a list
    of queries has the few figures of it that its columns show.
    """

    served: bool = True
    reason: str | None = None
    pending_shapes: list[str] = Field(default_factory=list)
    shapes: int | None = None
    excluded_shapes: int | None = None
    delivered: int | None = None
    evaluation_errors: int = 0
    kept: KeptState | None = None


class PreviousModel(Body):
    """The query of an id before it was replaced."""

    stream: str
    where: str
    topic: str


class RegisteredModel(Body):
    """A registered query, the version it is in, and the first offsets, by source partition, that it sees.

    ``change``: it is new, replaces another (``previous``), or was registered already as it is.
    """

    query: QueryModel
    change: Became
    previous: PreviousModel | None
    version: int
    effective_offsets: dict[str, int]
    warnings: list[str]


class ReadyModel(Body):
    """The readiness of the daemon, and the reason where it is not ready."""

    ready: bool
    reason: str | None


class ErrorModel(Body):
    """An answer that is no success; of a bulk load also the error of each refused line."""

    error: ErrorText
    errors: list[RefusedLine] | None = None


class RemovedModel(Body):
    """The version without the query, and the first offsets, by source partition, that it does not see."""

    version: int
    effective_offsets: dict[str, int]


class QueryPage(Body):
    """A page of the registered queries, by id; ``cursor`` asks for the next one."""

    queries: list[QueryModel]
    cursor: str | None


def asked_operator(body: OperatorBody | None) -> Definition | None:
    """Return the definition of the operator in a body. Return None for ``route`` and for no operator. Raise QueryError
    if it is invalid.
    """
    return None if body is None else definition_of(settable(body.model_dump(by_alias=True)))


def asked_operators(body: OperatorBody | None) -> list[Definition]:
    """Return the definitions that the operator in a body defines: several if the operator has lists of values. Raise
    QueryError if one is invalid.
    """
    plain = None if body is None else settable(body.model_dump(by_alias=True))
    found = [] if plain is None else [definition_of(each) for each in operators_of(plain)]
    return [definition for definition in found if definition is not None]


def new_query(body: QueryBody, stream: str) -> RegisteredQuery:
    """Return the query that a body defines, on the named stream. Raise QueryError if its time of expiry is invalid."""
    return RegisteredQuery(
        id=body.id,
        stream=stream,
        where=body.where,
        topic=default_topic(body.id) if body.topic is None else body.topic,
        labels=body.labels,
        paused=body.paused,
        expires_at=None if body.expires_at is None else parse_time(body.expires_at),
        join=None if body.join is None else Join(body.join.layer, body.join.per_shape),
        operator=asked_operator(body.operator),
    )


def changed_body(query: RegisteredQuery, change: Mapping[str, Any]) -> QueryBody:
    """Return the body of a standing query with the given fields changed. Raise QueryError for an invalid value of a
    field.
    """
    plain = query.plain()
    del plain["version"]
    return valid_body(QueryBody, {**plain, **change, "id": query.id})


_NEW: Mapping[str, Any] = MappingProxyType(
    {
        **{"served": True, "reason": None, "pending_shapes": [], "delivered": None, "evaluation_errors": 0},
        **{"shapes": None, "excluded_shapes": None, "kept": None},
    }
)
"""The fields that the daemon computes for an answer, with their values for a query that was just registered."""


def plain_query(query: RegisteredQuery) -> dict[str, Any]:
    """Return a query in the form of answers, with the computed fields of its operator."""
    return {**query.plain(), "operator": described(query.operator)}


def plain_registered(registered: Registered) -> dict[str, Any]:
    """Return the answer to a registration."""
    query, previous = registered.query, registered.previous
    return {
        "query": {**plain_query(query), **_NEW},
        "change": registered.became,
        "previous": None
        if previous is None
        else {"stream": previous.stream, "where": previous.where, "topic": previous.topic},
        "version": query.version,
        "effective_offsets": plain_offsets(registered.effective_offsets),
        "warnings": list(registered.warnings),
    }


def plain_offsets(offsets: Offsets) -> dict[str, int]:
    """Return offsets by partition. The partitions are texts, because JSON requires texts as keys."""
    return {str(partition): offset for partition, offset in sorted(offsets.items())}


def plain_error(error: AscError) -> dict[str, Any]:
    """Return an error in the form of the API's answers.

    >>> plain_error(QueryError("query id", "a b", "leave out the space"))["message"]
    "query id 'a b': leave out the space"
    """
    # Not every float is JSON.
    value = error.value if isinstance(error.value, (int, bool, type(None))) else beginning(str(error.value))
    return {
        "message": str(error),
        "subject": beginning(error.subject),
        "value": value,
        "remedy": error.remedy,
        "caret": (error.caret() or None) if isinstance(error, PredicateError) else None,
        "start": error.start if isinstance(error, PredicateError) else None,
        "streams": list(error.streams) if isinstance(error, MissingStreamError) else None,
    }


def plain_line(line: bytes) -> Any:
    """Return the parsed content of one line of a bulk load. Raise QueryError if it is too long or not JSON."""
    if len(line) > JSON_MAX_BYTES:
        raise QueryError("line", f"{len(line)} bytes", f"is too long for a query: {JSON_MAX_BYTES} bytes at most")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        shown = line[:100].rstrip(b"\r").decode("utf-8", "replace")
        raise QueryError("line", shown, f"is not JSON: {json_fault(error)}") from None


AnyBody = TypeVar("AnyBody", bound=BaseModel)

_TYPE = re.compile(r"(?:list|dict|tuple|nullable|function-[a-z]+)\[|constrained-")
"""A pattern of the names of types that pydantic inserts among the names of fields."""


def valid_body(form: type[AnyBody], plain: Any) -> AnyBody:
    """Return a body from parsed JSON. Raise QueryError if it is invalid."""
    try:
        return form.model_validate(plain)
    except ValidationError as error:
        raise body_error(*error.errors(include_url=False)) from None


def body_error(*details: Mapping[str, Any], meanings: Mapping[str, str] = MappingProxyType({})) -> QueryError:
    """Return the first error that pydantic found in a body, as an error of one line. ``meanings``: the descriptions of
    the parameters of the address, by name.
    """
    detail = details[0]
    location = ".".join(_name(part) for part in _fields(detail["loc"]))
    kind, message = detail["type"], str(detail["msg"]).removeprefix("Value error, ")
    if kind == "unknown_field":
        field, known = detail["ctx"]["field"], detail["ctx"]["known"]
        near = difflib.get_close_matches(field, known, n=1, cutoff=0.5)
        remedy = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
        return QueryError(f"unknown field of {location}" if location else "unknown field", field, remedy)
    if kind == "missing":
        meaning = meanings.get(location, "").removesuffix(".")
        remedy = f"give it in the address, {meaning[:1].lower()}{meaning[1:]}" if meaning else "give it"
        return QueryError("missing field", location or "body", remedy)
    if kind == "json_invalid":
        context = detail.get("ctx", {}).get("error", "")
        return QueryError("body", None, f"is not JSON: {context}")
    if kind in ("model_type", "model_attributes_type"):
        message = "give an object"  # pydantic's names a class
    message = value_remedy(detail) or message[:1].lower() + message[1:]
    value = detail.get("input")
    shown = value if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    shown = _encoded(shown) if isinstance(shown, str) else shown
    return QueryError(f"field {location}" if location else "body", shown, message)


def _fields(location: Sequence[str | int]) -> list[str]:
    """Return the names of fields on the path to a value.

    pydantic also lists the types that a field may have; these are omitted.
    """
    parts = [str(part) for part in location if part not in ("body", "query", "path")]
    return [part for part in parts if not _TYPE.match(part)]


def _name(text: str) -> str:
    """Return the name of a field, in a form that fits one line."""
    return (text if text.isprintable() else repr(text)[1:-1])[:100]


def _encoded(text: str) -> str:
    """Return a text in a form that an answer can contain: shortened, and without lone surrogates."""
    return text.encode("utf-8", "replace").decode()[:200]
