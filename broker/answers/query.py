"""The API's answers about registered queries."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from broker.answers.refusal import RefusedLine

Became = Literal["registered", "replaced", "unchanged"]
EffectiveOffsets = dict[str, int]
"""The first offset of each source partition that a change holds for."""


class Join(TypedDict):
    """The layer over which a query is a join; ``per_shape``: one output record for each record and shape."""

    layer: str
    per_shape: bool


class PlainQuery(TypedDict):
    """The fields of a query that can be set, and the version of its registration.

    ``operator``: the fields of its operator, by ``name``; None: accepted records are routed.
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

    ``served`` is false, with a ``reason``, where no plan can hold it. ``pending_shapes``: shapes that it names and no
    layer has. ``shapes`` and ``excluded_shapes``: of a join the shapes that its plan holds, and those that it excludes.
    ``delivered`` and ``evaluation_errors`` count records since the start of the daemon; in the answer to a change they
    are None and 0. ``kept``: what the daemon keeps for its operator; in a list, the figures of its columns.
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
    """A query that was registered, the version that holds it, and the first offsets that it sees."""

    query: Query
    change: Became
    previous: PreviousQuery | None
    version: int
    effective_offsets: EffectiveOffsets
    warnings: list[str]


class Removed(TypedDict):
    """The version without a query, and the first offsets that it does not see."""

    version: int
    effective_offsets: EffectiveOffsets


class Applied(TypedDict):
    """The queries that one step registered, replaced and removed.

    ``effective_offsets`` by stream, ``warnings`` by id; ``errors``: the refused lines, where the others were applied.
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
    """The first shapes that a join excludes, by id."""

    shapes: list[ExcludedShape]


class DeliveredMinute(TypedDict):
    """The records of one minute, by its first second since 1970."""

    at_s: int
    records: int


class Deliveries(TypedDict):
    """The records delivered to a query since the start of the daemon, and by minute of the last hour."""

    delivered: int
    minutes: list[DeliveredMinute]


class Load(TypedDict):
    """A change in progress: its queries, those read so far, and the last step that is done."""

    queries: int
    read: int
    last_step: str | None


class PartLoad(TypedDict):
    """A bulk load that comes in parts and is not made yet: its parts, and their bytes."""

    id: str
    parts: int
    bytes: int


class Loads(TypedDict):
    """The changes in progress."""

    loads: list[Load]
