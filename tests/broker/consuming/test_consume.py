"""``broker.consume``: nothing is lost when a consumer ends, and what was delivered twice comes once."""

from __future__ import annotations

import contextlib
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

import broker
from broker.consuming import consume
from broker.errors import KafkaError

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

Publish = Callable[..., None]


@pytest.fixture
def topic(kafka: EmbeddedKafka, request: pytest.FixtureRequest) -> str:
    """A new topic of one partition, or of as many as a test says."""
    name = f"consumed-{uuid.uuid4().hex[:12]}"
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    admin.create_topics([NewTopic(name, getattr(request, "param", 1), 1)])
    admin.close()
    return name


@pytest.fixture
def deliver(kafka: EmbeddedKafka, topic: str) -> Iterator[Publish]:
    """Records as the broker writes them: of a number the value, the source and, by default, one query."""
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)

    def send(*numbers: int, queries: tuple[str, ...] = ("q",), shapes: tuple[str, ...] = ()) -> None:
        for number in numbers:
            headers = [("own", b"1"), *(("asc-shape", shape.encode()) for shape in shapes)]
            headers += [("asc-query", query.encode()) for query in queries]
            headers_of = [*headers, ("asc-source", f"s-0-{number}".encode())]
            partition = number % len(producer.partitions_for(topic) or ())
            producer.send(topic, str(number).encode(), b"k", headers_of, partition)
        producer.flush()

    yield send
    producer.close()


def opened(kafka: EmbeddedKafka, topic: str, **how: Any) -> Iterator[broker.Delivery]:
    return broker.consume(topic, **{"bootstrap_servers": kafka.bootstrap_servers, "group": f"g-{topic}", **how})


def numbers(deliveries: Iterator[broker.Delivery]) -> list[int]:
    return [int(delivery.value or b"") for delivery in deliveries]


def test_a_delivery_has_all_that_a_program_asks(kafka: EmbeddedKafka, topic: str, deliver: Publish) -> None:
    deliver(7, queries=("a", "b"))
    (delivery,) = islice(opened(kafka, topic), 1)
    assert (delivery.topic, delivery.partition, delivery.offset) == (topic, 0, 0)
    assert (delivery.key, delivery.value, delivery.source) == (b"k", b"7", "s-0-7")
    assert delivery.queries == ("a", "b")
    assert delivery.headers[0] == ("own", b"1")
    assert delivery.identity == "s-0-7"


def test_what_was_delivered_twice_comes_once(kafka: EmbeddedKafka, topic: str, deliver: Publish) -> None:
    deliver(0, 1, 2, 1, 2, 3)
    assert numbers(islice(opened(kafka, topic), 4)) == [0, 1, 2, 3]


def test_a_record_for_each_pair_is_no_duplicate(kafka: EmbeddedKafka, topic: str, deliver: Publish) -> None:
    for shapes in (("q/a",), ("q/b",), ("q/a",), ("q/b", "q/c")):
        deliver(0, shapes=shapes)
    found = [delivery.shapes for delivery in islice(opened(kafka, topic), 3)]
    assert found == [("q/a",), ("q/b",), ("q/b", "q/c")]


def test_what_only_has_the_same_source_is_no_duplicate(kafka: EmbeddedKafka, topic: str, deliver: Publish) -> None:
    """Of two streams on one source topic, or of a source topic that was made again."""
    deliver(0, queries=("a",))
    deliver(0, queries=("b",))
    deliver(0, queries=("a",))
    deliver(1, queries=("a",))
    found = list(islice(opened(kafka, topic), 3))
    assert [(delivery.value, delivery.queries) for delivery in found] == [
        (b"0", ("a",)),
        (b"0", ("b",)),
        (b"1", ("a",)),
    ]


