"""Operator queries in a broker under faults, and a second broker without faults that produces the expected outputs."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import httpx

from bench.ports import free_port
from broker.consuming.consume import Delivery, receive
from broker.kafka.cluster import KafkaCluster
from tools.faults.broker_process import BrokerProcess
from tools.faults.counted_cubes import MOVES as COUNTED
from tools.faults.cube_ledger import CubeAudit
from tools.faults.feed import Feed
from tools.faults.moves import COLUMNS, DDL, QUERIES, SETTINGS, SOURCE, STEP_S, STREAM, move_of
from tools.faults.outputs import OutputAudit, output_audit, time_s
from tools.faults.standing_cubes import StandingCubes

CALM_STREAM = "calm"

_STALLED_S = 900.0
_LOOK_S = 2.0
_REPEATS = 10_000_000


def stream_section(name: str) -> str:
    """Return the section of a configuration file for a stream of the moving objects."""
    return f'[streams.{name}]\ntopic = "{SOURCE}"\nformat = "json"\nschema = "{DDL}"\n{SETTINGS}\n'


class Operators:
    """The operator queries over moving objects in the broker under faults, and a second broker. The second broker reads
    the same records after all faults are over, so its outputs are the expected outputs.

    The second broker also runs once at the beginning, to register the queries before the first record. It has a
    separate registry, stream and topics. Raise RuntimeError if it does not become ready.
    """

    def __init__(
        self,
        folder: Path,
        cluster: KafkaCluster,
        header: Callable[[str], str],
        per_s: float,
        end: Callable[[], int],
    ) -> None:
        """Write the configuration of the broker without faults, and create the publisher of records.

        ``header``: returns the section of a configuration file about Kafka, for a registry topic. ``per_s``: the number
        of records per second. ``end``: returns the number of the record before which publishing pauses.
        """
        self._client = cluster.client
        self._cluster = cluster
        port = free_port()
        config = folder / "calm.toml"
        config.write_text(
            f"{header('asc.queries.calm')}\n[api]\nport = {port}\n"
            f'[spark]\nmaster = "local[2]"\ndriver_memory = "1g"\nwarm_up_s = 0\ncheckpoint_dir = "{folder}/calm"\n'
            f"{stream_section(CALM_STREAM)}",
            "utf-8",
        )
        self._calm = BrokerProcess(config, f"http://127.0.0.1:{port}")
        self._feed = Feed(self._client.producer, SOURCE, per_s, move_of, end)

    def start(self, broker: httpx.Client) -> None:
        """Register the queries with both brokers, then begin to publish."""
        own = {"stream": STREAM, "source": SOURCE}
        self._cubes = StandingCubes(broker, self._cluster, [COUNTED], COLUMNS, **own, slack_s=0)
        _put(broker, STREAM)
        self._calm.launch()
        self._calm.await_ready()
        _put(self._calm.client, CALM_STREAM)
        self._calm.signal(signal.SIGTERM)
        self._calm.await_end()
        self._feed.start()

    def close(self) -> None:
        """Stop all running processes."""
        self._calm.kill()

    def held(self) -> AbstractContextManager[None]:
        """Suspend publishing within a ``with`` block."""
        return self._feed.held()

    def audit(self, random_: random.Random) -> CubeAudit:
        """Wait until the cube has folded all records, and compare its answers with DuckDB. No record may arrive during
        the comparison.
        """
        return self._cubes.audit(random_)

    def settle(self) -> OutputAudit:
        """Let the broker without faults read all records, and compare both brokers' outputs."""
        (end,) = self._cluster.offsets(SOURCE, end=True).values()
        until_s = end * STEP_S
        self._calm.launch()
        self._calm.await_ready()
        deadline = time.monotonic() + _STALLED_S
        while not (self._reach(CALM_STREAM, until_s) and self._reach(STREAM, until_s)):
            if self._feed.failure is not None:
                raise RuntimeError(f"records could not be published: {self._feed.failure}")
            if time.monotonic() > deadline:
                break
            time.sleep(_LOOK_S)
        self._feed.close()
        written = sum(sum(self._cluster.offsets(topic, end=True).values()) for topic in _topics(STREAM))
        return output_audit(self._outputs(CALM_STREAM), self._outputs(STREAM), written=written, until_s=until_s)

    def _reach(self, stream: str, until_s: float) -> bool:
        """Return whether each query of a stream has an output with the event time ``until_s`` or later."""
        last = dict.fromkeys(QUERIES, -1.0)
        for each in self._outputs(stream):
            (query,) = each.queries
            last[query] = max(last[query], time_s(each))
        return min(last.values()) >= until_s

    def _outputs(self, stream: str) -> list[Delivery]:
        """Return the distinct outputs in the topics of a stream's queries, read by ``broker.consume``."""
        topics = _topics(stream)
        return list(receive(self._client, topics, group=None, from_beginning=True, to_end=True, window=_REPEATS))


def _topics(stream: str) -> list[str]:
    return [f"{stream}-{query_id}" for query_id in QUERIES]


def _put(broker: httpx.Client, stream: str) -> None:
    for query_id, query in QUERIES.items():
        body = {**query, "topic": f"{stream}-{query_id}", "stream": stream}
        broker.put(f"/v1/queries/{query_id}", json=body).raise_for_status()
