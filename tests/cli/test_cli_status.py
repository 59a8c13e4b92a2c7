"""``asc status`` and the commands that ask the daemon where Kafka is: what they make of what an address answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import cli.kafka_client
from cli.main import main

STREAM = {"name": "s", "topic": "s", "format": "json", "schema": "n INT", "queries": 0}
STREAMS = {"streams": [STREAM], "kafka": {"bootstrap_servers": "127.0.0.1:9"}}
NOT_READY = (503, json.dumps({"ready": False, "reason": "starting"}))
READY = (200, json.dumps({"ready": True, "reason": None}))


class Address(ThreadingHTTPServer):
    """Answers each path with its answers, one after the other, the last one again and again; None: hangs up."""

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
        self.server.asked.append(self.path)
        answers = self.server.answers[self.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is not None:
            self.send_response(answer[0])
            self.end_headers()
            self.wfile.write(answer[1].encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[Address]:
    with Address() as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield listener
        listener.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here has a Kafka that would answer if it were given time."""
    monkeypatch.setattr(cli.kafka_client, "ANSWERS_WITHIN_MS", 1_000)


def run(address: Address, *arguments: Any) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments), "--server", address.url])


def test_a_daemon_that_is_not_ready_says_why(address: Address) -> None:
    address.answers["/readyz"] = [NOT_READY]
    result = run(address, "status")
    assert (result.exit_code, result.stdout) == (1, f"not ready at {address.url}: starting\n")
    result = run(address, "status", "--json")
    assert (result.exit_code, json.loads(result.stdout)["ready"]) == (1, False)


def test_waiting_goes_on_where_nothing_answers_or_the_daemon_starts(address: Address) -> None:
    address.answers["/readyz"] = [None, NOT_READY, READY]
    result = run(address, "status", "--wait", 60)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"ready at {address.url}, Kafka at 127.0.0.1:9\n")
    assert address.asked.count("/readyz") == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, "<html>"), "no JSON object answered by"),
        ((200, "{}"), "answers 200: is it the daemon's address?"),
        ((404, '{"detail": "Not Found"}'), "answers 404: is it the daemon's address?"),
        ((401, json.dumps({"error": {"message": "bearer token: give it"}})), "bearer token: give it"),
    ],
)
def test_waiting_ends_at_an_address_that_is_no_daemon_s(address: Address, answer: tuple[int, str], said: str) -> None:
    address.answers["/readyz"] = [answer]
    result = run(address, "status", "--wait", 600)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert said in result.stderr
    assert len(address.asked) == 1


def test_waiting_ends_at_a_token_that_is_refused(address: Address) -> None:
    address.answers["/readyz"] = [READY]
    address.answers["/v1/streams"] = [(401, json.dumps({"error": {"message": "bearer token: give it"}}))]
    result = run(address, "status", "--wait", 600)
    assert (result.exit_code, result.stderr) == (1, "error: bearer token: give it\n")
    assert len(address.asked) == 2


@pytest.mark.parametrize("command", ["publish", "subscribe"])
def test_a_kafka_that_does_not_answer_is_one_line(address: Address, command: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("n\n1\n", encoding="utf-8")
    result = run(address, command, rows if command == "publish" else "asc.late")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
    assert result.stderr.startswith("error: Kafka refuses or does not answer at '127.0.0.1:9': is it running? ")


def test_an_empty_file_is_one_line(address: Address, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_bytes(b"")
    result = run(address, "publish", rows)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
