"""``asc status``: of a daemon that runs, of one that is not ready, and of what is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

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
    assert row.split()[:3] == ["s", "s", "json"]
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


def test_waiting_ends_at_a_token_that_is_refused(run: Run, address: Address) -> None:
    address.answers["/readyz"] = [READY]
    address.answers["/v1/streams"] = [(401, json.dumps({"error": {"message": "bearer token: give it"}}))]
    result = run("status", "--wait", 600, "--server", address.url)
    assert (result.exit_code, result.stderr) == (1, "error: bearer token: give it\n")
    assert len(address.asked) == 2


def test_dead_letters_and_queries_that_are_not_served_are_shown(run: Run, address: Address) -> None:
    stream = {"name": "s", "topic": "t", "format": "json", "queries": 7, "not_served": 2}
    reasons = [
        {"reason": "value is not a JSON record", "column": "n", "count": 1_200},
        {"reason": "value is empty", "column": None, "count": 1},
        *({"reason": f"reason {number}", "column": None, "count": number} for number in (9, 8, 7, 6, 5)),
    ]
    plan = {"dead_letters": {"total": 1_234, "reasons": reasons}, "monitor": {"tuples": 5_000, "evaluated": 5_000}}
    plan["phases"] = {"bind": 0.002, "run": 0.1504}
    plan["evaluation_errors"] = 1_300
    address.answers["/readyz"] = [READY]
    address.answers["/v1/streams"] = [
        (200, json.dumps({"streams": [stream], "kafka": {"bootstrap_servers": "127.0.0.1:9"}}))
    ]
    address.answers["/v1/plan"] = [(200, json.dumps({"streams": {"s": plan}}))]
    result = run("status", "--server", address.url)
    assert result.exit_code == 0, result.stderr
    assert "not served" in result.stdout
    assert "records since start  dead letters" in result.stdout
    assert result.stdout.splitlines()[-8:] == [
        "s: 1,200 dead letters: value is not a JSON record, column 'n'",
        "s: 1 dead letter: value is empty",
        *(f"s: {number} dead letters: reason {number}" for number in (9, 8, 7)),
        "s: 11 dead letters of 2 other reasons: --json has them",
        "s: 1,300 evaluation errors, each NULL to its query: 'asc query show ID' has the query's",
        "s: ms of a batch by phase: bind 2, run 150",
    ]


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
