"""The JSON bodies of the HTTP API's requests and answers, including the body of an error."""

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

The parsed objects may take twenty times as many bytes of memory, and no other thread runs while JSON is parsed.
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
"""The fields that only answers have. A request may contain them, so that an answer can be sent back, but they are
ignored.
"""


class JoinBody(Body):
    """The join of a query: the ``layer`` with whose shapes records are compared. ``per_shape``: whether an accepted
    record is written once for each accepting shape, or once in total.
    """

    layer: Text
    per_shape: StrictBool = False


def _judged_operator(plain: Any) -> Any:
    """Return the fields of an operator unchanged, after their validation. Raise QueryError if they are no valid
    definition; the error names the value and the remedy.
    """
    if isinstance(plain, dict):
        definition_of(settable(plain))
    return plain


def _judged_operators(plain: Any) -> Any:
    """Validate the operator that the fields of a body define. If fields contain lists of values, validate the operator
    of each combination. Return the fields unchanged.
    """
    for each in operators_of(plain) if isinstance(plain, dict) else ():
        definition_of(settable(each))
    return plain


AskedOperator = Annotated[OperatorBody | None, BeforeValidator(_judged_operator)]

AskedOperators = Annotated[OperatorBody | None, BeforeValidator(_judged_operators)]
"""The operator of a request body. If its fields contain lists of values, it defines several operators."""


class QueryBody(Body):
    """A query to register.

    ``stream``: by default the only configured stream. ``topic``: the destination topic, by default ``asc.<id>``. With
    ``join``, the predicate also names columns of a layer, such as ``geometry``, and the daemon evaluates it for each
    shape of the layer.
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
    """A change of a registered query: it sets the fields in the body, and leaves all other fields unchanged."""

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
    """A query to validate without a registration. Only its stream, predicate, join and operator are used; other fields
    of a query are ignored.

    If the operator has lists of values, and its kind allows them, the operator of each combination of values is
    validated.
    """

    answered_too = ("id", "topic", "labels", "paused", "expires_at", *_ADDED)

    stream: Text | None = None
    where: Text
    join: JoinBody | None = None
    operator: AskedOperators = None


class CheckedModel(Body):
    """The normal form of a predicate, the ``expressions`` that the operator reads, and the warnings that a registration
    would give.

    For a join: the number of ``shapes`` of its layer, and the ``shape`` to which the normal form belongs. ``estimate``:
    the size of the state that the operator would have, if its kind estimates it. ``combinations``: the number of
    queries that the lists of values in the operator define, if there are several.
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
    """A predicate to evaluate on the ``last`` records of a stream. ``show``: the most accepted records that the answer
    contains.
    """

    stream: Text | None = None
    where: Text
    last: StrictInt = 10_000
    show: StrictInt = 0


class ExplainBody(Body):
    """The ``tuple`` on which a query is explained: a JSON object with the fields of a record. Null explains only the
    query's constructs.

    ``with_sequence``: whether the answer also has the path of the tuple through the sequence, including the constructs
    of all other queries.
    """

    tuple: dict[str, Any] | None = None
    with_sequence: StrictBool = False


class TraceBody(Body):
    """A tuple or a record to trace through the running plan of a stream.

    ``tuple``: a JSON object with the fields of a record. ``source``: a record of the source topic, as
    ``<topic>-<partition>-<offset>``. ``query``: the id of a query whose verdict is explained. ``max_blocks``: the most
    blocks for which the answer lists each construct. ``max_ids``: the most query ids in each list of the answer.
    """

    stream: Text | None = None
    tuple: dict[str, Any] | None = None
    source: Text | None = None
    query: Text | None = None
    max_blocks: StrictInt = Field(default=8, ge=0, le=16)
    max_ids: StrictInt = Field(default=10, ge=0, le=50)


