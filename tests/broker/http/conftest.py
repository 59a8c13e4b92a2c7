"""The API of what a daemon has while its jobs do not run, and a stream that counts without a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from asc.plan.plan import Plan
from broker.access.access import Access
from broker.access.audit import Audit
from broker.config.config import parse_config
from broker.config.sections import ApiConfig, MonitorConfig
from broker.daemon.daemon import Daemon
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.http.app import create_app
from broker.http.server import ApiServer
from broker.kafka.client import KafkaClient
from broker.matching.tally import Tally
from broker.monitoring.stream_monitor import StreamMonitor
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan
from broker.stream.diagnosis.parked_queries import ParkedQueries
from broker.stream.metrics.dead_letters import DeadLetters
from broker.stream.metrics.evaluation_errors import EvaluationErrors
from broker.stream.metrics.lag import Lag
from broker.stream.metrics.stream_stats import StreamStats
from broker.stream.operator_status import OperatorStatus

if TYPE_CHECKING:
    from conftest import Resting


@pytest.fixture
def api(resting: Resting) -> Iterator[TestClient]:
    with TestClient(
        create_app(resting, Access(), ApiConfig(requests_per_s=1e6), Audit()), base_url="http://127.0.0.1"
    ) as client:
        yield client


@pytest.fixture(scope="module")
def send_to(resting: Resting) -> Iterator[Callable[..., str]]:
    """Sends a record to a topic, with what else Kafka's client takes; its place."""
    producer = resting.cluster.client.producer()
    topics: set[str] = set()

    def sent(topic: str, value: bytes | None, **more: Any) -> str:
        resting.cluster.ensure_topics({topic} - topics)
        topics.add(topic)
        found = producer.send(topic, value, partition=0, **more).get(timeout=30)
        return f"{topic}-0-{found.offset}"

    yield sent
    producer.close()
    # Other modules have the same topics, and count what is in them.
    from kafka import TopicPartition

    admin = resting.cluster.client.admin()
    for topic in topics:
        (end,) = resting.cluster.offsets(topic, end=True).values()
        admin.delete_records({TopicPartition(topic, 0): end})
    admin.close()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[str, int]]]:
    """Serves the API of a daemon that has not started, by settings of [api]: where."""
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    servers: list[ApiServer] = []

    def start(**api: Any) -> tuple[str, int]:
        config = parse_config(
            {
                "api": {"port": 0, "receive_timeout_s": 0.5, **api},
                "spark": {"checkpoint_dir": str(tmp_path)},
                "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
            }
        )
        servers.append(ApiServer(config, Daemon(config)))
        parts = urlsplit(servers[-1].start())
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    yield start
    for server in servers:
        server.stop()


@dataclass
class Counted:
    """Of a stream what counts: its own monitor, plan, figures and errors, without a job."""

    monitor: StreamMonitor
    running: RunningPlan
    evaluation_errors: EvaluationErrors
    dead_letters: DeadLetters
    parked: ParkedQueries
    figures: StreamStats
    problem: str | None = None
    failures: int = 0
    folders: dict[str, Any] = field(default_factory=dict)
    timed: dict[str, tuple[int, float]] = field(default_factory=lambda: {"bind": (2, 0.004), "run": (2, 0.5)})

    def operators(self) -> dict[str, OperatorStatus]:
        return {}

    def phase_totals(self) -> dict[str, tuple[int, float]]:
        return self.timed

    def count(self, plan: Plan, tally: Tally) -> None:
        """A batch, as the job counts it."""
        self.monitor.offer(plan, tally)
        self.figures.count(plan, tally)


@pytest.fixture
def counted(tmp_path: Path) -> Callable[[str], Counted]:
    """A stream without a job, by its name."""
    reasons = (DeadLetterReason("value is empty"), DeadLetterReason("malformed: column 'n'", "malformed", "n"))

    def of(name: str) -> Counted:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        running = RunningPlan(name, BatchBindings(folder / "bindings", folder / "spark"), {})
        return Counted(
            StreamMonitor(name, MonitorConfig(), running),
            running,
            EvaluationErrors(name),
            DeadLetters(name, reasons),
            ParkedQueries(folder),
            StreamStats(Lag(name, "t", cast("KafkaClient", None), {}), lambda: 1_000.0),
        )

    return of
