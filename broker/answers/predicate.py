"""The API's answers about predicates that are not registered: checks, and trials on records."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class ConjunctTerm(TypedDict):
    """A constraint of a conjunct, and the p-attribute that it constrains."""

    attribute: str
    constraint: str


class AttributeOfPredicate(TypedDict):
    """An expression that a predicate reads. ``spark``: whether Spark computes it."""

    sql: str
    type: str
    spark: bool


class StateEstimate(TypedDict):
    """The size that a cube would have, estimated from the last ``records`` of its stream, of which the cube would count
    ``counted``.

    ``undecodable``: the number of dead letters among these records. ``cuboids`` does not depend on the records. All
    other figures are null if they are not known, and ``reason`` is the cause.
    """

    cuboids: int
    records: int | None
    undecodable: int | None
    counted: int | None
    panes: int | None
    cells: int | None
    bytes: int | None
    cells_a_pane: float | None
    bytes_a_cell: float | None
    records_a_cell: float | None
    reason: str | None


class CheckedPredicate(TypedDict):
    """The normal form of a predicate, the ``expressions`` that the operator reads, and the warnings of a registration.

    For a join: the number of ``shapes`` of its layer, and the ``shape`` to which the normal form belongs. ``estimate``:
    the size that a cube would have. ``combinations``: the number of queries that the lists of values in the operator
    define, if there are several.
    """

    conjuncts: list[list[ConjunctTerm]]
    p_attributes: list[AttributeOfPredicate]
    match_all: bool
    contradiction: bool
    warnings: list[str]
    text: str
    expressions: list[AttributeOfPredicate]
    estimate: NotRequired[StateEstimate]
    combinations: NotRequired[int]
    shapes: NotRequired[int]
    shape: NotRequired[str | None]


class TriedRecord(TypedDict):
    """A record, with key and value as text, or as base64 under another name. ``truncated``: whether they
    are shortened.
    """

    partition: int
    offset: int
    timestamp_ms: int
    key: NotRequired[str | None]
    key_base64: NotRequired[str]
    value: NotRequired[str | None]
    value_base64: NotRequired[str]
    truncated: bool


class Trial(TypedDict):
    """The last records of a stream: their number, the number that a predicate accepts, and the latest accepted ones."""

    records: int
    dead_letters: int
    accepted: int
    shown: list[TriedRecord]
