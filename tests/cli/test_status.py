"""``asc status``: of a daemon that runs, of one that is not ready, and of what is none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING

import pytest
from click.testing import Result

if TYPE_CHECKING:
    from conftest import Address, Asc

Run = Callable[..., Result]
NOT_READY = (503, json.dumps({"ready": False, "reason": "starting"}))
READY = (200, json.dumps({"ready": True, "reason": None}))


def test_a_daemon_that_is_not_ready_says_why(run: Run, address: Address) -> None:
    address.answers["/readyz"] = [NOT_READY]
    address.answers["/v1/streams"] = [(503, json.dumps({"error": {"message": "daemon not ready"}}))]
    result = run("status", "--server", address.url)
    assert (result.exit_code, result.stdout) == (1, f"not ready at {address.url}: starting\n")
    result = run("status", "--json", "--server", address.url)
    assert (result.exit_code, json.loads(result.stdout)["ready"]) == (1, False)


def test_a_daemon_whose_stream_failed_says_what_it_runs_all_the_same(run: Run, address: Address) -> None:
    address.answers["/readyz"] = [(503, json.dumps({"ready": False, "reason": "stream 's': started again"}))]
    result = run("status", "--server", address.url)
    assert result.exit_code == 1
    said, _, row = result.stdout.splitlines()
    assert said == f"not ready at {address.url}: stream 's': started again"
    assert row.split() == ["s", "0", "0", "-", "-", "-", "-", "0", "s", "json", "-", "-", "0", "-"]
    found = json.loads(run("status", "--json", "--server", address.url).stdout)
    assert [stream["name"] for stream in found["streams"]] == ["s"]


def test_waiting_goes_on_where_nothing_answers_or_the_daemon_starts(run: Run, address: Address) -> None:
    address.answers["/readyz"] = [None, NOT_READY, READY]
    result = run("status", "--wait", 60, "--server", address.url)
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
def test_waiting_ends_at_an_address_that_is_no_daemon_s(
    run: Run, address: Address, answer: tuple[int, str], said: str
) -> None:
    address.answers["/readyz"] = [answer]
    result = run("status", "--wait", 600, "--server", address.url)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert said in result.stderr
    assert len(address.asked) == 1


@pytest.mark.parametrize("ready", [READY, NOT_READY])
def test_waiting_ends_at_a_token_that_is_refused(run: Run, address: Address, ready: tuple[int, str]) -> None:
    address.answers["/readyz"] = [ready]
    address.answers["/v1/streams"] = [(401, json.dumps({"error": {"message": "bearer token: give it"}}))]
    result = run("status", "--wait", 600, "--server", address.url)
    assert (result.exit_code, result.stderr) == (1, "error: bearer token: give it\n")
    assert len(address.asked) == 2


@contextmanager
def watched(url: str, *options: str) -> Iterator[IO[str]]:
    """The lines of 'asc status --watch' in a process of its own; Ctrl-C ends it quietly, with 0."""
    command = [sys.executable, "-c", "from cli.main import main; main()", "status", "--watch", "0.5", "--server", url]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
            assert (process.returncode, errors) == (0, "")
        finally:
            process.kill()


def test_watching_goes_on_while_a_daemon_is_started_again(address: Address) -> None:
    failed = (500, json.dumps({"error": {"message": "it failed"}}))
    address.answers["/readyz"] = [READY, None, NOT_READY, failed, READY]
    with watched(address.url) as lines:
        firsts = [line[14:] for line in islice((line for line in lines if " UTC  " in line[:16]), 5)]
    assert firsts[0] == firsts[4] == f"ready at {address.url}, Kafka at 127.0.0.1:9\n"
    assert firsts[1].startswith(f"not ready at {address.url}: the connection ends without an answer")
    assert firsts[2:4] == [f"not ready at {address.url}: starting\n", f"not ready at {address.url}: it failed\n"]


def test_watching_for_programs_is_an_object_a_line(address: Address) -> None:
    address.answers["/readyz"] = [READY]
    with watched(address.url, "--json") as lines:
        first, second = (json.loads(line) for line in islice(lines, 2))
    assert [stream["name"] for stream in first["streams"]] == ["s"]
    assert first["at"] <= second["at"]


def test_watching_ends_at_a_token_that_is_refused(run: Run, address: Address) -> None:
    address.answers["/readyz"] = [READY]
    address.answers["/v1/streams"] = [(401, json.dumps({"error": {"message": "bearer token: give it"}}))]
    result = run("status", "--watch", "--server", address.url)
    assert (result.exit_code, result.stderr) == (1, "error: bearer token: give it\n")


@pytest.mark.parametrize("options", [["--watch", "0.1"], ["--watch", "soon"], ["--watch", "5", "--wait", "9"]], ids=str)
def test_watching_too_often_or_waiting_as_well_is_wrong_use(run: Run, options: list[str]) -> None:
    assert run("status", *options, "--server", "http://127.0.0.1:9").exit_code == 2


def test_status_names_the_streams(asc: Asc) -> None:
    shown = asc("status")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith(f"ready at {asc.server}")
    found = asc.json("status", "--wait", 5)
    assert {stream["name"]: stream["topic"] for stream in found["streams"]} == {
        "flights": "cli-flights",
        "lines": "cli-lines",
        "times": "cli-times",
    }
