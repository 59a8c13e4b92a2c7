"""The API answers as its description says: some seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from pyspark.sql import SparkSession

from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.kafka.cluster import KafkaCluster
from tools.fuzz.api import DDL, TOPICS, ApiCalls, ApiTarget, fault_of
from tools.fuzz.trials import generate_round

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark]
TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def calls(kafka: EmbeddedKafka, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiCalls]:
    folder: Path = tmp_path_factory.mktemp("fuzz-api")
    (folder / "token").write_text(TOKEN, "utf-8")
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "fuzz-registry"},
            "api": {"port": 0, "root_token_file": str(folder / "token"), "requests_per_s": 100_000},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "streams": {"fuzzed": {"topic": "fuzz-in", "format": "json", "schema": DDL}},
        }
    )
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    cluster.create_topics(TOPICS[:-1])
    cluster.close()
    daemon = Daemon(config, spark=spark)
    daemon.start()
    try:
        with httpx.Client(base_url=daemon.url, timeout=60) as client:
            yield ApiCalls(client, TOKEN, "fuzzed")
    finally:
        daemon.stop()


def test_made_requests_are_answered_as_described(calls: ApiCalls) -> None:
    target = ApiTarget()
    target._calls = calls
    generate_round(target, target.check, inputs=150, seed=1)
    target.settle()


def test_what_is_no_number_in_json_is_sent(calls: ApiCalls) -> None:
    name = "POST /v1/check"
    case = calls._operations[name].Case(body={"where": float("nan")}, media_type="application/json")
    given = calls._encoded(name, case, None, "right")
    assert json.loads(given)["body"] == '{"where": NaN}'
    calls.check(given)


DESCRIBED = {"responses": {"200": {}, "401": {}, "500": {}}, "security": [{"bearer": []}]}


@pytest.mark.parametrize(
    ("status", "is_known", "fault"),
    [
        (200, True, None),
        (401, False, None),
        (500, True, "answered 500"),
        (418, True, "not described"),
        (200, False, "without a token"),
        (401, True, "401 to the token"),
    ],
    ids=["described", "refused", "failed", "not described", "let in", "kept out"],
)
def test_what_is_wrong_with_an_answer(status: int, is_known: bool, fault: str | None) -> None:
    found = fault_of(httpx.Response(status), DESCRIBED, is_known=is_known)
    assert found is None if fault is None else fault in (found or "")
