"""``asc demo``: the packaged flights through the whole system, and the report of the demonstration."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.client import kafka_of, stream_of
from cli.demo.daemon import demo_daemon, receive, say
from cli.demo.rate import measured_rate
from cli.output import counted, table_text
from workloads.flights import QUERIES, SCHEMA, sample_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.client.client import Client
    from broker.files.records import RecordBatch
    from broker.kafka.client import KafkaClient

STREAM = "flights"
FLIGHTS = {"topic": STREAM, "format": "json", "schema": SCHEMA, "starting_offsets": "earliest"}
"""The configuration table of the stream of flights."""
SHOWN_QUERY = "made-up-for-it"
SHOWN_RECORDS = 3


def run_demo() -> dict[str, Any]:
    """Run the demonstration in a temporary folder, and return the report. ``agrees`` in the report is true if every
    topic contains exactly the expected records.
    """
    with demo_daemon({"streams": {STREAM: FLIGHTS}}) as (client, spark):
        return demonstrate(client, spark)


def demonstrate(client: Client, spark: SparkSession) -> dict[str, Any]:
    """Return the report of the demonstration on a running daemon, whose only stream is that of the flights."""
    say(f"registering {len(QUERIES)} predicates through {client.url} ...")
    client.apply({"id": query_id, "where": where} for query_id, where in QUERIES.items())
    topics = {query["id"]: query["topic"] for query in client.list()}

    say("asking DataFrame.filter what each predicate accepts ...")
    expected = filtered_rows(spark, QUERIES)

    stream = stream_of(client, None)
    kafka = kafka_of(client, None)
    with kafka.reading(topics.values(), from_beginning=True) as messages:
        say(f"publishing {sample_path().name} into topic {stream['topic']} ...")
        started = time.monotonic()
        sample = published_sample(kafka, stream)
        rows, published = sum(len(batch.values) for batch in sample), time.monotonic()
        say("receiving from every topic ...")
        received, last = receive(messages, topics.values(), sum(map(len, expected.values())))
    # The topic is new, has one partition, and is written in order, so that the offset of a record is its row.
    row_of = {f"{stream['topic']}-0-{row}": row for row in range(rows)}
    comparisons = {query_id: compare(received[topic], row_of, expected[query_id]) for query_id, topic in topics.items()}
    shown = received[topics[SHOWN_QUERY]][:SHOWN_RECORDS]
    explanation = (
        client.explain(SHOWN_QUERY, json.loads(shown[0]["value"]), with_sequence=True)["text"] if shown else ""
    )
    agrees = all(counts["agrees"] for counts in comparisons.values())
    throughput = None
    if agrees:
        say("publishing it again and again, to see how fast it goes by now ...")
        of_a_copy = {topic: len(received[topic]) for topic in topics.values()}
        rate = measured_rate(kafka, stream["topic"], sample, of_a_copy)
        agrees, throughput = rate.agrees, rate.plain()
    return {
        "agrees": agrees,
        "topics": [
            {"query": query_id, "where": QUERIES[query_id], "topic": topic, **comparisons[query_id]}
            for query_id, topic in topics.items()
        ],
        "shown": {"query": SHOWN_QUERY, "records": shown, "explanation": explanation},
        "first": {
            "records": rows,
            "deliveries": sum(map(len, received.values())),
            "publishing_s": round(published - started, 3),
            "until_last_delivery_s": round(max(last, published) - started, 3),
        },
        "throughput": throughput,
    }


def filtered_rows(spark: SparkSession, queries: Mapping[str, str]) -> dict[str, Counter[int]]:
    """Return for each query the numbers of the rows that Spark's DataFrame.filter accepts. The rows of the packaged
    sample are numbered from 0.
    """
    import gzip

    with tempfile.TemporaryDirectory(prefix="asc-oracle-") as folder, gzip.open(sample_path(), "rt") as lines:
        next(lines)
        numbered = Path(folder) / "rows.csv"
        numbered.write_text("".join(f"{row},{line}" for row, line in enumerate(lines)), encoding="utf-8")
        rows = spark.read.csv(str(numbered), schema=f"row INT, {SCHEMA}").cache()
        try:
            return {
                query_id: Counter(found["row"] for found in rows.filter(where).select("row").collect())
                for query_id, where in queries.items()
            }
        finally:
            rows.unpersist()


def compare(records: Iterable[dict[str, Any]], row_of: Mapping[str, int], expected: Counter[int]) -> dict[str, Any]:
    """Compare the records of a topic with the expected rows: the same rows, each the same number of times.

    >>> compare([{"source": "s-0-7"}], {"s-0-7": 7}, Counter([7, 8]))
    {'received': 1, 'expected': 2, 'agrees': False}
    """
    received = Counter(row_of.get(record["source"], -1) for record in records)
    return {"received": received.total(), "expected": expected.total(), "agrees": received == expected}


def published_sample(kafka: KafkaClient, stream: Mapping[str, Any]) -> list[RecordBatch]:
    """Send the packaged sample in order, and return the sent batches."""
    from tqdm import tqdm

    from asc.schema import Schema
    from broker.files.records import Target, read_batches
    from broker.kafka.batch_sender import BatchSender

    path = sample_path()
    target = Target(stream["format"], Schema.from_ddl(stream["schema"]))
    with tqdm(total=path.stat().st_size, unit="B", unit_scale=True, desc="publishing", disable=None) as bar:
        batches = read_batches(
            path,
            "csv",
            target,
            "carrier",
            advance=lambda done: bar.update(done - bar.n),
            on_columns=lambda _columns, _by_case: None,
        )
        sent: list[RecordBatch] = []
        with BatchSender(kafka, stream["topic"]) as sender:
            for batch in batches:
                sender.send(batch.values, batch.keys)
                sent.append(batch)
            sender.flush()
        return sent


def report_text(report: Mapping[str, Any]) -> str:
    """Return the report as text for the terminal."""
    topics = table_text(
        ["topic", "received", "filter", "agrees", "predicate"],
        [[topic[name] for name in ("topic", "received", "expected", "agrees", "where")] for topic in report["topics"]],
    )
    shown, first = report["shown"], report["first"]
    records = "\n".join(record["value"] for record in shown["records"])
    verdict = "every topic holds exactly the records that DataFrame.filter accepts"
    return "\n\n".join(
        [
            topics,
            f"Some records of {shown['query']}:\n{records}",
            f"The way of the first one through the constructs:\n{shown['explanation']}",
            f"{first['records']:,} records published, {first['deliveries']:,} deliveries received: the last one "
            f"{first['until_last_delivery_s']} s after the first record was sent, into a stream that had just begun.",
            *([] if report["throughput"] is None else [_rate_text(report["throughput"], first["records"])]),
            f"OK: {verdict}." if report["agrees"] else f"FAILED: not {verdict}.",
        ]
    )


def _rate_text(throughput: Mapping[str, Any], rows: int) -> str:
    return (
        f"After that, the same {throughput['records'] // rows} times: {throughput['records']:,} records and "
        f"{throughput['deliveries']:,} deliveries in {throughput['first_sent_to_last_delivery_s']} s, from the first "
        f"record sent to the last delivery in its topic: {throughput['records_per_s']:,} records/s, with publisher, "
        f"Kafka and Spark on {counted(throughput['cores'], 'core')}. 'asc bench stream' measures it with a million "
        "records, beside a bare Spark job."
    )
