"""``asc trace`` against a real daemon: a record that was delivered, one that was not, one that nobody can decode."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

from cli.trace import _DEEPEST

if TYPE_CHECKING:
    from conftest import Asc

DELIVERED = "trace-delivered"


@pytest.fixture(scope="module")
def delivered(asc: Asc, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A record of the source topic that the daemon has delivered to a query, as a consumer has it."""
    query = ["--where", "delay > 4000 AND dest = 'TRC'", "--stream", "flights"]
    assert asc("query", "add", DELIVERED, *query).exit_code == 0
    assert asc("query", "add", "trace-other", "--where", "delay < -4000", "--stream", "flights").exit_code == 0
    path = tmp_path_factory.mktemp("trace") / "flights.ndjson"
    path.write_text('{"flight": 9001, "delay": 5000, "dest": "TRC"}\n', encoding="utf-8")
    assert asc("publish", "--stream", "flights", path).exit_code == 0
    (found,) = asc.received(f"asc.{DELIVERED}", 1)
    return found


def test_why_a_delivered_record_reached_a_query(asc: Asc, delivered: dict[str, Any]) -> None:
    source = delivered["source"]
    result = asc("trace", "--source", source, "--query", DELIVERED)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "accepted"
    assert sorted(lines[1:3]) == ["  holds  delay > 4000   (delay = 5000)", "  holds  dest = 'TRC'   (dest = 'TRC')"]
    answer = asc.json("trace", "--source", source)
    accepted = answer["trace"]["accepted"]  # the daemon is shared: other tests' queries may accept the record too
    assert answer["trace"]["accepted_count"] >= len(accepted) > 0
    assert lines[3].startswith(f"accepted by {answer['trace']['accepted_count']} of ")
    assert f": {', '.join(accepted)}" in lines[3]
    assert result.stderr.startswith(f"warning: {source} was read before, and judged by the plan of then: ")
    assert answer["record"]["value"]["text"] == delivered["value"]
    assert (answer["stream"], answer["query"], answer["verdict"]) == ("flights", None, None)


