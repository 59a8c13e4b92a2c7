"""Who may serve: what a second daemon is told, and what a daemon is told that Kafka does not let join."""

from __future__ import annotations

import fcntl
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.daemon.checkpoint_lock import CheckpointLock
from broker.daemon.leader_election import LeaderElection
from broker.errors import BrokerError, KafkaError, RegistryTakenError
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

_AWAITS_FOLDER = "waiting for the checkpoint folder"


@pytest.fixture(autouse=True)
def _in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.daemon.leader_election.SESSION_S", 1.0)
    monkeypatch.setattr("broker.daemon.leader_election._FIRST_ROUND_S", 3.0)


@pytest.fixture
def topic(kafka: EmbeddedKafka) -> str:
    name = f"served-{uuid.uuid4().hex[:12]}"
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(bootstrap_servers=kafka.bootstrap_servers))
    cluster.ensure_topics([name])
    cluster.close()
    return name


def turn(servers: str, topic: str, folder: Path, *, is_standby: bool = False, topic_id: str = "own") -> LeaderElection:
    lock = CheckpointLock(folder)
    if not is_standby:
        lock.take()
    client = KafkaClient(servers, {}, 1)
    made = LeaderElection(client, topic, lock, is_standby=is_standby, topic_id=topic_id, streams=["s"])
    made.join()
    return made


@pytest.mark.nightly
def test_a_second_one_is_told_that_another_serves_and_a_standby_waits(
    kafka: EmbeddedKafka, topic: str, tmp_path: Path
) -> None:
    entered: list[str] = []
    first = turn(kafka.bootstrap_servers, topic, tmp_path / "first")
    first.wait(entered.append, lambda: False)
    first.check()
    second = turn(kafka.bootstrap_servers, topic, tmp_path / "second")
    with pytest.raises(RegistryTakenError, match="another daemon serves it: stop that one, or start this one with"):
        second.wait(entered.append, lambda: False)
    second.leave()
    asked = threading.Event()
    standby = turn(kafka.bootstrap_servers, topic, tmp_path / "first", is_standby=True)
    threading.Timer(1, asked.set).start()
    with pytest.raises(BrokerError, match="while it stood by"):
        standby.wait(entered.append, asked.is_set)
    standby.leave()
    first.leave()
    assert entered == ["waiting for the registry", "waiting for the registry", "standing by for another daemon"]


def test_where_kafka_does_not_let_it_join_that_is_said(tmp_path: Path) -> None:
    own = turn("127.0.0.1:9", "asc.queries", tmp_path)
    with pytest.raises(KafkaError, match=r"consumer group 'asc-daemons-asc\.queries': cannot be joined"):
        own.wait(lambda phase: None, lambda: False)
    own.leave()


def test_a_standby_takes_the_folder_of_a_former_leader_that_does_not_let_go_and_no_other_one(
    kafka: EmbeddedKafka, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.daemon.leader_election._GRACE_S", 0.0)
    entered: list[str] = []
    (tmp_path / "s" / "bindings").mkdir(parents=True)
    first = turn(kafka.bootstrap_servers, topic, tmp_path, is_standby=True)
    first.wait(entered.append, lambda: False)
    first.check()
    # To Kafka it is gone, and its lock is held as by a process that stands still.
    first.leave()
    of_another = turn(kafka.bootstrap_servers, topic, tmp_path, is_standby=True, topic_id="another")
    looks = iter(range(3))
    with pytest.raises(BrokerError, match="while it stood by"):
        of_another.wait(entered.append, lambda: entered[-1] == _AWAITS_FOLDER and next(looks, None) is None)
    of_another.leave()
    first.check()
    second = turn(kafka.bootstrap_servers, topic, tmp_path, is_standby=True)
    second.wait(entered.append, lambda: False)
    with pytest.raises(RegistryTakenError, match="another daemon serves it: this one stops"):
        first.check()
    second.check()
    assert (tmp_path / "s~1" / "bindings").is_dir()
    second.leave()
    # The file system gave up the lock of a host that stands still: the folder is free, and taken over all the same.
    assert second._lock._lock is not None
    fcntl.flock(second._lock._lock, fcntl.LOCK_UN)
    third = turn(kafka.bootstrap_servers, topic, tmp_path, is_standby=True)
    third.wait(entered.append, lambda: False)
    with pytest.raises(RegistryTakenError, match="another daemon serves it: this one stops"):
        second.check()
    assert (tmp_path / "s~2" / "bindings").is_dir()
    third.leave()


def test_a_standby_of_which_kafka_does_not_say_that_it_leads_takes_nothing_over(
    kafka: EmbeddedKafka, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have stood still itself, and then another one has the folder by right."""
    monkeypatch.setattr("broker.daemon.leader_election._GRACE_S", 0.0)
    monkeypatch.setattr("broker.daemon.leader_election._CONFIRMED_WITHIN_S", 0.0)
    entered: list[str] = []
    holder = CheckpointLock(tmp_path)
    holder.take()
    holder.mark("own")
    standby = turn(kafka.bootstrap_servers, topic, tmp_path, is_standby=True)
    looks = iter(range(3))
    with pytest.raises(BrokerError, match="while it stood by"):
        standby.wait(entered.append, lambda: entered[-1] == _AWAITS_FOLDER and next(looks, None) is None)
    standby.leave()
    assert not holder.is_lost
    holder.release()
