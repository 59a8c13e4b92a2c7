"""The API's answers to two requests: the trace of a record through a plan, and the explanation of one query."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from broker.answers.query import PlainQuery

EliminatedBy = Literal["patterns", "construct", "verification"]


class JudgedTerm(TypedDict):
    """A constraint of a conjunct, the tuple's value of the constrained p-attribute, and whether the value satisfies the
    constraint (``holds``).
    """

    constraint: str
    value: str
    holds: bool


class JudgedConjunct(TypedDict):
    """A conjunct of a query: its terms, whether the tuple satisfies it (``holds``), and the step of the evaluation that
    eliminated it.
    """

    holds: bool
    terms: list[JudgedTerm]
    eliminated_by: EliminatedBy | None
    eliminated_at: int | None


class Verdict(TypedDict):
    """The decision whether one query accepts a tuple, and the reason."""

    query: str
    accepted: bool
    reason: str
    conjuncts: list[JudgedConjunct]
    block: int | None


class EliminatedConjunct(TypedDict):
    """An eliminated conjunct: its number in its query, counted from 1, and a term that fails."""

    query: str
    number: int
    term: str


class Eliminations(TypedDict):
    """The number of conjuncts that one step of the evaluation eliminated, and the number of queries for which no
    conjunct is possible any more after this step.
    """

    conjuncts: int
    queries: int
    examples: list[EliminatedConjunct]


class Visit(TypedDict):
    """A construct that the tuple visited: the region of the tuple's value, and the numbers of possible conjuncts before
    and after the visit.
    """

    attribute: str
    value: str
    region: int
    region_text: str
    regions: int
    is_null: bool
    exact: bool
    by_arrow: bool
    before: int
    after: int
    eliminated: Eliminations


class Remaining(TypedDict):
    """The queries that still have a possible conjunct: their number, and the ids of the first ones."""

    queries: int
    query_ids: list[str]


class BlockTrace(TypedDict):
    """The path of a tuple through one block."""

    number: int
    conjuncts: int
    sequence: list[str]
    initial_conjuncts: int
    patterns: Eliminations
    visits: list[Visit]
    remaining: Remaining
    verification: Eliminations
    satisfied_conjuncts: int
    matching_queries: int
    dropped: bool


class PlanTrace(TypedDict):
    """The path of a tuple through a plan, and the queries that accept it.

    ``queries``: the entries of the plan, among them ``join_shapes`` entries for the shapes of joins.
    """

    version: int
    queries: int
    join_shapes: int
    conjuncts: int
    accepted_count: int
    accepted: list[str]
    match_all: int
    evaluated: int
    blocks: int
    dropped_blocks: int
    blocks_shown: list[BlockTrace]


class RecordPart(TypedDict):
    """A key or a value: as text, or as base64 if it is not UTF-8. ``truncated``: whether it is shortened."""

    text: NotRequired[str | None]
    base64: NotRequired[str]
    truncated: bool


class HeaderPart(RecordPart):
    """A header of a record."""

    name: str


class TracedRecord(TypedDict):
    """A record of a source topic."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    size_bytes: int
    key: RecordPart
    value: RecordPart
    headers: list[HeaderPart]
    header_count: int


class DeadLetter(TypedDict):
    """The reason why a record is a dead letter, and the topic of dead letters."""

    topic: str
    reason: str
    column: str | None


class Trace(TypedDict):
    """A record or tuple, the verdict of one query, and the path through the plan.

    ``trace`` is None for a dead letter, and if the access token may not read the whole stream.
    """

    stream: str
    version: int
    source: str | None
    record: TracedRecord | None
    tuple: dict[str, object] | None
    query: PlainQuery | None
    dead_letter: DeadLetter | None
    verdict: Verdict | None
    trace: PlanTrace | None
    warnings: list[str]


class PlacedTerm(TypedDict):
    """A constraint of a conjunct, and the p-attribute of its construct."""

    constraint: str
    attribute: str


class Explanation(TypedDict):
    """The constructs that a query uses, in words. ``accepted``: whether the query accepts the tuple; None if there is
    no tuple.
    """

    query: PlainQuery
    version: int
    text: str
    accepted: bool | None
    block: int | None
    conjuncts: list[list[PlacedTerm]]
    warnings: list[str]
