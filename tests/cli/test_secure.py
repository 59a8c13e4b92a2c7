"""The daemon and the commands on a Kafka that demands TLS and a login: registered, published, received."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.config.config import load_config

if TYPE_CHECKING:
    from conftest import Asc, SecureKafka
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def config_file(secure_kafka: SecureKafka, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secured")
    options = "\n".join(f"{json.dumps(key)} = {json.dumps(text)}" for key, text in secure_kafka.options.items())
    path = folder / "asc.toml"
    path.write_text(
        f"""
        [kafka]
        bootstrap_servers = "{secure_kafka.bootstrap_servers}"
        [kafka.options]
        {options}
        [api]
        port = 0
        [spark]
        checkpoint_dir = "checkpoint"
        warm_up_s = 0
        [streams.secured]
        topic = "secured-source"
        format = "json"
        schema = "n INT"
        starting_offsets = "earliest"
        """,
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def secured(config_file: Path, spark: SparkSession, asc_at: type[Asc]) -> Iterator[Asc]:
    from broker.daemon.daemon import Daemon

    daemon = Daemon(load_config(config_file), spark=spark)
    daemon.start()
    yield asc_at(daemon.url)
    daemon.stop()


def test_what_is_registered_and_published_is_received(secured: Asc, config_file: Path, tmp_path: Path) -> None:
    assert secured("query", "add", "large", "--where", "n > 5").exit_code == 0
    rows = tmp_path / "rows.csv"
    rows.write_text("n\n4\n6\n7\nx\n", encoding="utf-8")
    without = secured("publish", rows)
    assert (without.exit_code, without.stdout, len(without.stderr.splitlines())) == (1, "", 1)
    assert "is spoken to by SASL_SSL: name the file that has its [kafka.options] with --config" in without.stderr
    published = secured("publish", "--config", config_file, rows)
    assert published.stdout == "4 records published to secured-source\n", published.stderr
    received = secured("subscribe", "large", "--config", config_file, "--from-beginning", "--max", 2, "--json")
    assert received.exit_code == 0, received.stderr
    values = [json.loads(line)["value"] for line in received.stdout.splitlines()]
    assert values == ['{"n":6}', '{"n":7}']
    letters = secured.json("dead-letter", "list", "--config", config_file)["dead_letters"]
    assert [letter["value"] for letter in letters] == ['{"n":"x"}']


def test_a_wrong_password_is_one_line(secured: Asc, tmp_path: Path, secure_kafka: SecureKafka) -> None:
    wrong = {**secure_kafka.options, "sasl.plain.password": "wrong"}
    options = tmp_path / "options.toml"
    lines = "\n".join(f"{json.dumps(key)} = {json.dumps(text)}" for key, text in wrong.items())
    options.write_text(f"[kafka.options]\n{lines}\n", encoding="utf-8")
    (tmp_path / "rows.csv").write_text("n\n1\n", encoding="utf-8")
    refused = secured("publish", "--config", options, tmp_path / "rows.csv")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1), refused.stderr
    assert refused.stderr.startswith("error: kafka.options 'sasl.plain.username' 'asc': Kafka at ")
    assert "wrong" not in refused.stderr