def test_a_repeat_has_the_identity_of_its_window_or_event(kafka: EmbeddedKafka, topic: str) -> None:
    """Outputs of one source record with one content are not repeats of each other; outputs without one may repeat."""
    query, source = ("asc-query", b"q"), ("asc-source", b"s-0-7")

    def of(name: str, identity: bytes) -> list[tuple[str, bytes]]:
        return [(name, identity), query, source]

    late = ("asc-event", b"q@60")
    sent = [
        of("asc-event", b"q:enter:s-0-7"),
        of("asc-event", b"q:exit:s-0-7"),
        of("asc-event", b"q:enter:s-0-7"),
        [("asc-window", b"q@50"), *of("asc-event", b"q:1")],
        [("asc-window", b"q@50"), *of("asc-event", b"q:2")],
        [query, late],
        [query, late],
        [("asc-query", b"other"), late],
        of("asc-event", b"q:end"),
    ]
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for headers in sent:
        producer.send(topic, b"{}", b"k", headers, 0)
    producer.close()
    found = list(islice(opened(kafka, topic), 6))
    assert [(one.offset, one.identity) for one in found] == [
        (0, "q:enter:s-0-7"),
        (1, "q:exit:s-0-7"),
        (3, "q@50"),
        (5, "q@60"),
        (7, "q@60"),
        (8, "q:end"),
    ]
    assert [(one.queries, one.source) for one in found[3:5]] == [(("q",), None), (("other",), None)]


def test_what_is_remembered_of_a_delivery_does_not_grow_with_it() -> None:
    seen = consume._Seen(2)
    headers = [("asc-event", b"x" * 100_000), ("asc-query", b"q"), ("asc-source", b"s-0-7")]
    delivery = broker.Delivery("out", 0, 0, 1, b"k" * 100_000, b"v", headers, ("q",), "s-0-7", identity="x" * 100_000)
    assert [seen.is_new(delivery), seen.is_new(delivery)] == [True, False]
    assert [len(digest) for digest in seen._digests] == [16]


def test_what_is_done_is_noted_while_nothing_comes(kafka: EmbeddedKafka, topic: str, deliver: Publish) -> None:
    deliver(*range(50))
    own = opened(kafka, topic)
    assert len(list(islice(own, 50))) == 50
    # It asks for the next one, and waits.
    waiting = threading.Thread(target=lambda: next(own, None), daemon=True)
    waiting.start()
    partition = TopicPartition(topic, 0)
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    deadline = time.monotonic() + 120
    while True:
        noted = admin.list_group_offsets([f"g-{topic}"])[f"g-{topic}"]
        if partition in noted and noted[partition].offset == 50:
            break
        assert time.monotonic() < deadline, noted
        time.sleep(0.1)
    admin.close()
    deliver(50)
    waiting.join(120)
    assert not waiting.is_alive()


def wait_for_members(kafka: EmbeddedKafka, topic: str, count: int) -> None:
    """Wait until the group of a topic has so many members, and no more to do about it."""
    state, deadline = "Stable" if count else "Empty", time.monotonic() + 120
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)) as admin:
        while True:
            (group,) = admin.describe_groups([f"g-{topic}"]).values()
            if group["group_state"] == state and len(group["members"]) == count:
                return
            assert time.monotonic() < deadline, group
            time.sleep(0.05)


class Members:
    """Two members of one group, each in a thread of its own, and the numbers that both were given."""

    def __init__(self, kafka: EmbeddedKafka, topic: str, *, each_takes_s: float) -> None:
        self.given: list[int] = []
        self._each_takes_s = each_takes_s
        self._kafka, self._topic = kafka, topic
        self._is_over = False
        self._threads: list[threading.Thread] = []

    def join(self) -> None:
        self._threads.append(threading.Thread(target=self._work, daemon=True))
        self._threads[-1].start()

    def _work(self) -> None:
        for delivery in opened(self._kafka, self._topic):
            if self._is_over:
                return
            self.given.append(int(delivery.value or b""))
            time.sleep(self._each_takes_s)

    def wait_for(self, *numbers: int) -> None:
        deadline = time.monotonic() + 120
        while not set(numbers) <= set(self.given):
            assert time.monotonic() < deadline, self.given
            time.sleep(0.05)

    def end(self, deliver: Publish) -> None:
        self._is_over = True
        while any(thread.is_alive() for thread in self._threads):
            deliver(10_000)
            for thread in self._threads:
                thread.join(0.2)


