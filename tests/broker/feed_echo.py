"""A kind of the handoff ``feed`` that tests alone have. ``echo`` writes the key of each record that its query accepts,
once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import pandas as pd
from pydantic import Field

from asc.operators.exclusions import FeedCounts
from asc.operators.feed import Message, Observation, QuerySettings, Settings, parse
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.body import Text
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.kafka.cluster import KafkaCluster
from broker.operators.expression import Expression, OperatorExpressions, RecordAnalyser
from broker.operators.feed_destination import FeedDestination, Track, hashed
from broker.operators.feed_outputs import outputs_of
from broker.operators.feed_task import part_task
from broker.operators.kind import StreamContext, read_fields
from broker.operators.kind_body import KindBody
from broker.operators.operator_fields import check_known, expression_of, key_of
from broker.operators.stateful_query import FeedReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

OP = "echo"


class Echo(NamedTuple):
    """An output, as every kind has it."""

    topic: str
    key: str
    value: str
    identity: str
    query: str
    source: str
    kind: str = OP


class EchoPart:
    """The settings of a part of the feed, and the places that it has seen."""

    def __init__(self, state: bytes | None) -> None:
        plain = {"settings": None, "seen": [], "echoes": 0} if state is None else json.loads(state)
        self.counts = FeedCounts()
        self._settings = None if plain["settings"] is None else Settings.of_plain(OP, plain["settings"])
        self._seen = {tuple(place) for place in plain["seen"]}

    @property
    def held(self) -> int:
        return len(self._seen)

    def read(self, texts: Iterable[str | bytes]) -> Iterator[Echo]:
        for text in texts:
            for message in parse(text, OP, id):
                yield from self._outputs(message)

    def _outputs(self, message: Message) -> Iterator[Echo]:
        if isinstance(message, Settings):
            self._settings = message
        if not isinstance(message, Observation) or self._settings is None:
            return
        place = (message.partition, message.offset)
        if message.key is None or place in self._seen:
            self.counts.excluded["key" if message.key is None else "unordered"] += 1
            return
        self._seen.add(place)
        self.counts.observations += 1
        for query in self._settings.queries:
            if query.track == message.track and not {*query.selections}.isdisjoint(message.selections):
                self.counts.outputs["echo"] += 1
                source = f"{self._settings.source_topic}-{message.partition}-{message.offset}"
                value = json.dumps({"query": query.id, "says": query.definition["says"], "key": message.key})
                yield Echo(query.topic, message.key, value, f"{query.id}:echo:{source}", query.id, source)

    def to_bytes(self) -> bytes:
        settings = None if self._settings is None else self._settings.plain()
        return json.dumps({"settings": settings, "seen": sorted(self._seen)}).encode()


def frame(echoes: list[Echo]) -> pd.DataFrame:
    return pd.DataFrame(echoes, columns=Echo._fields)


@dataclass(frozen=True, slots=True)
class EchoDefinition:
    """The key, and a text that each output says."""

    name: ClassVar[str] = OP

    key: str
    says: str = "here"

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> EchoDefinition:
        check_known(plain, ("name", "key", "says"))
        return cls(key_of(OP, plain), expression_of("says", plain.get("says", "here")))

    def plain(self) -> dict[str, Any]:
        return {"name": OP, "key": self.key, "says": self.says}

    def expressions(self) -> tuple[Expression, ...]:
        return (Expression("key", self.key, "key"),)

    def summary(self) -> str:
        return f"echoes {self.key}, saying {self.says}"


class EchoBody(KindBody):
    """The key of each accepted record."""

    name: Literal["echo"]
    key: Text = Field(description="The expression that is echoed.")
    says: Text = Field(default="here", description="A text.")


SMALL = {"max_records_per_batch": 1_000}


class EchoReader(FeedReader):
    """Writes echoes."""

    name = OP

    def __init__(self, stream: StreamContext) -> None:
        self.messages_max = stream.messages_max
        assert self.messages_max > 10 * SMALL["max_records_per_batch"], "a small batch of records bounds the feed"
        self._sink = stream.sink

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        ddl = ", ".join(f"{name} STRING" for name in Echo._fields)
        return self._sink.writer(outputs_of(feed, part_task(tallies, EchoPart, frame), ddl), tallies)


@dataclass(frozen=True, slots=True)
class EchoKind:
    """Echoes of the records that a query accepts."""

    name: str = OP
    noun: str = "echo query"
    definition: type[EchoDefinition] = EchoDefinition
    body: type[KindBody] = EchoBody
    handoff: Literal["feed"] = "feed"
    limits: tuple[str, ...] = ("stream_near_queries",)
    allows_join: bool = False
    allows_compacted_topic: bool = False
    held_noun: str = "observations"
    summed_figures: tuple[str, ...] = ()
    kept: None = None

    def read(
        self, definition: EchoDefinition, analyser: RecordAnalyser, *, patiently: bool = False
    ) -> OperatorExpressions:
        return OperatorExpressions(read_fields(definition, analyser))

    def excess(self, definition: EchoDefinition, limits: LimitsConfig) -> QueryError | None:
        return None

    def daemon_part(self, cluster: KafkaCluster) -> None:
        """It has none."""

    def destination(
        self, definition: EchoDefinition, query: QuerySettings, predicate: Predicate, expressions: OperatorExpressions
    ) -> FeedDestination:
        key, time_us = expressions.fields[0].read[0].sql, "unix_micros(_timestamp)"
        name = hashed([OP, key])
        track = Track(name, OP, key, time_us, (), None, observes_all=False, by_key=True)
        own = {"says": definition.says}
        return FeedDestination(
            track, QuerySettings(query.id, query.topic, name, track.time_name, query.selections, own)
        )

    def held_limit(self, limits: LimitsConfig, queries: int) -> int:
        return 1_000

    def record_bytes(self, definition: EchoDefinition) -> int:
        return 1_000

    def part(self, state: bytes | None) -> EchoPart:
        return EchoPart(state)

    def reader(self, stream: StreamContext) -> EchoReader:
        return EchoReader(stream)
