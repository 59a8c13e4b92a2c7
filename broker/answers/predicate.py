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
    """The estimated size of a cube that is not registered. ``records``: the number of the stream's last records, from
    which the size is estimated. ``counted``: the number of these records that the cube would count.

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
    """A record that a predicate accepts. Its key and value are text, or ``key_base64`` and ``value_base64`` if they are
    not UTF-8. ``truncated``: whether the key or the value is shortened.
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
    """The result of a predicate on the last records of a stream: their number, the number of accepted records, and the
    latest accepted records.
    """

    records: int
    dead_letters: int
    accepted: int
    shown: list[TriedRecord]
