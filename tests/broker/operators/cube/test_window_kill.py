"""A process that writes windows to Kafka and is killed: repeats are equal to the byte, and nothing is missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path

import pytest

from asc.operators.cube.revisions import RevisionLimits
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.window_sender import WindowSender
from broker.operators.cube.window_writer import WindowWriter
from tests.broker.operators.cube.kept_stream import MINUTE_US, Record, Topic, batch, opened
from tests.broker.operators.cube.window_rig import CUBE, LATE, output

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

BATCH, BATCHES = 10, 8
OWN = output(3, 1)
LIMITS = RevisionLimits(rows=4, windows=3)
"""So few that rounds of revisions go on over several batches."""
PLACES = ("INSERT OR REPLACE INTO windows", "INSERT OR REPLACE INTO revisions", "COMMIT", "send", "flush")
"""What the process does next when it is killed: a statement of the store, or a call of the sender."""


def topic_of_records() -> Topic:
    """Return a topic of which each batch has late records."""
    records: list[Record] = [
        (("B6", "UA", None)[each % 3], "JFK", each, each * MINUTE_US // 6 - (each % 7 == 5) * 4 * MINUTE_US)
        for each in range(BATCH * BATCHES)
    ]
    return Topic(partitions={0: records})


class Killing(WindowSender):
    """A sender that ends the process at a call."""

    place = ""
    calls = 0

    def send(self, *arguments: object) -> Counter[str]:  # type: ignore[override]
        found = super().send(*arguments)  # type: ignore[arg-type]
        # Some of what was sent may have arrived.
        self._count("send")
        return found

    def flush(self, topic: str) -> None:
        super().flush(topic)
        self._count("flush")

    def _count(self, place: str) -> None:
        self.calls -= place == self.place
        if place == self.place and self.calls < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def run(folder: str, servers: str, topic: str, place: str = "", calls: int = 0) -> None:
    """Commit all batches from the first one on and write windows, until the process kills itself."""
    keeper = opened(Path(folder), lateness_s=10)
    keeper.define(LATE, CUBE, OWN, topic)
    cluster = KafkaCluster(servers, KafkaConfig())
    sender = Killing(cluster)
    sender.place, sender.calls = place, calls
    left = [calls]

    def traced(statement: str) -> None:
        if place not in ("", "send", "flush") and statement.startswith(place):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    keeper._store._connection.set_trace_callback(traced)
    write(keeper, sender)
    sender.close()
    cluster.close()
    keeper.close()


def write(keeper: Keeper, sender: WindowSender) -> None:
    source, writer = topic_of_records(), WindowWriter(keeper, sender, Counter(), LIMITS)
    for each in range(BATCHES):
        writer.write([LATE])
        source.commit(keeper, batch(each * BATCH, (each + 1) * BATCH), {LATE: CUBE})
        writer.write([LATE])


def killed(folder: Path, servers: str, topic: str, place: str, calls: int) -> int:
    call = f"run({str(folder)!r}, {servers!r}, {topic!r}, {place!r}, {calls})"
    code = f"from tests.broker.operators.cube.test_window_kill import run; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


def rows(servers: str, topic: str) -> list[tuple[bytes, bytes, bytes | None]]:
    cluster = KafkaCluster(servers, KafkaConfig())
    with cluster.client.reading([topic], from_beginning=True, to_end=True) as messages:
        found = [(dict(one.headers)["asc-event"], one.key, one.value) for one in messages]
    cluster.close()
    return found


@pytest.mark.nightly
def test_a_process_that_is_killed_while_it_writes_windows_repeats_them_byte_for_byte(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    servers, once, often = kafka.bootstrap_servers, f"once-{uuid.uuid4().hex}", f"often-{uuid.uuid4().hex}"
    for name in (once, often):
        (tmp_path / name).mkdir()
    run(str(tmp_path / once), servers, once)
    kills = [killed(tmp_path / often, servers, often, place, calls) for calls in (0, 1, 2) for place in PLACES]
    assert kills.count(-9) >= 10
    run(str(tmp_path / often), servers, often)
    expected, found = rows(servers, once), rows(servers, often)
    assert len(expected) == len(set(expected)) > 50
    assert set(found) == set(expected)
    assert len(found) > len(expected)
    # What a compacted topic keeps, and what is left without repeats, is the same.
    assert {key: value for _, key, value in found} == {key: value for _, key, value in expected}
    assert list(dict.fromkeys(found)) == expected
