"""The API's answers about predicates that are not registered: checks, and trials on records."""

from __future__ import annotations

from typing import Any

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


class CheckedPredicate(TypedDict):
    """The normal form of a predicate, the ``expressions`` that the operator reads, and the warnings of a registration.

    For a join: the number of ``shapes`` of its layer, and the ``shape`` to which the normal form belongs. ``estimate``:
    the state that the query would have, if its kind estimates it, with the ``name`` of the operator, the figures of the
    kind, and a ``text`` of one line. ``combinations``: the number of queries that the lists of values in the operator
    define, if there are several.
    """

    conjuncts: list[list[ConjunctTerm]]
    p_attributes: list[AttributeOfPredicate]
    match_all: bool
    contradiction: bool
    warnings: list[str]
    text: str
    expressions: list[AttributeOfPredicate]
    estimate: NotRequired[dict[str, Any]]
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
