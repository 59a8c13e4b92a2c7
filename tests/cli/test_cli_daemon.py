"""The commands against a real daemon: registry, publish, subscribe, and what they say when refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from broker.config.config import parse_config
from broker.config.sections import KafkaConfig
from broker.daemon.daemon import Daemon
from broker.kafka.cluster import KafkaCluster
from cli.client import Client
from cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

SCHEMA = "flight INT, delay INT, dest STRING"
CSV = "flight,delay,dest\n1,75,SFO\n2,,LAX\n3,5,SFO\n4,90,ORD\n"


class Asc:
    """The command line with the address of one daemon."""

    def __init__(self, server: str) -> None:
        self.server = server

    def __call__(self, *arguments: object, stdin: str | None = None) -> Result:
        return CliRunner().invoke(
            main, [str(argument) for argument in arguments], input=stdin, env={"ASC_SERVER": self.server}
        )

    def json(self, *arguments: object) -> Any:
        result = self(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def received(self, topic: str, count: int) -> list[dict[str, Any]]:
        result = self("subscribe", topic, "--from-beginning", "--max", count, "--json")
        assert result.exit_code == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def asc(spark: SparkSession, kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asc]:
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "cli.queries"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(tmp_path_factory.mktemp("checkpoint"))},
            "streams": {
                "flights": {"topic": "cli-flights", "format": "json", "schema": SCHEMA, "starting_offsets": "earliest"},
                "lines": {"topic": "cli-lines", "format": "csv", "schema": SCHEMA, "starting_offsets": "earliest"},
            },
        }
    )
    daemon = Daemon(config, spark=spark)
    daemon.start()
    try:
        yield Asc(daemon.url)
    finally:
        daemon.stop()


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    path = tmp_path / "flights.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


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
    dead = next(s["dead_letter"] for s in asc.json("status")["streams"] if s["name"] == "flights")
    reason = "value is not a JSON record of the stream's schema"
    (record,) = asc.received(dead, 1)
    assert (record["error"], record["queries"]) == (reason, [])
    line = asc("subscribe", dead, "--from-beginning", "--max", 1).stdout
    assert line == f'[error: {reason}] {{"flight": "x"}}\n'


def test_columns_that_file_and_schema_do_not_share_are_told(asc: Asc, tmp_path: Path) -> None:
    pq.write_table(pa.table({"Flight": [1], "delay": [2], "gate": ["A"]}), tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("Flight,delay,gate\n1,2,A\n", encoding="utf-8")
    for name in ("rows.parquet", "rows.csv"):
        published = asc("publish", "--stream", "flights", tmp_path / name)
        assert published.stdout == "1 record published to cli-flights\n"
        assert published.stderr.splitlines() == [
            "warning: no predicate can name what the stream's schema lacks: gate",
            "warning: NULL in every record, for the file lacks it: dest",
        ]


def test_a_group_goes_on_where_it_left_off(asc: Asc, flights: Path) -> None:
    assert asc("query", "add", "unknown", "--where", "delay IS NULL", "--stream", "flights").exit_code == 0
    assert asc("publish", "--stream", "flights", flights).exit_code == 0
    assert asc("publish", "--stream", "flights", flights).exit_code == 0
    arguments = ["subscribe", "asc.unknown", "--from-beginning", "--group", "cli", "--max", "1", "--json"]
    offsets = [json.loads(asc(*arguments).stdout)["offset"] for _ in range(2)]
    assert offsets == [0, 1]


def test_parquet_into_a_csv_stream(asc: Asc, tmp_path: Path) -> None:
    assert asc("query", "add", "all-lines", "--where", "flight >= 0", "--stream", "lines").exit_code == 0
    texts = ["plain", 'say "hi", twice', " padded ", "back\\slash", "æøå", "NULL"]
    table = pa.table(
        {
            "dest": pa.array([*texts, None]),
            "flight": pa.array(range(len(texts) + 1), pa.int64()),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    for name, where in {f"text-{i}": f"dest = {json.dumps(text)}" for i, text in enumerate(texts)}.items():
        assert asc("query", "add", name, "--stream", "lines", "--topic", "lines-out", "--where", where).exit_code == 0
    where = "dest IS NULL"
    assert asc("query", "add", "nothing", "--stream", "lines", "--topic", "lines-out", "--where", where).exit_code == 0
    assert asc.json("publish", "--stream", "lines", tmp_path / "rows.parquet")["records"] == len(texts) + 1
    received = asc.received("lines-out", len(texts) + 1)
    assert [record["queries"] for record in received] == [*([f"text-{i}"] for i in range(len(texts))), ["nothing"]]


def test_the_life_of_a_query(asc: Asc) -> None:
    assert asc("query", "add", "life", "--where", "delay > 1", "--stream", "flights").exit_code == 0
    registered = asc.json("query", "show", "life")
    assert (registered["where"], registered["topic"], registered["paused"]) == ("delay > 1", "asc.life", False)
    assert "delay > 1" in asc("query", "show", "life").stdout
    assert (
        asc.json("query", "add", "life", "--where", "delay > 2", "--stream", "flights")["query"]["where"] == "delay > 2"
    )
    assert asc("query", "pause", "life").stdout.startswith("paused life, version ")
    assert asc.json("query", "show", "life")["paused"]
    assert asc("query", "resume", "life").exit_code == 0
    assert not asc.json("query", "show", "life")["paused"]
    assert asc("query", "remove", "life").stdout.startswith("removed life, version ")
    gone = asc("query", "show", "life")
    assert (gone.exit_code, len(gone.stderr.splitlines())) == (1, 1)
    assert "unknown query 'life'" in gone.stderr


def test_removing_goes_on_after_an_unknown_id(asc: Asc) -> None:
    assert asc("query", "add", "one", "--where", "delay > 1", "--stream", "flights").exit_code == 0
    result = asc("query", "remove", "nope", "one")
    assert result.exit_code == 1
    assert "unknown query 'nope'" in result.stderr
    assert "removed one" in result.stdout


def test_listing_by_prefix_and_label(asc: Asc) -> None:
    for name, team in (("list-a", "ops"), ("list-b", "sales")):
        label = f"team={team}"
        assert asc("query", "add", name, "--where", "delay > 1", "--stream", "flights", "--label", label).exit_code == 0
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "list-")] == ["list-a", "list-b"]
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "list-", "--label", "team=ops")] == ["list-a"]
    assert asc("query", "pause", "list-b").exit_code == 0
    table = [line.split() for line in asc("query", "list", "--prefix", "list-").stdout.splitlines()]
    assert table[0] == ["id", "stream", "topic", "state", "labels", "where"]
    assert [(line[0], line[3]) for line in table[1:]] == [("list-a", "running"), ("list-b", "paused")]


def test_a_bulk_file_is_all_or_none_or_goes_on(asc: Asc, tmp_path: Path) -> None:
    path = tmp_path / "queries.ndjson"
    queries = [("bulk-a", "delay > 1"), ("bulk-b", "dely > 1"), ("bulk-a", "delay > 2"), ("bulk-c", "flight = 1")]
    path.write_text(
        "\n".join(json.dumps({"id": name, "where": where, "stream": "flights"}) for name, where in queries),
        encoding="utf-8",
    )
    refused = asc("query", "apply", path)
    assert refused.exit_code == 1
    errors = refused.stderr.splitlines()
    assert [line.split(":")[1] for line in errors] == [" line 2 (bulk-b)", " line 3 (bulk-a)"]
    assert "did you mean 'delay'?" in errors[0]
    assert "duplicate id" in errors[1]
    assert asc.json("query", "list", "--prefix", "bulk-") == []
    kept = asc("query", "apply", "--keep-going", path)
    assert kept.exit_code == 1
    assert kept.stdout.startswith("2 registered, 2 refused, version ")
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "bulk-")] == ["bulk-a", "bulk-c"]
    from_stdin = asc("query", "apply", "-", stdin='{"id": "bulk-d", "where": "delay = 3", "stream": "flights"}\n')
    assert from_stdin.exit_code == 0
    assert from_stdin.stdout.startswith("1 registered, 0 refused")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--where", "dely > 1", "--stream", "flights"], "did you mean 'delay'?"),
        (["--where", "delay > 1", "--stream", "trains"], "unknown stream 'trains'"),
        (["--where", "delay > 1"], "name one of flights, lines"),
        (["--where", "delay > 1", "--stream", "flights", "--topic", "cli-flights"], "source topic"),
        (["--where", "delay > 1", "--stream", "flights", "--topic", "cli.queries"], "registry"),
        (["--where", "delay > 1", "--stream", "flights", "--topic", "a b"], "destination topic 'a b'"),
        (["--where", "delay > 1", "--stream", "flights", "--expires-at", "tomorrow"], "expires_at 'tomorrow'"),
    ],
)
def test_a_refused_registration_is_one_line_and_changes_nothing(asc: Asc, arguments: list[str], said: str) -> None:
    result = asc("query", "add", "refused", *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert said in result.stderr.splitlines()[0]
    assert asc.json("query", "list", "--prefix", "refused") == []


def test_the_caret_comes_with_the_answer(asc: Asc) -> None:
    result = asc("query", "add", "refused", "--where", "dest = 'SFO' AND dely > 1", "--stream", "flights")
    assert result.stderr.splitlines()[1:] == ["  dest = 'SFO' AND dely > 1", "                   ^^^^"]


def test_an_illegal_id_is_one_line(asc: Asc) -> None:
    result = asc("query", "add", "late flights", "--where", "delay > 1", "--stream", "flights")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "query id 'late flights'" in result.stderr


def test_a_warning_is_printed_and_the_query_registered(asc: Asc) -> None:
    result = asc("query", "add", "never", "--where", "delay > 2 AND delay < 1", "--stream", "flights")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")


def test_explain_follows_a_tuple(asc: Asc) -> None:
    assert (
        asc("query", "add", "explained", "--where", "delay > 60 AND dest = 'SFO'", "--stream", "flights").exit_code == 0
    )
    constructs = asc("query", "explain", "explained")
    assert constructs.exit_code == 0, constructs.stderr
    assert "delay" in constructs.stdout
    way = asc("query", "explain", "explained", "--tuple", '{"flight": 1, "delay": 75, "dest": "SFO"}')
    assert way.exit_code == 0, way.stderr
    assert len(way.stdout) > len(constructs.stdout)
    assert way.stderr == ""
    misspelt = asc("query", "explain", "explained", "--tuple", '{"Delay": 75}')
    assert misspelt.stderr == "warning: field 'Delay': not in the stream's schema, left out\n"
    assert asc.json("query", "explain", "explained")["text"] in constructs.stdout


def test_explain_says_what_the_attributes_of_a_record_are_taken_for(asc: Asc) -> None:
    where = (
        "length(_KEY) > 1 AND `_offset` < 9 AND _headers['_partition'] = 'x' OR _topic = 'cli-flights' AND delay > 1"
    )
    assert asc("query", "add", "of-record", "--where", where, "--stream", "flights").exit_code == 0
    way = asc("query", "explain", "of-record", "--tuple", '{"delay": 2}')
    assert way.exit_code == 0, way.stderr
    assert "\naccepted by conjunct" in way.stdout
    assert way.stderr.splitlines() == [
        f"warning: '{name}' is followed as {value}: a tuple has no record around it"
        for name, value in (("_key", "NULL"), ("_offset", "0"), ("_headers", "NULL"))
    ]
    assert asc("query", "explain", "of-record").stderr == ""


def test_checking_offline_and_by_the_daemon_give_the_same(asc: Asc, tmp_path: Path) -> None:
    schema = tmp_path / "flights.ddl"
    schema.write_text(SCHEMA, encoding="utf-8")
    where = "delay > 60 AND dest = 'SFO' OR length(dest) > 3"
    client = Client(asc.server)
    try:
        answered = client.check(where, "flights")
    finally:
        client.close()
    assert asc.json("query", "check", "--where", where, "--schema", schema) == answered


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


def test_status_names_the_streams(asc: Asc) -> None:
    shown = asc("status")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith(f"ready at {asc.server}")
    found = asc.json("status", "--wait", 5)
    assert {stream["name"]: stream["topic"] for stream in found["streams"]} == {
        "flights": "cli-flights",
        "lines": "cli-lines",
    }


def test_publishing_what_cannot_be_published_is_one_line(asc: Asc, flights: Path, tmp_path: Path) -> None:
    odd = tmp_path / "rows.xls"
    odd.write_bytes(b"n")
    for arguments, said in (
        (["--stream", "trains", flights], "unknown stream 'trains'"),
        ([flights], "flights, lines"),
        (["--stream", "flights", "--key", "city", flights], "no such column for --key 'city'"),
        (["--stream", "flights", odd], "unknown format of file"),
    ):
        result = asc("publish", *arguments)
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
        assert said in result.stderr


def test_subscribing_to_an_unknown_topic_is_one_line(asc: Asc) -> None:
    result = asc("subscribe", "asc.no-such-topic", "--max", 1)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "unknown topic 'asc.no-such-topic'" in result.stderr
