"""``asc demo``: the whole path in a process of its own, and how it says that a topic differs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

from broker.client.client import Client
from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from cli.demo import rate
from cli.demo import run as demo_run
from cli.demo.run import compare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

Run = Callable[..., Result]
ROW_OF = {"s-0-5": 0}


def check_whole(report: dict[str, Any]) -> None:
    assert report["agrees"]
    assert len(report["topics"]) >= 12
    assert all(topic["received"] == topic["expected"] > 0 for topic in report["topics"])
    assert report["first"]["records"] == 20_000
    assert report["throughput"]["agrees"]


@pytest.mark.timeout(600)
def test_every_topic_of_the_sample_holds_what_filter_accepts(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a daemon with the Spark and the Kafka of the tests."""
    monkeypatch.setattr(rate, "MEASURED_S", 0.5)
    config = {
        "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "demo.queries"},
        "api": {"port": 0},
        "spark": {"checkpoint_dir": str(tmp_path), "warm_up_s": 0},
        "streams": {"demo": {**demo_run.FLIGHTS, "topic": "demo-flights"}},
    }
    daemon = Daemon(parse_config(config), spark=spark)
    try:
        daemon.start()
        with Client(daemon.url) as client:
            check_whole(demo_run.demonstrate(client, spark))
    finally:
        daemon.stop()


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_the_command_starts_all_it_needs_and_leaves_nothing(tmp_path: Path) -> None:
    """With a Kafka, a Spark and a daemon that it starts itself."""
    command = [sys.executable, "-c", "from cli.main import main; main()", "demo", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check_whole(json.loads(done.stdout))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("as_json", [False, True])
def test_a_topic_that_differs_is_named_and_ends_it_with_1(
    run: Run, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    topics = [
        {
            "query": query_id,
            "where": "n > 1",
            "topic": f"asc.{query_id}",
            **compare([{"source": "s-0-5"}], ROW_OF, rows),
        }
        for query_id, rows in (("late", Counter([0])), ("lost", Counter([0, 1])))
    ]
    report = {
        "agrees": False,
        "topics": topics,
        "shown": {"query": demo_run.SHOWN_QUERY, "records": [], "explanation": ""},
        "first": {"records": 3, "deliveries": 2, "publishing_s": 0.1, "until_last_delivery_s": 0.2},
        "throughput": None,
    }
    monkeypatch.setattr(demo_run, "run_demo", lambda: report)
    result = run("demo", "--json") if as_json else run("demo")
    assert result.exit_code == 1
    if as_json:
        assert json.loads(result.stdout) == report
        return
    rows = {line.split()[0]: line.split()[1:4] for line in result.stdout.splitlines() if line.startswith("asc.")}
    assert rows["asc.late"] == ["1", "1", "yes"]
    assert rows["asc.lost"] == ["1", "2", "no"]
    assert result.stdout.splitlines()[-1].startswith("FAILED: not every topic holds exactly")
