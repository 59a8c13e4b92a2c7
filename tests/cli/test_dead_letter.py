"""``asc dead-letter``: what could not be decoded is listed, shown whole and sent again as it came."""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from broker.client.client import Client
from cli.client import stream_of

if TYPE_CHECKING:
    from conftest import Asc

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

HEADERS = [("trace", b"\x00\xff"), ("trace", b""), ("asc-error", b"of another broker")]


@pytest.fixture(scope="module")
def marked(asc: Asc, kafka: EmbeddedKafka) -> str:
    """Two records that no schema decodes, with a mark in their values; they are dead letters."""
    from kafka import KafkaProducer

    mark = uuid.uuid4().hex[:12]
    topic = str(stream_of(Client(asc.server), "flights")["topic"])
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    sent: dict[str, Any] = {"key": b"k\xff", "headers": HEADERS}
    producer.send(topic, f"\x1b[31m{{{mark}".encode(), **sent)
    producer.send(topic, b"\xff\xfe" + mark.encode(), **sent)
    producer.close()
    until(asc, mark, 2)
    return mark


def until(asc: Asc, mark: str, count: int) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 60
    while True:
        listed = asc.json("dead-letter", "list", "--stream", "flights", "--max", 1_000)["dead_letters"]
        found = [each for each in listed if is_marked(each, mark)]
        if len(found) >= count:
            return found
        assert time.monotonic() < deadline
        time.sleep(0.2)


def is_marked(shown: dict[str, Any], mark: str) -> bool:
    # Of what is no text, base64 is shown: it begins alike.
    return mark in (shown.get("value") or "") or (shown.get("value_base64") or "").startswith(("//4", "//5"))


def place_of(shown: dict[str, Any]) -> str:
    return f"{shown['partition']}-{shown['offset']}"


def test_they_are_listed_with_their_reasons_and_counted(asc: Asc, marked: str) -> None:
    first, second = until(asc, marked, 2)
    assert first["timestamp_ms"] <= second["timestamp_ms"]
    result = asc("dead-letter", "list", "--stream", "flights")
    assert result.exit_code == 0, result.stderr
    assert "\x1b" not in result.stdout
    row = next(line for line in result.stdout.splitlines() if marked in line)
    assert place_of(first) in row
    assert first["source"] in row
    assert datetime.fromtimestamp(first["timestamp_ms"] // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") in row
    reasons = asc.json("dead-letter", "list", "--stream", "flights", "--max", 1)
    assert len(reasons["dead_letters"]) == 1
    assert sum(reasons["reasons"].values()) >= 2
    some = asc.json("dead-letter", "list", "--stream", "flights", "--reason", "JSON record")
    assert [place_of(each) in map(place_of, some["dead_letters"]) for each in (first, second)] == [True, False]
    assert all("JSON record" in reason for reason in some["reasons"])
    none = asc.json("dead-letter", "list", "--stream", "flights", "--reason", "no reason has this text")
    assert none == {"dead_letters": [], "reasons": {}}


def test_one_is_shown_whole(asc: Asc, marked: str) -> None:
    letter = until(asc, marked, 2)[0]
    shown = asc.json("dead-letter", "show", place_of(letter), "--stream", "flights")
    assert shown["headers"][:3] == [
        {"name": "trace", "value_base64": "AP8="},
        {"name": "trace", "value": ""},
        {"name": "asc-error", "value": "of another broker"},
    ]
    assert [header["name"] for header in shown["headers"][3:]] == ["asc-error", "asc-source", "asc-timestamp"]
    text = asc("dead-letter", "show", place_of(letter), "--stream", "flights").stdout
    assert f"reason: {letter['error']}" in text
    assert f"source: {letter['source']}" in text


@pytest.mark.parametrize("what", ["show", "replay"])
def test_nothing_but_what_is_named_is_read(asc: Asc, marked: str, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    from kafka import KafkaConsumer

    place = place_of(until(asc, marked, 2)[1])
    read: list[str] = []
    poll = KafkaConsumer.poll

    def noted(consumer: KafkaConsumer, *arguments: Any, **named: Any) -> Any:
        found = poll(consumer, *arguments, **named)
        read.extend(f"{each.partition}-{each.offset}" for some in found.values() for each in some)
        return found

    monkeypatch.setattr(KafkaConsumer, "poll", noted)
    assert asc("dead-letter", what, place, "--stream", "flights").exit_code == 0
    assert read == [place]


def test_sent_again_they_come_as_they_came(asc: Asc, marked: str, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaConsumer, TopicPartition

    letters = until(asc, marked, 2)
    topic = str(stream_of(Client(asc.server), "flights")["topic"])
    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
    partition = TopicPartition(topic, int(letters[0]["source"].split("-")[-2]))
    consumer.assign([partition])
    end = consumer.end_offsets([partition])[partition]
    result = asc("dead-letter", "replay", *map(place_of, letters[:2]), "--stream", "flights")
    assert (result.exit_code, result.stdout) == (0, f"2 sent to {topic}\n")
    consumer.seek(partition, end)
    found: list[Any] = []
    while len(found) < 2:
        found += [record for records in consumer.poll(1_000).values() for record in records]
    consumer.close()
    assert [record.headers for record in found] == [HEADERS, HEADERS]
    assert {record.key for record in found} == {b"k\xff"}
    assert {record.value for record in found} == {f"\x1b[31m{{{marked}".encode(), b"\xff\xfe" + marked.encode()}
    # They cannot be decoded now either.
    again = until(asc, marked, 4)
    assert len({place_of(each) for each in again}) == len(again)


def test_what_has_not_all_of_the_record_is_not_sent_again(asc: Asc, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaProducer

    found = stream_of(Client(asc.server), "flights")
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    reason = b"record for topic late takes 2000000 bytes with its headers, over the limit of 1048576"
    headers = [("asc-error", reason), ("asc-source", b"s-0-7")]
    at = producer.send(found["dead_letter_topic"], key=b"k", headers=headers).get(timeout=30)
    producer.close()
    place = f"{at.partition}-{at.offset}"
    result = asc("dead-letter", "replay", place, "--stream", "flights")
    assert result.stdout == f"0 sent to {found['topic']}\n"
    assert result.stderr == f"1 excluded, for they have not all of the record: {place}\n"
    reasons = asc.json("dead-letter", "list", "--stream", "flights", "--reason", "over the limit")["reasons"]
    assert reasons == {reason.decode(): 1}


def test_a_reason_that_none_has_is_told(asc: Asc, marked: str) -> None:
    result = asc("dead-letter", "replay", "--reason", "no such", "--stream", "flights")
    assert (result.exit_code, result.stdout) == (0, "0 sent to cli-flights\n")
    assert result.stderr == "no dead letter's reason has 'no such' in it: see 'asc dead-letter list'\n"


def test_which_ones_are_meant_has_to_be_said(asc: Asc, marked: str) -> None:
    for arguments in ([], ["--all", "--reason", "x"], ["0-1", "--all"]):
        result = asc("dead-letter", "replay", *arguments, "--stream", "flights")
        assert result.exit_code == 2
        assert "say which: PLACE ..., --reason TEXT or --all" in result.stderr
    for arguments, said in (
        (["show", "17"], "place of a dead letter '17': write PARTITION-OFFSET, as 0-17"),
        (["show", "0-999999"], "dead letter '0-999999': is not in"),
        (["replay", "0-999999"], "dead letters '0-999999': are not there"),
    ):
        result = asc("dead-letter", *arguments, "--stream", "flights")
        assert result.exit_code == 1
        assert said in result.stderr
