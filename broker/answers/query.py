"""The API's answers about registered queries."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from broker.answers.refusal import RefusedLine

Became = Literal["registered", "replaced", "unchanged"]
EffectiveOffsets = dict[str, int]
"""The first offset of each source partition for which a change is in force."""


class Join(TypedDict):
    """The layer over which a query is a join. ``per_shape``: whether there is one output record for each pair of a
    record and a shape.
    """

    layer: str
    per_shape: bool


class PlainQuery(TypedDict):
    """The fields of a query that can be set, and the version of its registration.

    ``operator``: the ``name`` and the fields of its operator; None if accepted records are routed to the topic.
    """

    id: str
    stream: str
    where: str
    topic: str
    labels: dict[str, str]
    paused: bool
    expires_at: str | None
    version: int
    join: Join | None
    operator: dict[str, object] | None


class Query(PlainQuery):
    """A registered query, and its state.

    ``served`` is false, with a ``reason``, if no plan can contain the query. ``pending_shapes``: the shapes that the
    query names but no layer has. ``shapes`` and ``excluded_shapes``: for a join, the numbers of shapes that its plan
    contains and that the join excludes. ``delivered`` and ``evaluation_errors`` count records since the start of the
    daemon; in the answer to a change they are None and 0. ``kept``: the state of its operator; in a list, only the
    figures of the list's columns.
    """

    served: bool
    reason: str | None
    pending_shapes: list[str]
    shapes: int | None
    excluded_shapes: int | None
    delivered: int | None
    evaluation_errors: int
    kept: dict[str, Any] | None


class PreviousQuery(TypedDict):
    """The query that a registration replaced."""

    stream: str
    where: str
    topic: str


class Registered(TypedDict):
    """A query that was registered, the version that contains it, and the first offsets from which it is in force."""

    query: Query
    change: Became
    previous: PreviousQuery | None
    version: int
    effective_offsets: EffectiveOffsets
    warnings: list[str]


class Removed(TypedDict):
    """The version without a removed query, and the first offsets from which the query is no longer in force."""

    version: int
    effective_offsets: EffectiveOffsets


class Applied(TypedDict):
    """The numbers of queries that one step registered, replaced and removed.

    ``effective_offsets`` is by stream, ``warnings`` by id. ``errors``: the refused lines, if the other lines were
    applied.
    """

    registered: int
    replaced: int
    unchanged: int
    removed: int
    version: int
    effective_offsets: dict[str, EffectiveOffsets]
    warnings: dict[str, list[str]]
    errors: list[RefusedLine]


class ExcludedShape(TypedDict):
    """A shape that a join excludes, and the reason."""

    id: str
    reason: str


class ExcludedShapes(TypedDict):
    """The shapes that a join excludes: only the first ones, ordered by id."""

    shapes: list[ExcludedShape]


class DeliveredMinute(TypedDict):
    """The number of records of one minute. ``at_s``: the start of the minute in seconds since 1970."""

    at_s: int
    records: int


class Deliveries(TypedDict):
    """The number of records delivered to a query since the start of the daemon, and for each minute of the
    last hour.
    """

    delivered: int
    minutes: list[DeliveredMinute]


class Load(TypedDict):
    """A change in progress: the number of its queries, the number read so far, and the last step that is done."""

    queries: int
    read: int
    last_step: str | None


class PartLoad(TypedDict):
    """A bulk load in parts that is not applied yet: the number of its parts, and their bytes."""

    id: str
    parts: int
    bytes: int


class Loads(TypedDict):
    """The changes of queries that are in progress."""

    loads: list[Load]