class PlainQueryModel(Body):
    """The fields of a query that a request can set, and ``version``, the version of the registration."""

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
    """A registered query in an answer. ``served``: false if no plan can contain the query; ``reason`` then says why. A
    paused query without such a reason has true.

    ``pending_shapes``: the shapes, as ``layer/id``, that the predicate names and that their layers do not have; their
    value is NULL. ``join``: the layer, if the query is a join. ``shapes``: for a join, the number of shapes for which
    the plan contains a predicate. ``excluded_shapes``: the number of all other shapes of the layer, which the join
    refuses because of the values of their rows. Both are null for other queries, and in the answer to a change.
    ``delivered``: the number of records delivered to the query since the daemon started; null in the answer to a
    change. ``evaluation_errors``: the number of records since the daemon started on which an expression of the query
    failed. ``kept``: the state of the query's operator, or null without a state. In a list of queries, it has only a
    few figures of the state.
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
    """The query that a registration replaced, which had the same id."""

    stream: str
    where: str
    topic: str


class RegisteredModel(Body):
    """The answer to a registration: the query, the version from which on plans contain it, and its effective offset in
    each source partition.

    ``change``: whether the query is new, replaces another query (``previous``), or was registered already with equal
    fields.
    """

    query: QueryModel
    change: Became
    previous: PreviousModel | None
    version: int
    effective_offsets: dict[str, int]
    warnings: list[str]


class ReadyModel(Body):
    """The readiness of the daemon. ``reason``: why it is not ready; null if it is ready."""

    ready: bool
    reason: str | None


class ErrorModel(Body):
    """The answer to a refused or failed request. ``errors``: for a bulk load, the error of each refused line."""

    error: ErrorText
    errors: list[RefusedLine] | None = None


class RemovedModel(Body):
    """The answer to a removal: the first version without the query, and for each source partition the first offset
    whose record is not delivered for the query.
    """

    version: int
    effective_offsets: dict[str, int]


class QueryPage(Body):
    """A page of the registered queries, ordered by id. ``cursor``: the value of the parameter ``cursor`` that requests
    the next page; null on the last page.
    """

    queries: list[QueryModel]
    cursor: str | None


def asked_operator(body: OperatorBody | None) -> Definition | None:
    """Return the definition of the operator in a request body. Return None for a body without an operator, or with the
    operator ``route``. Raise QueryError if the definition is invalid.
    """
    return None if body is None else definition_of(settable(body.model_dump(by_alias=True)))


def asked_operators(body: OperatorBody | None) -> list[Definition]:
    """Return the definitions that the operator of a request body defines: several if its fields contain lists of
    values, none without an operator. Raise QueryError if one is invalid.
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
    """Return the body of a standing query after a change of the fields in ``change``. Raise QueryError for an invalid
    value of a field.
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
    """Return a query as the JSON object of an answer. Its operator includes fields that the daemon computes from the
    definition.
    """
    return {**query.plain(), "operator": described(query.operator)}


def plain_registered(registered: Registered) -> dict[str, Any]:
    """Return the API's answer to a registration of one query."""
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
    # Floats are sent as text, because NaN and infinities are not JSON.
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
    """Return the parsed content of one line of a bulk load. Raise QueryError if the line is too long or not JSON."""
    if len(line) > JSON_MAX_BYTES:
        raise QueryError("line", f"{len(line)} bytes", f"is too long for a query: {JSON_MAX_BYTES} bytes at most")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        shown = line[:100].rstrip(b"\r").decode("utf-8", "replace")
        raise QueryError("line", shown, f"is not JSON: {json_fault(error)}") from None


AnyBody = TypeVar("AnyBody", bound=BaseModel)

_TYPE = re.compile(r"(?:list|dict|tuple|nullable|function-[a-z]+)\[|constrained-")
"""A pattern of the names of types that pydantic inserts among the names of fields in the path to an invalid value."""


def valid_body(form: type[AnyBody], plain: Any) -> AnyBody:
    """Return the body of the model ``form`` for parsed JSON. Raise QueryError if the JSON does not fit the model."""
    try:
        return form.model_validate(plain)
    except ValidationError as error:
        raise body_error(*error.errors(include_url=False)) from None


def body_error(*details: Mapping[str, Any], meanings: Mapping[str, str] = MappingProxyType({})) -> QueryError:
    """Return the first error that pydantic reports for a body, as a QueryError with one line. ``details``: the errors
    of pydantic. ``meanings``: the descriptions of the URL's parameters, by name.
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
    """Return the names of the fields on the path to an invalid value.

    ``location``: pydantic's path, which also contains names of types; these are omitted.
    """
    parts = [str(part) for part in location if part not in ("body", "query", "path")]
    return [part for part in parts if not _TYPE.match(part)]


def _name(text: str) -> str:
    """Return the name of a field for a message of one line: with escapes for unprintable characters, and at most 100
    characters long.
    """
    return (text if text.isprintable() else repr(text)[1:-1])[:100]


def _encoded(text: str) -> str:
    """Return a text that a JSON answer can contain: at most 200 characters, with a question mark in place of each lone
    surrogate.
    """
    return text.encode("utf-8", "replace").decode()[:200]