def test_many_deliveries_that_take_long_together_are_given_once(
    kafka: EmbeddedKafka, topic: str, deliver: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is for one of them: twelve take longer, and one poll gives all of them."""
    monkeypatch.setitem(KafkaConsumer.DEFAULT_CONFIG, "max_poll_interval_ms", 3_000)
    deliver(*range(12))
    members = Members(kafka, topic, each_takes_s=0.5)
    members.join()
    members.wait_for(0)
    members.join()
    members.wait_for(*range(12))
    members.end(deliver)
    assert sorted(set(members.given)) == sorted(members.given)


@pytest.mark.parametrize("topic", [2], indirect=True)
def test_what_is_done_is_noted_before_another_member_gets_the_partitions(
    kafka: EmbeddedKafka, topic: str, deliver: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consume, "_COMMITTED_EACH_S", 1e9)
    deliver(*range(6))
    members = Members(kafka, topic, each_takes_s=0)
    members.join()
    members.wait_for(*range(6))
    members.join()
    wait_for_members(kafka, topic, 2)
    deliver(*range(6, 9))
    members.wait_for(*range(9))
    members.end(deliver)
    assert sorted(set(members.given)) == sorted(members.given)


def test_what_a_member_did_before_it_was_taken_for_dead_is_passed_over(
    kafka: EmbeddedKafka, topic: str, deliver: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KafkaConsumer.DEFAULT_CONFIG, "max_poll_interval_ms", 1_000)
    deliver(*range(4))
    own = opened(kafka, topic)
    assert numbers(islice(own, 1)) == [0]
    wait_for_members(kafka, topic, 0)
    deliver(4)
    assert numbers(islice(own, 4)) == [1, 2, 3, 4]


def test_the_window_is_bounded(kafka: EmbeddedKafka, topic: str, deliver: Publish) -> None:
    deliver(0, 1, 2, 0, 2)
    assert numbers(islice(opened(kafka, topic, window=2), 4)) == [0, 1, 2, 0]


def test_records_that_no_broker_delivered_are_never_passed_over(kafka: EmbeddedKafka, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for _ in range(3):
        producer.send(topic, b"1")
    producer.close()
    found = list(islice(opened(kafka, topic), 3))
    assert [(delivery.source, delivery.queries) for delivery in found] == [(None, ())] * 3


def test_a_consumer_that_ends_gets_again_what_it_was_at_and_nothing_before(
    kafka: EmbeddedKafka, topic: str, deliver: Publish
) -> None:
    deliver(*range(6))
    first = opened(kafka, topic)
    assert numbers(islice(first, 3)) == [0, 1, 2]
    # The third was handed out, and whether it was done with nobody said.
    first.close()  # type: ignore[attr-defined]
    second = opened(kafka, topic)
    assert numbers(islice(second, 3)) == [2, 3, 4]
    second.close()  # type: ignore[attr-defined]

    third = opened(kafka, topic)

    def fails() -> None:
        for delivery in third:
            assert delivery.value == b"4"
            raise ValueError("not done")

    with pytest.raises(ValueError, match="not done"):
        fails()
    third.close()  # type: ignore[attr-defined]
    assert numbers(islice(opened(kafka, topic), 2)) == [4, 5]


def test_what_is_wrong_is_one_line(kafka: EmbeddedKafka, topic: str) -> None:
    with pytest.raises(KafkaError, match="unknown topic 'nowhere'"):
        next(opened(kafka, "nowhere"))
    for how, said in (
        ({"group": ""}, "group '': name the consumer group"),
        ({"window": -1}, "window -1: give a number of deliveries"),
        ({"options": {"sasl.plain.pasword": "x"}}, "option 'sasl.plain.pasword': did you mean 'sasl.plain.password'?"),
        ({"options": {"security.protocol": "sasl"}}, "'security.protocol' 'sasl': is one of PLAINTEXT, SSL"),
    ):
        with pytest.raises(KafkaError, match=re.escape(said)):
            next(opened(kafka, topic, **how))
    with pytest.raises(KafkaError, match="does not answer: check bootstrap_servers"):
        next(opened(kafka, topic, bootstrap_servers="127.0.0.1:9", timeout_s=1))
