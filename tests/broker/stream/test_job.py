"""What a stream that does not run is said to want."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.stream.job import lost_records

LOST = """Some data may have been lost because they are not available in Kafka any more;
either the data was aged out by Kafka or the topic may have been deleted before all the data in the
topic was processed.
If you don't want your streaming query to fail on such cases, set the source option failOnDataLoss to false.
Reason: """
UNREAD = """Could not read records in offset [3, 8) for topic partition s.a-0
with consumer group spark-kafka-source-1-executor."""
IN_A_TASK = f"""An error occurred while calling o1.save.
: org.apache.spark.sql.kafka010.KafkaIllegalStateException: {LOST}{UNREAD}
\tat org.apache.spark.sql.kafka010.KafkaExceptions$.couldNotReadOffsetRange(KafkaExceptions.scala:160)
Caused by: org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position is out of range for s.a-0
[STREAM_FAILED] Query [id = 1] terminated with exception: [FOREACH_BATCH_USER_FUNCTION_ERROR] Reason: An exception"""
IN_THE_DRIVER = f"[STREAM_FAILED] Query [id = 1] terminated with exception: {LOST}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (IN_A_TASK, "Could not read records in offset [3, 8) for topic partition s.a-0"),
        (
            f"{IN_THE_DRIVER}Partition s.a-0 offset was changed from 3 to 0. SQLSTATE: XXKST\n=== Streaming Query ===",
            "Partition s.a-0 offset was changed from 3 to 0",
        ),
        (
            f"{IN_THE_DRIVER}Partitions Set(s.a-1) have been deleted.\nKafka option 'kafka.group.id' has been set",
            "Partitions Set(s.a-1) have been deleted",
        ),
        (
            f"{IN_THE_DRIVER}Starting offset for s.a-0 was 3 but consumer reset to 5.",
            "Starting offset for s.a-0 was 3 but consumer reset to 5",
        ),
    ],
)
def test_lost_records_have_a_remedy_of_ours(text: str, reason: str) -> None:
    assert lost_records(text, "s.a", Path("/data/flights"), "earliest") == (
        f"source topic 's.a': records expired unread, or the topic was made again ({reason}): stop the daemon and "
        "remove /data/flights, and the stream begins at its starting_offsets, 'earliest'"
    )


def test_other_failures_are_none_of_it() -> None:
    text = "[STREAM_FAILED] Query [id = 1] terminated with exception: Set(s.a-1) are gone. Kafka option. Reason: none"
    assert lost_records(text, "s.a", Path("/data/checkpoint/flights"), "latest") is None