def test_why_it_did_not_reach_another_one(asc: Asc, delivered: dict[str, Any]) -> None:
    result = asc("query", "explain", "trace-other", "--source", delivered["source"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "not accepted because delay < -4000 fails (delay = 5000)",
        "  fails  delay < -4000   (delay = 5000)",
    ]
    whole = asc("query", "explain", "trace-other", "--source", delivered["source"], "--all").stdout
    assert whole.startswith(result.stdout)
    assert "step" in whole


def test_the_way_of_a_tuple(asc: Asc, delivered: dict[str, Any]) -> None:
    given = '{"flight": 1, "delay": 5000, "dest": "Åre"}'
    result = asc("trace", "--stream", "flights", "--tuple", given)
    assert result.exit_code == 0, result.stderr
    assert "delay = 5000" in result.stdout
    assert "-> " in result.stdout
    assert asc("trace", "--stream", "flights", "--tuple", given, "--blocks", "0").stdout.endswith(
        "more block not told\n"
    )
    assert asc.json("trace", "--stream", "flights", "--tuple", given)["tuple"]["dest"] == "Åre"


def test_the_page(asc: Asc, delivered: dict[str, Any], tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    result = asc("trace", "--source", delivered["source"], "--query", "trace-other", "--html", page)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"the whole way is in {page}"
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert delivered["source"] in text
    assert "The way along the sequence" in text
    again = tmp_path / "again.html"
    record = '{"delay": 1, "dest": "<script>alert(1)</script>"}'
    asc.json("query", "explain", DELIVERED, "--tuple", record, "--html", again)
    assert "<script" not in again.read_text("utf-8")
    assert "&lt;script&gt;alert(1)" in again.read_text("utf-8")
    missing = asc("trace", "--source", delivered["source"], "--html", tmp_path / "no" / "why.html")
    assert (missing.exit_code, len(missing.stderr.splitlines())) == (1, 1)
    assert "No such file or directory" in missing.stderr


def test_a_dead_letter_is_told_with_its_reason(asc: Asc, tmp_path: Path) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=asc.json("status")["kafka"]["bootstrap_servers"])
    offset = producer.send("cli-flights", b'{"delay": "soon"}', partition=0).get(timeout=30).offset
    producer.close()
    page = tmp_path / "letter.html"
    result = asc("trace", "--source", f"cli-flights-0-{offset}", "--html", page)
    assert result.exit_code == 0, result.stderr
    first = result.stdout.splitlines()[0]
    assert first.startswith(
        "reaches no query: a dead letter in flights.dead-letter, for the value is not a JSON record"
    )
    assert "column 'delay' holds no INT" in first
    text = re.sub(r"<[^>]+>", "", page.read_text("utf-8"))
    assert "it is a dead letter in flights.dead-letter" in text


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "say which record: --source PLACE or --tuple JSON"),
        (["--source", "a-0-1", "--tuple", "{}"], 2, "say which record"),
        (["--stream", "flights", "--tuple", "[1]"], 2, "a JSON object is wanted"),
        (["--source", "nonsense"], 1, "source 'nonsense': write TOPIC-PARTITION-OFFSET, as flights-0-17"),
        (["--source", "cli-flights-0-99999999"], 1, "is not there yet"),
        (["--source", "cli-lines-0-0", "--stream", "flights"], 1, "is not of stream 'flights', which reads"),
        (["--stream", "flights", "--tuple", "{}", "--query", "nobody"], 1, "unknown query 'nobody'"),
    ],
    ids=["none", "both", "no object", "no place", "beyond", "elsewhere", "no query"],
)
def test_what_is_refused_is_one_line(asc: Asc, arguments: list[str], code: int, said: str) -> None:
    result = asc("trace", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    (line,) = result.stderr.splitlines()
    assert said in line


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('{"delay": NaN}', "not JSON: NaN is no number that it can hold"),
        ('{"delay": [-Infinity]}', "not JSON: -Infinity is no number that it can hold"),
        ('{"delay": 1e999}', "not JSON: 1e999 is no number that it can hold"),
        ('{"dest": "\\ud800"}', "not UTF-8: U+D800 is no character by itself"),
        ('{"\udcff": 1}', "not UTF-8: U+DCFF is no character by itself"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "nested in more than 100 levels"),
        ('{"a": ' * 900 + "1" + "}" * 900, "nested in more than 100 levels"),
        ("[" * 100_000, "nested in more than 100 levels"),
        ('{"delay": ', "not JSON: Expecting value"),
        ("17", "a JSON object is wanted"),
    ],
    ids=["NaN", "infinity", "overflow", "surrogate", "byte", "deep", "deeper", "deepest", "cut off", "number"],
)
@pytest.mark.parametrize("command", [("trace",), ("query", "explain", "late")], ids=["trace", "explain"])
def test_what_is_no_tuple_is_told_in_a_line(
    run: Callable[..., Result], command: Sequence[str], given: str, said: str
) -> None:
    result = run(*command, "--tuple", given, "--server", "http://127.0.0.1:9")
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"error: invalid value for '--tuple': {said}")


def test_a_tuple_may_be_nested(run: Callable[..., Result]) -> None:
    levels = _DEEPEST - 1
    given = '{"a": ' + "[" * levels + "]" * levels + "}"
    result = run("trace", "--tuple", given, "--server", "http://127.0.0.1:9")
    assert (result.exit_code, "no daemon answers" in result.stderr) == (1, True)
    deeper = given.replace("[]", "[[]]")
    result = run("trace", "--tuple", deeper, "--server", "http://127.0.0.1:9")
    assert (result.exit_code, f"nested in more than {_DEEPEST} levels" in result.stderr) == (2, True)


def test_explain_takes_one_record(asc: Asc) -> None:
    for more in (["--source", "a-0-1", "--tuple", "{}"], ["--all"]):
        result = asc("query", "explain", DELIVERED, *more, "--html", os.devnull)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_a_file_holds_what_json_says(asc: Asc, delivered: dict[str, Any]) -> None:
    result = asc("trace", "--source", delivered["source"], "--json")
    assert json.loads(result.stdout)["source"] == delivered["source"]
