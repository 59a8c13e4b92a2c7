"""Fixtures shared by the whole run: one Spark session, one embedded Kafka broker, both real, and the worked example."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.evaluation.executor import Matches
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from bench.ports import free_port
from broker.kafka.client import quiet_client_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytest_plugins = ("tests.collecting", "tests.durations", "tests.scheduling", "tests.tiers")

_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Tests start many short-lived JVMs on few cores: what Java's second compiler takes is never paid back."""

ListsOf = Callable[[Matches, pa.Array], list[list[str]]]


def pytest_configure() -> None:
    os.environ.setdefault("JDK_JAVA_OPTIONS", _QUICK_JAVA)
    # A client that outlives the node of its test logs each reconnection, into the log that a later test reads.
    quiet_client_log()


@pytest.fixture(scope="session")
def lists_of() -> ListsOf:
    """One list a tuple, accepted or not: the names (by ordinal) of the queries that accept it, in their order."""

    def lists(matches: Matches, names: pa.Array) -> list[list[str]]:
        found: list[list[str]] = [[] for _ in range(matches.tuples)]
        for row, name in zip(matches.rows.tolist(), names.take(pa.array(matches.queries)).to_pylist(), strict=True):
            found[row].append(name)
        return found

    return lists


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark session with the Kafka connector, set up as the daemon sets up its own."""
    from broker.runtime.spark import spark_session

    # The streams of a module's site are idle most of the time, and would look for records a hundred times a second.
    options = {"spark.sql.streaming.pollingDelay": "200ms"}
    session = spark_session(app_name="asc-tests", master="local[2]", time_zone="UTC", options=options)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """A single-node Kafka broker with a data folder of its own."""
    from broker.kafka.embedded import EmbeddedKafka

    with EmbeddedKafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@dataclass(frozen=True)
class SecureKafka:
    """A Kafka that demands SASL_SSL at one of its ports, and what it takes to get in."""

    bootstrap_servers: str
    options: Mapping[str, str]
    other_ca: str
    plain_servers: str
    """Another port, that asks for nothing."""


@pytest.fixture(scope="session")
def secure_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    """A node whose certificate a CA made for this run has signed, with one user; login by PLAIN or SCRAM-SHA-512."""
    import trustme
    from cryptography.hazmat.primitives import serialization

    from broker.kafka.embedded import EmbeddedKafka

    folder = tmp_path_factory.mktemp("secure-kafka")
    ca, other = trustme.CA(), trustme.CA()
    ca.cert_pem.write_to_path(str(folder / "ca.pem"))
    other.cert_pem.write_to_path(str(folder / "other.pem"))
    issued = ca.issue_cert("127.0.0.1")
    # Java reads keys in PKCS 8 alone.
    key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(key + b"".join(each.bytes() for each in issued.cert_chain_pems))
    plain, controller, secure = free_port(), free_port(), free_port()
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_asc="se\\"cret";'
    settings = {
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{controller},SASL_SSL://127.0.0.1:{secure}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{secure}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server.pem"),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": login.replace("\\", "\\\\"),
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
    }
    options = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.plain.username": "asc",
        "sasl.plain.password": 'se"cret',
        "ssl.cafile": str(folder / "ca.pem"),
    }
    with EmbeddedKafka(folder / "node", port=plain, settings=settings):
        yield SecureKafka(f"127.0.0.1:{secure}", options, str(folder / "other.pem"), f"127.0.0.1:{plain}")


@dataclass(frozen=True)
class WorkedExample:
    """The paper's four queries over four attributes, and the tuples of its examples by name.

    Constructs 0 to 3 of the plan are A1 to A4, conjuncts 0 to 3 are q1 to q4.
    """

    queries: Sequence[Query]
    plan: Plan
    tuples: Mapping[str, tuple[int, int, int, int]]

    def columns(self, names: Sequence[str]) -> list[pa.Array]:
        """The values of A1 to A4 in some of the tuples."""
        return [pa.array([self.tuples[name][place] for name in names], pa.int32()) for place in range(4)]


def _conjunctive(query_id: str, intervals: Mapping[str, Interval]) -> Query:
    conjunct = tuple(
        (PAttribute(name, pa.int32(), (name,)), Constraint((interval,))) for name, interval in intervals.items()
    )
    return Query(query_id, Predicate("", (conjunct,)))


@pytest.fixture(scope="session")
def worked_example() -> WorkedExample:
    queries = [
        _conjunctive("q1", {"A1": (None, (50, 1)), "A3": ((60, 0), None)}),
        _conjunctive("q2", {"A2": (None, (20, 1)), "A4": (None, (10, 0))}),
        _conjunctive("q3", {"A1": (None, (30, 0)), "A3": (None, (40, 0))}),
        _conjunctive("q4", {"A2": ((50, 1), None), "A4": ((80, 0), None)}),
    ]
    tuples = {
        "t1": (40, 40, 20, 90),
        "t2": (80, 60, 10, 80),
        "t3": (10, 30, 40, 10),
        "t4": (80, 30, 10, 80),
        "t5": (80, 60, 10, 10),
        "t6": (90, 70, 20, 50),
        "t7": (80, 20, 10, 5),
    }
    return WorkedExample(queries, compile_plan(queries), tuples)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a test is given says what it needs: ``make check`` leaves out what needs a JVM or Kafka.

    Files with slow tests come first: whole files go to one process or the other, and none is to be left for the end.
    """
    for item in items:
        for name in {"spark", "kafka"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(name)
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)
