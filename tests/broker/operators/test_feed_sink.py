"""The sink of a feed reader, on a real Kafka: outputs that a topic does not take are counted, the others written."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaConsumer, TopicPartition

from asc.operators.exclusions import OUTPUT_TOO_LARGE
from broker.config.sections import REQUEST_BYTES, KafkaConfig
from broker.errors import KafkaError
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_sink import FeedSink

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

NAMES = ("topic", "key", "value", "identity", "query", "source", "kind")
DDL = ", ".join(f"{name} STRING" for name in NAMES)
LIMIT = 20_000


def output(topic: str, query: str, number: int, size: int = 1_000) -> tuple[str, ...]:
    """An output that takes so many bytes by the estimate of its size; its value has characters of two bytes."""
    key, identity, source = "ø", f"{query}:{number}", f"s-0-{number}"
    rest = 180 + sum(len(text.encode()) for text in (key, identity, query, source))
    value = "ø" * ((size - rest) // 2) + "x" * ((size - rest) % 2)
    return topic, key, value, identity, query, source, "window"


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    made = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    yield made
    made.close()


@pytest.fixture
def topics(cluster: KafkaCluster) -> tuple[str, str]:
    """A topic that takes all that is sent, and one that takes up to LIMIT."""
    wide, narrow = (f"{name}-{uuid.uuid4().hex[:12]}" for name in ("wide", "narrow"))
    cluster.ensure_topics([wide])
    cluster.ensure_topics([narrow], {"max.message.bytes": str(LIMIT)})
    return wide, narrow


def options_of(cluster: KafkaCluster) -> dict[str, str]:
    own = {"kafka.max.request.size": str(cluster.request_bytes), "includeHeaders": "true"}
    return {**cluster.client.spark_options(), **own}


def identities(cluster: KafkaCluster, topic: str) -> list[str]:
    """The identities of the records in a topic, each once, sorted."""
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers)
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    end, found = consumer.end_offsets([partition])[partition], set[str]()
    while consumer.position(partition) < end:
        for record in consumer.poll(timeout_ms=500).get(partition, ()):
            found.add(dict(record.headers)["asc-event"].decode())
    consumer.close()
    return sorted(found)


def test_an_output_is_as_large_as_its_topic_takes_and_no_larger(
    spark: SparkSession, cluster: KafkaCluster, topics: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    from broker.operators.feed_task import FeedTally, feed_accumulator

    wide, narrow = topics
    rows = [
        output(wide, "a", 1, 3 * LIMIT),
        output(narrow, "b", 2, LIMIT),
        output(narrow, "b", 3, LIMIT + 1),
        output(narrow, "b", 4, 2 * LIMIT),
        output(narrow, "a", 5, LIMIT + 7),
    ]
    tallies = feed_accumulator(spark.sparkContext)
    tallies.add(FeedTally(outputs={"window": 5}))
    own = frozenset(topics)
    sink = FeedSink(
        "s", options_of(cluster), request_bytes=REQUEST_BYTES, topics=lambda: own, limits_of=cluster.record_limits
    )
    outputs = spark.createDataFrame(rows, DDL)
    written = sink.write(outputs, tallies, are_counted=True)
    assert sorted(row["identity"] for row in written.collect()) == ["a:1", "b:2"]
    assert (identities(cluster, wide), identities(cluster, narrow)) == (["a:1"], ["b:2"])
    assert (tallies.value.excluded, tallies.value.outputs) == ({OUTPUT_TOO_LARGE: 3}, {"window": 2})
    # Where the tasks have not counted the outputs, whoever writes them does.
    sink.write(outputs, tallies)
    assert (tallies.value.excluded, tallies.value.outputs) == ({OUTPUT_TOO_LARGE: 6}, {"window": 2})
    remedy = "raise its max.message.bytes, and max.request.size in [kafka.options] if that is less"
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"stream 's': query '{query}': a record of {size} bytes is not written, because topic '{narrow}' takes at most "
        f"{LIMIT}: {remedy}"
        for query, size in (("a", LIMIT + 7), ("b", 2 * LIMIT))
    ]


def test_a_limit_that_was_raised_holds_from_the_next_batch(
    spark: SparkSession, cluster: KafkaCluster, topics: tuple[str, str]
) -> None:
    from broker.operators.feed_task import feed_accumulator

    wide, _ = topics
    limits, known = {wide: LIMIT}, frozenset({wide})
    tallies = feed_accumulator(spark.sparkContext)
    sink = FeedSink(
        *("s", options_of(cluster)),
        request_bytes=REQUEST_BYTES,
        topics=lambda: known,
        limits_of=lambda names: {**cluster.record_limits(names), **limits},
    )
    outputs = spark.createDataFrame([output(wide, "a", 1), output(wide, "a", 2, 2 * LIMIT)], DDL)
    sink.write(outputs, tallies)
    assert identities(cluster, wide) == ["a:1"]
    limits.clear()
    sink.write(outputs, tallies)
    assert identities(cluster, wide) == ["a:1", "a:2"]
    assert tallies.value.excluded == {OUTPUT_TOO_LARGE: 1}


def test_an_output_is_no_larger_than_what_is_sent(
    spark: SparkSession, kafka: EmbeddedKafka, topics: tuple[str, str]
) -> None:
    from broker.operators.feed_task import feed_accumulator

    config = KafkaConfig.model_validate({"options": {"max.request.size": "50000"}})
    cluster, (wide, _) = KafkaCluster(kafka.bootstrap_servers, config), topics
    tallies = feed_accumulator(spark.sparkContext)
    # No topic is known: the query of this one was removed, and its last outputs come.
    sink = FeedSink(
        "s",
        options_of(cluster),
        request_bytes=cluster.request_bytes,
        topics=frozenset,
        limits_of=cluster.record_limits,
    )
    rows = [output(wide, "a", 1, 50_000), output(wide, "a", 2, 50_001)]
    sink.write(spark.createDataFrame(rows, DDL), tallies)
    assert identities(cluster, wide) == ["a:1"]
    assert tallies.value.excluded == {OUTPUT_TOO_LARGE: 1}
    cluster.close()


def test_a_refusal_by_kafka_is_the_last_one(
    spark: SparkSession, cluster: KafkaCluster, topics: tuple[str, str], tmp_path: Path
) -> None:
    """A topic that nobody knew, or whose limit was lowered: the batch that fails is written by the next start."""
    from broker.operators.feed_task import FeedTally, feed_accumulator

    wide, narrow = topics
    known: list[frozenset[str]] = [frozenset({wide})]
    answers = [True]

    def limits_of(names: Collection[str]) -> Mapping[str, int]:
        if not answers[0]:
            raise KafkaError("Kafka", "localhost", "does not answer")
        return cluster.record_limits(names)

    (tmp_path / "outputs").mkdir()
    rows = [output(wide, "a", 1), output(narrow, "b", 2), output(narrow, "b", 3, 2 * LIMIT)]
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows]
    (tmp_path / "outputs" / "first.json").write_text("\n".join(lines), "utf-8")
    outputs = spark.readStream.schema(DDL).json(str(tmp_path / "outputs"))
    tallies = feed_accumulator(spark.sparkContext)
    tallies.add(FeedTally(outputs={"window": 3}))
    sink = FeedSink(
        *("s", options_of(cluster)), request_bytes=REQUEST_BYTES, topics=lambda: known[-1], limits_of=limits_of
    )

    def run() -> None:
        sink.begin_anew()
        started: Any = sink.writer(outputs, tallies).option("checkpointLocation", str(tmp_path / "checkpoint"))
        started.trigger(availableNow=True).start().awaitTermination()

    with pytest.raises(Exception, match="RecordTooLargeException") as refused:
        run()
    # A new query of the topic would have shown it before.
    assert not sink.is_outdated
    known.append(frozenset(topics))
    answers[0] = False
    assert not sink.is_outdated
    answers[0] = True
    assert sink.is_outdated
    known.pop()
    sink.failed(ValueError("another failure"))
    sink.begin_anew()
    sink.writer(outputs, tallies)
    assert not sink.is_outdated
    sink.failed(refused.value)
    run()
    assert not sink.is_outdated
    assert (identities(cluster, wide), identities(cluster, narrow)) == (["a:1"], ["b:2"])
    assert (tallies.value.excluded, tallies.value.outputs) == ({OUTPUT_TOO_LARGE: 1}, {"window": 2})


def test_a_writer_that_compares_no_sizes_fills_no_batch_that_a_topic_refuses(
    spark: SparkSession, cluster: KafkaCluster, topics: tuple[str, str], tmp_path: Path
) -> None:
    from broker.operators.feed_task import feed_accumulator

    wide, _ = topics
    (tmp_path / "outputs").mkdir()
    lines = [json.dumps(dict(zip(NAMES, output(wide, "a", number, 100_000), strict=True))) for number in range(30)]
    (tmp_path / "outputs" / "first.json").write_text("\n".join(lines), "utf-8")
    outputs = spark.readStream.schema(DDL).json(str(tmp_path / "outputs"))
    options = {**options_of(cluster), "kafka.batch.size": str(4 << 20), "kafka.linger.ms": "500"}
    # Kafka would refuse the same batch until its delivery times out.
    options |= {"kafka.delivery.timeout.ms": "8000", "kafka.request.timeout.ms": "4000"}
    sink = FeedSink(
        *("s", options),
        request_bytes=REQUEST_BYTES,
        topics=lambda: frozenset({wide}),
        limits_of=cluster.record_limits,
    )
    started: Any = sink.writer(outputs, feed_accumulator(spark.sparkContext))
    started = started.option("checkpointLocation", str(tmp_path / "checkpoint"))
    started.trigger(availableNow=True).start().awaitTermination()
    assert len(identities(cluster, wide)) == 30


@pytest.mark.parametrize("request_bytes", [REQUEST_BYTES, 50_000])
def test_figures_are_those_of_outputs_that_were_sent(
    spark: SparkSession, cluster: KafkaCluster, topics: tuple[str, str], tmp_path: Path, request_bytes: int
) -> None:
    """Whether tasks write their outputs themselves, or the sizes of outputs are compared first."""
    from broker.operators.feed_task import FeedTally, feed_accumulator

    wide, _ = topics
    (tmp_path / "outputs").mkdir()
    line = json.dumps(dict(zip(NAMES, output(wide, "a", 1), strict=True)))
    (tmp_path / "outputs" / "first.json").write_text(line, "utf-8")
    tallies = feed_accumulator(spark.sparkContext)
    latest = {3: {"a": {"end": 7}}}

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        tallies.add(FeedTally(latest=latest))

    outputs = spark.readStream.schema(DDL).json(str(tmp_path / "outputs")).mapInArrow(counted, DDL)
    reached = options_of(cluster)
    # Nothing listens on this port.
    options = {**reached, "kafka.bootstrap.servers": "127.0.0.1:9", "kafka.max.block.ms": "500"}
    own = frozenset({wide})
    sink = FeedSink("s", options, request_bytes=request_bytes, topics=lambda: own, limits_of=cluster.record_limits)

    def run() -> None:
        sink.begin_anew()
        started: Any = sink.writer(outputs, tallies).option("checkpointLocation", str(tmp_path / "checkpoint"))
        started.trigger(availableNow=True).start().awaitTermination()

    with pytest.raises(Exception, match="TimeoutException"):
        run()
    # Tasks that do not write their outputs themselves have counted them.
    assert tallies.value.latest == ({} if request_bytes == REQUEST_BYTES else latest)
    assert sink.figures(tallies.value) == {}
    options.update(reached)
    run()
    assert sink.figures(tallies.value) == latest
    assert identities(cluster, wide) == ["a:1"]
