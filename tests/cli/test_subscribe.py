"""``asc subscribe``: what arrives in the topics of the queries, record by record."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

from broker.access.secret import digest
from broker.config.config import parse_config
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from conftest import Address, Asc
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka


def test_register_publish_subscribe(asc: Asc, flights: Path) -> None:
    added = asc("query", "add", "late", "--where", "delay > 60", "--stream", "flights", "--label", "team=ops")
    assert (added.exit_code, added.stderr) == (0, "")
    assert added.stdout.startswith("registered late -> asc.late, version ")
    shared = ["--stream", "flights", "--topic", "asc.late"]
    assert asc("query", "add", "bay", "--where", "dest = 'SFO'", *shared).exit_code == 0
    published = asc("publish", "--stream", "flights", "--key", "dest", flights)
    assert published.stdout == "4 records published to cli-flights\n"
    records = asc.received("asc.late", 3)
    assert [(record["key"], json.loads(record["value"])["flight"], record["queries"]) for record in records] == [
        ("SFO", 1, ["bay", "late"]),
        ("SFO", 3, ["bay"]),
        ("ORD", 4, ["late"]),
    ]
    assert records[0]["source"].startswith("cli-flights-0-")
    lines = asc("subscribe", "asc.late", "--from-beginning", "--max", 1).stdout
    assert lines == '[bay, late] SFO {"flight":1,"delay":75,"dest":"SFO"}\n'


def test_a_dead_letter_shows_what_is_wrong_with_it(asc: Asc, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"flight": "x"}\n', encoding="utf-8")
    assert asc("publish", "--stream", "flights", bad).stdout == "1 record published to cli-flights\n"
    dead = next(s["dead_letter_topic"] for s in asc.json("status")["streams"] if s["name"] == "flights")
    reason = "value is not a JSON record of the stream's schema: column 'flight' holds no INT"
    # Other modules share the daemon, and may have dead letters before this one, of which some are no text.
    place = next(n for n in count(1) if asc.received(dead, n)[-1].get("value") == '{"flight": "x"}')
    record = asc.received(dead, place)[-1]
    assert (record["error"], record["queries"]) == (reason, [])
    lines = asc("subscribe", dead, "--from-beginning", "--max", place).stdout.splitlines()
    assert lines[-1] == f'[error: {reason}] {{"flight": "x"}}'


def test_a_group_goes_on_where_it_left_off(asc: Asc, flights: Path) -> None:
    assert asc("query", "add", "unknown", "--where", "delay IS NULL", "--stream", "flights").exit_code == 0
    assert asc("publish", "--stream", "flights", flights).exit_code == 0
    assert asc("publish", "--stream", "flights", flights).exit_code == 0
    arguments = ["subscribe", "asc.unknown", "--from-beginning", "--group", "cli", "--max", "1", "--json"]
    offsets = [json.loads(asc(*arguments).stdout)["offset"] for _ in range(2)]
    assert offsets == [0, 1]


def test_a_query_is_known_by_its_id(asc: Asc, flights: Path) -> None:
    shared = ["--where", "delay > 60", "--stream", "flights"]
    assert asc("query", "add", "cargo", *shared, "--topic", "cli-cargo").exit_code == 0
    assert asc("publish", "--stream", "flights", flights).exit_code == 0
    found = asc("subscribe", "cargo", "--from-beginning", "--max", 2)
    # A slow machine has a second line: it waits for more.
    assert found.stderr.splitlines()[0] == "reading 'cli-cargo', to which query 'cargo' delivers"
    assert len(found.stdout.splitlines()) == 2
    assert asc("subscribe", "cli-cargo", "--from-beginning", "--max", 1).stderr == ""
    # The topic wins where there is one, and it is told.
    assert asc("query", "add", "cli-cargo", *shared, "--topic", "cli-other", "--paused").exit_code == 0
    both = asc("subscribe", "cli-cargo", "--exit")
    assert both.stderr == "'cli-cargo' is a topic; the query of that id delivers to 'cli-other'\n"
    assert both.stdout == found.stdout
    assert asc("query", "pause", "cargo").exit_code == 0
    assert "(it is paused)" in asc("subscribe", "cargo", "--exit").stderr
    assert asc("query", "remove", "cargo", "cli-cargo").exit_code == 0
    gone = asc("subscribe", "cargo", "--exit")
    assert (gone.exit_code, gone.stderr.startswith("error: unknown topic 'cargo': ")) == (1, True)


def test_a_token_with_a_prefix_reads_a_topic(
    asc_at: type[Asc], spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from broker.daemon.daemon import Daemon

    secret = "0123456789abcdef" * 2
    (tmp_path / "tokens.toml").write_text(f'[tokens.ops]\nsha256 = "{digest(secret)}"\nid_prefix = "ops-"\n')
    config = {
        "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "cli.queries-of-tokens"},
        "api": {"port": 0, "tokens_file": str(tmp_path / "tokens.toml")},
        "spark": {"checkpoint_dir": str(tmp_path / "checkpoint"), "warm_up_s": 0},
        "streams": {"limited": {"topic": "cli-limited", "format": "json", "schema": "n INT"}},
    }
    monkeypatch.setenv("ASC_TOKEN", secret)
    daemon = Daemon(parse_config(config), spark=spark)
    daemon.start()
    try:
        found = asc_at(daemon.url)("subscribe", "cli-limited", "--exit")
    finally:
        daemon.stop()
    assert (found.exit_code, found.output) == (0, "")


def test_it_leaves_at_the_end_that_every_partition_has_when_it_begins(asc: Asc, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaProducer

    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=3))
    cluster.ensure_topics(["cli-ends", "cli-empty"])
    cluster.close()
    assert asc("subscribe", "cli-empty", "--exit").output == ""
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id="cli-ends")
    producer.init_transactions()
    # Each partition ends with a mark of the transaction, one with records that nobody is to see.
    producer.begin_transaction()
    for number in range(40):
        producer.send("cli-ends", value=b"%d" % number, partition=number % 2)
    producer.commit_transaction()
    producer.begin_transaction()
    producer.send("cli-ends", value=b"aborted", partition=1).get(timeout=30)
    producer.abort_transaction()
    producer.close()
    for _ in range(2):
        values = [line.partition("] ")[2] for line in asc("subscribe", "cli-ends", "--exit").stdout.splitlines()]
        assert sorted(map(int, values)) == list(range(40))
    grouped = ["subscribe", "cli-ends", "--exit", "--group", "cli-ends"]
    assert len(asc(*grouped, "--max", 15).stdout.splitlines()) == 15
    assert len(asc(*grouped).stdout.splitlines()) == 25
    assert asc(*grouped).stdout == ""


def test_headers_of_others_do_not_stop_a_subscription(asc: Asc, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaProducer

    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics(["cli-foreign"])
    cluster.close()
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    hop = [("asc-query", b"\xff"), ("asc-source", b"s-0-1")]
    producer.send("cli-foreign", value=b"1", headers=hop)
    producer.send("cli-foreign", value=b"2", headers=[*hop, ("asc-query", b"late"), ("asc-source", b"t-0-2")])
    producer.close()
    records = asc.received("cli-foreign", 2)
    assert [(r["queries"], r["source"]) for r in records] == [(["\ufffd"], "s-0-1"), (["late"], "t-0-2")]
    assert asc("subscribe", "cli-foreign", "--from-beginning", "--max", 1).stdout == "[\ufffd] 1\n"


def test_what_was_delivered_twice_is_printed_once(asc: Asc, kafka: EmbeddedKafka) -> None:
    from kafka import KafkaProducer

    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics(["cli-twice"])
    cluster.close()
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for number in (1, 2, 2, 1, 3):
        headers = [("asc-query", b"late"), ("asc-source", b"s-0-%d" % number)]
        producer.send("cli-twice", value=b"%d" % number, headers=headers)
    for identity in (b"late:enter", b"late:enter", b"late:exit"):
        headers = [("asc-event", identity), ("asc-query", b"late"), ("asc-source", b"s-0-3")]
        producer.send("cli-twice", value=b"3", headers=headers)
    producer.close()
    once = "[late] 1\n[late] 2\n" + "[late] 3\n" * 3
    assert asc("subscribe", "cli-twice", "--exit").stdout == once
    assert asc("subscribe", "cli-twice", "--from-beginning", "--group", "cli-twice", "--max", 5).stdout == once
    assert asc("subscribe", "cli-twice", "--exit", "--group", "cli-twice").stdout == ""


def test_subscribing_to_an_unknown_topic_is_one_line(asc: Asc) -> None:
    result = asc("subscribe", "asc.no-such-topic", "--max", 1)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "unknown topic 'asc.no-such-topic'" in result.stderr


@pytest.mark.usefixtures("impatient")
def test_a_kafka_that_does_not_answer_is_one_line(run: Callable[..., Result], address: Address) -> None:
    result = run("subscribe", "asc.late", "--server", address.url)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
    assert result.stderr.startswith("error: Kafka '127.0.0.1:9': does not answer: check the address and that it runs (")
