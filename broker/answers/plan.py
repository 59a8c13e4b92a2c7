"""The API's answers about running plans, their monitor, and the flow of records through a stream."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict

from broker.answers.predicate import AttributeOfPredicate


class Flow(TypedDict):
    """The rates per second and the latencies of the last minute, and the number of records of the source topic that are
    not processed yet.

    The rates of accepted and written records are missing if the access token may not read the whole stream.
    """

    lag_records: int | None
    records_per_s: float
    accepted_per_s: NotRequired[float]
    written_per_s: NotRequired[float]
    latency_p50_s: float | None
    latency_p99_s: float | None


class DeadLetterCount(TypedDict):
    """The number of dead letters with one reason. ``column``: the column that the reason names; None if the reason
    names no column.
    """

    reason: str
    column: str | None
    count: int


class DeadLetters(TypedDict):
    """The dead letters since the start of the daemon."""

    total: int
    reasons: list[DeadLetterCount]


class PlannedBlock(TypedDict):
    """A block: the number of its conjuncts, the p-attributes of its sequence, and the number of its micro-arrows."""

    conjuncts: int
    sequence: list[str]
    micro_arrows: int


class ListedShapes(TypedDict):
    """A block whose conjuncts are indexed by the shapes that they require."""

    position: str
    conjuncts: int
    shapes: int
    bytes: int


class ListedValues(TypedDict):
    """A block whose conjuncts are indexed by the values of one p-attribute that they require."""

    attribute: str
    conjuncts: int
    values: int
    bytes: int


class MeasuredBlock(TypedDict):
    """The effect of a block's sequence: the share of tuples that it drops, and the mean number of constructs that it
    evaluates for a tuple (``cost``).
    """

    dropping_ratio: float
    cost: float


class Rearrangement(TypedDict):
    """A search of the monitor for another sequence of one block: the trigger, the sequences before and after the
    search, and the costs of both.
    """

    at: str
    stream: str
    version: int
    block: int
    trigger: str
    tuples: int
    sample_tuples: int
    dropping_ratio_before: float | None
    dropping_ratio_now: float
    cost_before: float
    cost_after: float
    old_sequence: list[str]
    old_micro_arrows: int
    new_sequence: list[str]
    new_micro_arrows: int
    kind: str
    kept_us: float
    macro_us: float
    hybrid_us: float | None
    spent_s: float
    reason: str


class MonitorSettings(TypedDict):
    """The keys of the section ``[monitor]`` of the configuration."""

    enabled: bool
    mode: str
    triggers: list[str]
    lambda_tuples: int
    tau_tuples: int
    mu: float
    sample_tuples: int
    max_core_share: float


class Monitor(TypedDict):
    """The monitor of a stream: its settings, totals, the figures of each block, and the last rearrangements."""

    enabled: bool
    settings: MonitorSettings
    batches: int
    tuples: int
    accepted: int
    evaluated: int
    sampled: int
    rearrangement_counts: dict[str, int]
    monitor_s: float
    blocks: list[MeasuredBlock | None]
    rearrangements: list[Rearrangement]


class DeliveredToQuery(TypedDict):
    """The number of records delivered to one query."""

    query: str
    records: int


class Delivered(TypedDict):
    """The number of records delivered to the queries of a stream, and the queries that received the most."""

    total: int
    most: list[DeliveredToQuery]


class OperatorFigures(TypedDict):
    """The operators of one kind: their state, outputs by type, exclusions by reason, and watermarks.

    ``held``: the number of objects in the state, which ``held_noun`` names; null if no batch has counted them.
    ``lateness_s``: the allowed lateness of the stream; each watermark is a mark minus this lateness.
    """

    queries: int
    held: int | None
    held_noun: str
    observations: int
    outputs: dict[str, int]
    excluded: dict[str, int]
    lateness_s: float
    watermarks: dict[str, str]
    lag_records: int | None
    failures: int
    problem: str | None


class StreamPlan(TypedDict):
    """The running plan of a stream. The optional fields are missing if the access token may not read the whole stream.

    ``phases``: the median seconds of each phase of a batch.
    """

    flow: Flow
    version: int
    dead_letters: DeadLetters
    phases: dict[str, float]
    queries: NotRequired[int]
    conjuncts: NotRequired[int]
    match_all: NotRequired[int]
    bytes: NotRequired[int]
    p_attributes: NotRequired[list[AttributeOfPredicate]]
    blocks: NotRequired[list[PlannedBlock]]
    listed_by_position: NotRequired[list[ListedShapes]]
    listed_by_value: NotRequired[list[ListedValues]]
    monitor: NotRequired[Monitor]
    delivered: NotRequired[Delivered]
    operators: NotRequired[dict[str, OperatorFigures]]
    evaluation_errors: NotRequired[int]


class Plans(TypedDict):
    """The running plan of every stream, by name."""

    streams: dict[str, StreamPlan]


class Moment(TypedDict):
    """The counts of the batches that ended within one interval of some seconds. ``at_s``: the start of the interval, in
    seconds since 1970.
    """

    at_s: int
    batches: int
    records: int
    accepted: int
    written: int
    dead_letters: int
    latency_p50_s: float | None
    latency_p99_s: float | None


class Timeline(TypedDict):
    """The moments of the last hour in which batches ended. A moment covers ``moment_s`` seconds."""

    moment_s: int
    moments: list[Moment]
