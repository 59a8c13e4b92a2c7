"""The API's answers about predicates that are not registered: checked, and tried on records."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class ConjunctTerm(TypedDict):
    """A constraint of a conjunct, and the p-attribute that it constrains."""

    attribute: str
    constraint: str


class AttributeOfPredicate(TypedDict):
    """An expression that a predicate reads; ``spark``: Spark computes it."""

    sql: str
    type: str
    spark: bool


class StateEstimate(TypedDict):
    """The size that a cube would have, by the last ``records`` of its stream, of which it would count ``counted``.

    ``undecodable``: dead letters among them. ``cuboids`` depends on no record. All other figures are null where nothing
    is known, and ``reason`` says why.
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

    For a join: the number of ``shapes`` of its layer, and the ``shape`` whose normal form it is. ``estimate``: of a
    cube, the size that it would have. ``combinations``: the number of queries that the lists of values in its operator
    stand for, where these are several.
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
    """A record; key and value as text, or as base64 under the other name, and shortened where ``truncated``."""

    partition: int
    offset: int
    timestamp_ms: int
    key: NotRequired[str | None]
    key_base64: NotRequired[str]
    value: NotRequired[str | None]
    value_base64: NotRequired[str]
    truncated: bool


class Trial(TypedDict):
    """The last records of a stream, those of them that a predicate accepts, and the latest of these."""

    records: int
    dead_letters: int
    accepted: int
    shown: list[TriedRecord]
