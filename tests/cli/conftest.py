"""The command line as a user has it: offline, against a real daemon, against an address that answers what it is told.

The commands see nothing of the environment that the tests happen to run in.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from click.testing import CliRunner, Result

from broker.config.config import parse_config
from cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

VARIABLES = ("ASC_TOKEN", "ASC_CA_FILE", "ASC_SERVER", "ASC_DEBUG")


@pytest.fixture(autouse=True, scope="module")
def no_variables_of_asc() -> Iterator[None]:
    """Before the daemon that the modules share, so that it starts without them as well."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def run() -> Callable[..., Result]:
    """A command in this process, with what it printed and its exit code."""
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


SCHEMA = "flight INT, delay INT, dest STRING"


class Asc:
    """The command line with the address of one daemon."""

    schema = SCHEMA

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


@pytest.fixture(scope="session")
def asc_at() -> type[Asc]:
    """The command line, for a daemon of the test's own."""
    return Asc


@pytest.fixture(scope="session")
def asc(spark: SparkSession, kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asc]:
    """One daemon with a JSON and a CSV stream, for all modules of this folder."""
    from broker.daemon.daemon import Daemon

    config = {
        "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "cli.queries"},
        "api": {"port": 0},
        "spark": {"checkpoint_dir": str(tmp_path_factory.mktemp("checkpoint")), "warm_up_s": 0},
        "streams": {
            "flights": {"topic": "cli-flights", "format": "json", "schema": SCHEMA, "starting_offsets": "earliest"},
            "lines": {"topic": "cli-lines", "format": "csv", "schema": SCHEMA, "starting_offsets": "earliest"},
            "times": {
                "topic": "cli-times",
                "format": "json",
                "schema": "at TIMESTAMP",
                "starting_offsets": "earliest",
                "options": {"timestampFormat": "dd/MM/yyyy HH:mm:ss", "timeZone": "Europe/Oslo"},
            },
        },
        "layers": {"zones": {"topic": "cli-zones", "properties": "high INT"}},
    }
    daemon = Daemon(parse_config(config), spark=spark)
    daemon.start()
    yield Asc(daemon.url)
    daemon.stop()


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    """Four rows of the daemon's schema."""
    path = tmp_path / "flights.csv"
    path.write_text("flight,delay,dest\n1,75,SFO\n2,,LAX\n3,5,SFO\n4,90,ORD\n", encoding="utf-8")
    return path


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "flights.ddl"
    path.write_text("arr_delay INT, dep_time INT, dest STRING, at TIMESTAMP", encoding="utf-8")
    return path


STREAM = {
    **{"name": "s", "topic": "s", "format": "json", "schema": "n INT", "queries": 0},
    "dead_letter_topic": "s.dead-letter",
}
STREAMS = {"streams": [STREAM], "kafka": {"bootstrap_servers": "127.0.0.1:9"}}


@contextmanager
def listening(server: ThreadingHTTPServer) -> Iterator[None]:
    """Serve until the end, which is noticed at once and not after the half second that is the default."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Address(ThreadingHTTPServer):
    """Answers each path with its answers, one after the other, the last one again and again; None: hangs up. 404 for
    any other path.

    Without others it has one stream, and names a Kafka that does not answer.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.answers: dict[str, list[tuple[int, str] | None]] = {
            "/v1/streams": [(200, json.dumps(STREAMS))],
            "/v1/plan": [(200, json.dumps({"streams": {}}))],
        }
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Address

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(self.path)
        answers = self.server.answers.get(path, [(404, json.dumps({"error": {"message": f"nothing at {path}"}}))])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is not None:
            self.send_response(answer[0])
            self.end_headers()
            self.wfile.write(answer[1].encode())

    def do_PUT(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[Address]:
    address = Address()
    with listening(address):
        yield address


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A proxy that the environment names, and that answers 501 to whatever goes through it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    with listening(server):
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.server_port}")
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a Kafka that would not answer either if it were given time."""
    monkeypatch.setattr("cli.client.KAFKA_ANSWERS_WITHIN_S", 0.3)


@pytest.fixture
def settings_of_spark(spark: SparkSession) -> Iterator[None]:
    """The command sets up the session that the tests share: it is put back as it was."""
    names = ("spark.sql.adaptive.enabled", "spark.sql.files.maxPartitionBytes")
    before = {name: spark.conf.get(name) for name in names}
    yield
    for name, value in before.items():
        if value is not None:
            spark.conf.set(name, value)


class Files:
    """Four rows as CSV and NDJSON, their schema and five predicates; ``asc match`` over them."""

    rows: tuple[dict[str, Any], ...] = (
        {"dest": "SFO", "flight": 1, "delay": 75},
        {"dest": "LAX", "flight": 2, "delay": None},
        {"dest": "SFO", "flight": 3, "delay": 5},
        {"dest": "ORD", "flight": 4, "delay": 90},
    )
    counts: ClassVar[dict[str, int]] = {"late": 2, "bay": 2, "unknown": 1, "never": 0, "even": 0}

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def match(self, *arguments: object) -> Result:
        """By Spark, unless the engine is left to the command."""
        common = ["match", "--queries", self / "queries.json", "--schema", self / "flights.ddl", "--spark"]
        return CliRunner().invoke(main, [str(argument) for argument in [*common, *arguments]])

    def match_json(self, *arguments: object) -> Any:
        result = self.match(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


QUERIES = {
    "late": "delay > 60",
    "bay": "dest = 'SFO'",
    "unknown": "delay IS NULL",
    "never": "delay < 0",
    "even": "seats > 1",
}


@pytest.fixture
def files(tmp_path: Path, spark: SparkSession, settings_of_spark: None) -> Files:
    rows = Files.rows
    (tmp_path / "flights.ddl").write_text("flight INT, delay INT, dest STRING, seats INT", encoding="utf-8")
    (tmp_path / "queries.json").write_text(json.dumps(QUERIES), encoding="utf-8")
    lines = [
        "dest,extra,flight,delay",
        *(f"{r['dest']},x,{r['flight']},{'' if r['delay'] is None else r['delay']}" for r in rows),
    ]
    (tmp_path / "flights.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "flights.ndjson.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return Files(tmp_path)
