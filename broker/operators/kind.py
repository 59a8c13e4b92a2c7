"""Kinds of operators: the protocols through which shared code uses a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from asc.operators.feed import QuerySettings
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.condition_watch import ConditionWatch
from broker.operators.definition import Definition
from broker.operators.estimate_body import EstimateBody
from broker.operators.expression import OperatorExpressions, RecordAnalyser
from broker.operators.feed_destination import FeedDestination
from broker.operators.fold_destination import FoldDestination
from broker.operators.fold_sample import FoldEstimate, FoldSample
from broker.operators.folder import FoldContext, Folder
from broker.operators.kept_body import KeptBody
from broker.operators.kind_body import KindBody

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.operators.fold import Fold
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.daemon_part import DaemonPart
    from broker.operators.feed_sink import FeedSink
    from broker.operators.feed_task import PartState
    from broker.operators.stateful_query import FeedReader


D = TypeVar("D", bound=Definition)


@dataclass(frozen=True, slots=True)
class StreamContext:
    """The parts of a stream that the readers of its feed need.

    ``sink``: the sink of the outputs. ``messages_max``: the largest number of messages of the feed in one batch.
    ``analyser``: the analyser of predicates over the stream's records. ``watch``: the watch of the conditions that the
    reader evaluates.
    """

    name: str
    sink: FeedSink
    messages_max: int
    analyser: RecordAnalyser
    watch: ConditionWatch


@dataclass(frozen=True, slots=True)
class FoldedQuery:
    """A query for which a kind with the handoff ``fold`` creates the destination."""

    id: str
    stream: str
    where: str
    topic: str


class OperatorKind(Protocol[D]):
    """A kind of operator, such as ``events``: its name, its limits, and the functions that every kind has.

    ``name``: the tag of the kind in the registry, in plans, in messages of feeds and in metrics. ``noun``: the name of
    one query of the kind, in messages to users. ``definition``: the class of its parameters. ``body``: the model of the
    parameters in the API. ``handoff``: the path of records to the kind. A kind with ``feed`` is a :class:`FeedKind`,
    one with ``fold`` a :class:`FoldKind`. ``limits``: keys of ``[limits]``; the first one bounds the number of queries
    of a stream. ``allows_join``: whether a join may have an operator of this kind.

    ``allows_compacted_topic``: whether all outputs have a key. The topic of such a query is made compacted, and belongs
    to this query alone. ``held_noun``: the noun, in the plural, for the objects that states of the kind store, for
    example ``points``. ``kept``: the model of a query's state in answers; None if answers do not show the state.
    """

    @property
    def name(self) -> str: ...

    @property
    def noun(self) -> str: ...

    @property
    def definition(self) -> type[D]: ...

    @property
    def body(self) -> type[KindBody]: ...

    @property
    def handoff(self) -> Literal["feed", "fold"]: ...

    @property
    def limits(self) -> tuple[str, ...]: ...

    @property
    def allows_join(self) -> bool: ...

    @property
    def allows_compacted_topic(self) -> bool: ...

    @property
    def held_noun(self) -> str: ...

    @property
    def kept(self) -> type[KeptBody] | None: ...

    def read(self, definition: D, analyser: RecordAnalyser, *, patiently: bool = False) -> OperatorExpressions:
        """Return the checked expressions of a definition. Raise QueryError if an expression is refused.

        ``patiently``: without a time limit for Spark's answers.
        """

    def excess(self, definition: D, limits: LimitsConfig) -> QueryError | None:
        """Return the reason why a definition alone exceeds a limit of a stream. Return None if it exceeds no limit."""

    def daemon_part(self, cluster: KafkaCluster) -> DaemonPart | None:
        """Return a new part of the kind that lives as long as the daemon. Return None if the kind has none.

        Creating the part opens no connection.
        """


class FeedKind(OperatorKind[D], Protocol[D]):
    """A kind with the handoff ``feed``: its observations go to the feed of a stream, from which a second Spark query
    reads them.

    ``summed_figures``: the names of the figures of a query that are sums over the parts of the feed. A figure is a
    value of a query's state or last output that answers show. Any other figure is that of one part.
    """

    @property
    def summed_figures(self) -> tuple[str, ...]: ...

    def destination(
        self, definition: D, query: QuerySettings, predicate: Predicate, expressions: OperatorExpressions
    ) -> FeedDestination:
        """Return the destination of a query, as plans store it.

        ``query`` has the id, topic and selection of the query. Its definition has ``since``, the version of the
        registration whose state continues. The kind keeps ``since``, and adds its track and its parameters.
        """

    def held_limit(self, limits: LimitsConfig, queries: int) -> int:
        """Return the largest number of objects or observations in one state. ``queries``: the number of queries of the
        kind. The kind determines the extent of a state: a part of the feed, a query or a window.
        """

    def record_bytes(self, definition: D) -> int:
        """Return the size in bytes that a record of a query may reach. A registration warns if the query's topic takes
        less.
        """

    def part(self, state: bytes | None) -> PartState[Any]:
        """Return the state of a part of the feed from its bytes. If ``state`` is None, return the state of a part that
        has read no messages.
        """

    def reader(self, stream: StreamContext) -> FeedReader:
        """Return the reader of the kind's messages in the feed of a stream."""


Sampler = Callable[[Sequence[str]], Mapping[str, "pa.Array"]]
"""A reader of the values of some expressions in the last records that a query accepts."""


class FoldKind(OperatorKind[D], Protocol[D]):
    """A kind with the handoff ``fold``: workers fill its states while they evaluate records.

    ``partial_limit``: the key of ``[limits]`` that bounds the bytes of the states of one batch. ``kept``: the form of a
    state in answers. ``estimate_body``: the form of an estimate in answers.
    """

    @property
    def partial_limit(self) -> str: ...

    @property
    def kept(self) -> type[KeptBody]: ...

    @property
    def estimate_body(self) -> type[EstimateBody]: ...

    def destination(
        self, definition: D, query: FoldedQuery, predicate: Predicate, expressions: OperatorExpressions
    ) -> FoldDestination:
        """Return the destination of a query, as plans store it."""

    def completed(self, definition: D, former: D | None, sampler: Sampler) -> D:
        """Return a definition with all parameters that a sample of records decides, such as the edges of bins.

        ``former``: the registered definition of the query, if it has the same stream and WHERE; its parameters are
        kept. ``sampler``: returns the values of expressions in the last records that WHERE accepts, and raises AscError
        if there are none. A complete definition is returned unchanged, without a sample.
        """

    def fold(self) -> Fold:
        """Return the computation of the kind's states. Workers load the computation by its module."""

    def folder(self, stream: FoldContext) -> Folder:
        """Return the owner of the kind's states in a stream. Creating the owner opens no file and no connection."""

    def estimate(self, destination: FoldDestination, sample: FoldSample | str) -> FoldEstimate:
        """Return the estimated size of a query's states, from a sample of records, in the form ``estimate_body``.

        If ``sample`` is a text, it is the reason why there is no sample. A figure that the sample cannot show is null.
        """


def read_fields(definition: Definition, analyser: RecordAnalyser) -> tuple[Predicate, ...]:
    """Return the checked expressions of a definition over a record, in order. Raise QueryError if an expression is
    refused.
    """
    return tuple(own.read(analyser) for own in definition.expressions() if own.role != "predicate")


def conditions_of(definition: Definition) -> tuple[str, ...]:
    """Return the predicates of a definition that the feed reader evaluates itself, as the user wrote them."""
    return tuple(own.sql for own in definition.expressions() if own.role == "predicate")
