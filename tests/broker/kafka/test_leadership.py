"""One of several members leads: the first, until it is gone, and never two."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from broker.kafka.client import KafkaClient
from broker.kafka.leadership import SESSION_S, Leadership

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

LONG_SESSION_S = 120.0
FIRST_S = 2 * LONG_SESSION_S
"""For the first member of such a session: one whose join is cut off joins anew, when Kafka has given the old one up."""


class Join:
    """Makes members of one group."""

    def __init__(self, servers: str) -> None:
        from kafka.admin import KafkaAdminClient, NewTopic

        self.topic = f"led-{uuid.uuid4().hex[:12]}"
        self._servers = servers
        self._joined: list[Leadership] = []
        admin = KafkaAdminClient(bootstrap_servers=servers)
        admin.create_topics([NewTopic(self.topic, 1, 1)])
        admin.close()

    def __call__(self, instance: str | None = None) -> Leadership:
        self._joined.append(Leadership(KafkaClient(self._servers, {}, 10), self.topic, instance))
        self._joined[-1].start()
        return self._joined[-1]

    def close(self) -> None:
        for each in self._joined:
            each.close()


@pytest.fixture
def join(kafka: EmbeddedKafka) -> Iterator[Join]:
    made = Join(kafka.bootstrap_servers)
    yield made
    made.close()


def until(condition: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_who_leads_keeps_leading_while_others_come_and_go(join: Join) -> None:
    first = join("one")
    assert first.wait(60)
    others = [join(), join("two")]
    for other in others:
        assert not other.wait(2)
    others[0].close()
    assert not others[1].wait(2)
    assert not first.lost


@pytest.fixture
def long_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not happen at once happens after minutes, which a slow machine cannot be mistaken for."""
    monkeypatch.setattr("broker.kafka.leadership.SESSION_S", LONG_SESSION_S)


@pytest.mark.usefixtures("long_session")
def test_another_one_leads_as_soon_as_the_leader_leaves(join: Join) -> None:
    first = join()
    assert first.wait(FIRST_S), first.problem
    second = join()
    assert not second.wait(2)
    first.close()
    assert second.wait(LONG_SESSION_S / 2)
    assert not second.lost


@pytest.mark.usefixtures("long_session")
def test_one_of_the_same_name_takes_the_place_of_what_it_was_at_once(join: Join) -> None:
    first = join("same")
    assert first.wait(FIRST_S), first.problem
    again = join("same")
    assert again.wait(LONG_SESSION_S / 2)
    # As one that stood still meanwhile asks: what it knows may say that it leads.
    assert not first.confirmed(60)
    assert first.lost
    assert again.confirmed(60)
    assert not again.lost


def test_where_kafka_does_not_answer_it_is_not_confirmed_that_one_leads() -> None:
    alone = Leadership(KafkaClient("127.0.0.1:9", {}, 1), "led")
    alone.start()
    assert not alone.confirmed(0.2)
    alone.close()


MEMBER = """
import sys, time
from broker.kafka.client import KafkaClient
from broker.kafka.leadership import Leadership

own = Leadership(KafkaClient(sys.argv[1], {}, 10), sys.argv[2])
own.start()
assert own.wait(60)
print("leads", flush=True)
while not own.lost:
    time.sleep(0.02)
print("lost", flush=True)
"""


@pytest.mark.nightly
@pytest.mark.nightly
@pytest.mark.slow
def test_a_leader_that_stood_still_hears_at_once_that_another_one_leads(join: Join, kafka: EmbeddedKafka) -> None:
    command = [sys.executable, "-c", MEMBER, kafka.bootstrap_servers, join.topic]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            assert first.stdout.readline() == "leads\n"
            second = join()
            assert not second.wait(2)
            first.send_signal(signal.SIGSTOP)
            assert second.wait(2 * SESSION_S + 60)
            first.send_signal(signal.SIGCONT)
            # Where it hears of nothing, the line never comes, and the test's timeout does.
            assert first.stdout.readline() == "lost\n"
            assert not second.lost
        finally:
            first.kill()
