"""Records to and from Kafka: a Kafka that goes away under a command, and what the headers of a record say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import cli.kafka_client
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from cli.failure import CommandError
from cli.kafka_client import dead_letter_error, delivered_by, produce, record_json, record_line


@pytest.mark.kafka
@pytest.mark.slow
def test_publishing_to_a_kafka_that_dies_ends_with_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.kafka_client, "_ACKNOWLEDGED_WITHIN_S", 3)
    monkeypatch.setattr(cli.kafka_client, "IN_FLIGHT_MAX", 100)
    node = EmbeddedKafka(tmp_path / "node")
    node.start()
    cluster = KafkaCluster(node.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics(["gone"])
    cluster.close()

    def records() -> Iterator[tuple[bytes | None, bytes]]:
        for number in range(1_000):
            if number == 500:
                node.stop()
            yield None, b"%d" % number

    done = 0

    def publish() -> None:
        nonlocal done
        for _ in produce(node.bootstrap_servers, "gone", records()):
            done += 1

    with pytest.raises(CommandError) as raised:
        publish()
    assert 0 < done < 1_000
    assert str(raised.value).startswith("Kafka refuses or does not answer at '127.0.0.1:")
    assert str(raised.value).endswith(f"{done} records were acknowledged, later ones may have arrived")


Header = tuple[str, "bytes | None"]
FIRST_HOP: list[Header] = [("asc-query", b"a"), ("asc-query", b"b"), ("asc-source", b"flights-0-7")]


@pytest.mark.parametrize(
    ("headers", "queries", "source"),
    [
        ([], [], None),
        (FIRST_HOP, ["a", "b"], "flights-0-7"),
        ([("trace", b"1"), *FIRST_HOP], ["a", "b"], "flights-0-7"),
        ([*FIRST_HOP, ("asc-query", b"c"), ("asc-source", b"asc.a-0-3")], ["c"], "asc.a-0-3"),
        ([*FIRST_HOP, ("asc-error", b"value is empty"), ("asc-source", b"asc.a-0-3")], [], "asc.a-0-3"),
        ([*FIRST_HOP, ("trace", b"2")], ["a", "b"], "flights-0-7"),
        ([("asc-query", b"\xff"), ("asc-source", b"\xfe-0-1")], ["\ufffd"], "\ufffd-0-1"),
        ([("asc-query", None), ("asc-source", None)], [""], ""),
    ],
)
def test_the_last_source_counts_and_the_queries_just_before_it(
    headers: list[Header], queries: list[str], source: str | None
) -> None:
    assert delivered_by(headers) == (queries, source)


class Message(NamedTuple):
    """What a consumer gives of a record."""

    key: bytes | None
    value: bytes | None
    headers: list[Header] | None
    topic: str = "asc.late"
    partition: int = 0
    offset: int = 3
    timestamp: int = 1


DEAD: list[Header] = [*FIRST_HOP, ("asc-error", b"value is empty"), ("asc-source", b"asc.a-0-3")]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (Message(None, b"{}", FIRST_HOP), "[a, b] {}"),
        (Message(b"SFO", "Zürich".encode(), FIRST_HOP), "[a, b] SFO Zürich"),
        (Message(b"\xff", b"\xfe", None), "[] /w== /g=="),
        (Message(b"k", None, FIRST_HOP), "[a, b] k "),
        (Message(b"", b"", DEAD), "[error: value is empty] "),
    ],
)
def test_a_record_in_a_line(message: Message, line: str) -> None:
    assert record_line(message) == line


def test_a_record_as_json_tells_text_from_bytes_and_nothing_from_empty() -> None:
    found = record_json(Message(b"\xff", None, FIRST_HOP))
    assert (found["key_base64"], found["value"], found["queries"]) == ("/w==", None, ["a", "b"])
    assert "key" not in found
    assert "error" not in found
    found = record_json(Message(None, b"", DEAD))
    assert (found["key"], found["value"], found["error"]) == (None, "", "value is empty")
    assert (found["queries"], found["source"]) == ([], "asc.a-0-3")


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ([], None),
        (FIRST_HOP, None),
        (DEAD, "value is empty"),
        ([*DEAD, ("asc-query", b"c"), ("asc-source", b"dead-0-1")], None),
        ([("asc-error", b"no source")], None),
    ],
)
def test_only_the_last_hop_says_whether_it_is_a_dead_letter(headers: list[Header], error: str | None) -> None:
    assert dead_letter_error(headers) == error
