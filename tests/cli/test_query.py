"""``asc query``: the registry through a daemon and what it refuses, a list on a terminal, ``check`` offline."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

from cli.client import Client
from cli.query import refused_line

if TYPE_CHECKING:
    from conftest import Address, Asc

Run = Callable[..., Result]


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
    schema.write_text(asc.schema, encoding="utf-8")
    where = "delay > 60 AND dest = 'SFO' OR length(dest) > 3"
    client = Client(asc.server)
    try:
        answered = client.check(where, "flights")
    finally:
        client.close()
    assert asc.json("query", "check", "--where", where, "--schema", schema) == answered


LISTED: list[dict[str, Any]] = [
    {"id": "late", "served": True, "reason": None, "paused": False, "where": "delay > 60 AND " * 20 + "delay < 90"},
    {"id": "gone", "served": False, "reason": "unknown column 'gate'", "paused": False, "where": "gate = 'A'"},
    {"id": "asleep", "served": True, "reason": None, "paused": True, "where": "delay > 1"},
]


@pytest.fixture
def listed(address: Address) -> Address:
    """A daemon that has these queries."""
    queries = [{**q, "stream": "s", "topic": f"asc.{q['id']}", "labels": {}} for q in LISTED]
    address.answers["/v1/queries"] = [(200, json.dumps({"queries": queries, "cursor": None}))]
    return address


def test_states_and_reasons(run: Run, listed: Address) -> None:
    result = run("query", "list", "--server", listed.url)
    lines = result.stdout.splitlines()
    assert [("running" in line, "not served" in line, "paused" in line) for line in lines[1:]] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert result.stderr == "warning: gone is not served: unknown column 'gate'\n"
    assert lines[1].endswith(LISTED[0]["where"])  # not on a terminal: whole


def test_lines_are_cut_to_the_width_of_the_terminal(listed: Address) -> None:
    code = f"from cli.main import main; main(['query', 'list', '--server', {listed.url!r}])"
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    try:
        subprocess.run(
            [sys.executable, "-c", code], stdout=end, stderr=subprocess.DEVNULL, env=environment, check=False
        )
        lines = os.read(terminal, 10_000).decode().splitlines()
    finally:
        os.close(end)
        os.close(terminal)
    assert len(lines) == 1 + len(LISTED)
    assert lines[1].endswith(" delay > 60…")  # the next character would be a space
    assert max(map(len, lines)) <= 60


def test_check_loads_neither_spark_nor_numba(schema_file: Path) -> None:
    arguments = ["query", "check", "--where", "arr_delay > 60", "--schema", str(schema_file)]
    code = (
        "import sys\nfrom cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "loaded = {'pyspark', 'numba', 'kafka', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "arr_delay" in done.stdout


def test_check_prints_the_normal_form(run: Run, schema_file: Path) -> None:
    result = run("query", "check", "--where", "arr_delay > 60 OR dep_time IS NULL", "--schema", schema_file)
    assert result.exit_code == 0
    assert "arr_delay" in result.stdout
    assert "dep_time" in result.stdout


def test_check_as_json(run: Run, schema_file: Path) -> None:
    where = "arr_delay > 60 AND dest = 'SFO' OR length(dest) > 3"
    result = run("query", "check", "--where", where, "--schema", schema_file, "--json")
    found = json.loads(result.stdout)
    assert sorted(len(conjunct) for conjunct in found["conjuncts"]) == [1, 2]
    assert [p["sql"] for p in found["p_attributes"] if not p["spark"]] == ["arr_delay", "dest"]
    assert [p["type"] for p in found["p_attributes"] if p["spark"]] == ["int32"]
    assert not found["match_all"]
    assert not found["contradiction"]


def test_check_says_that_a_contradiction_accepts_nothing(run: Run, schema_file: Path) -> None:
    result = run("query", "check", "--where", "arr_delay < 1 AND arr_delay > 2", "--schema", schema_file, "--json")
    found = json.loads(result.stdout)
    assert found["contradiction"]
    assert found["warnings"]


def test_the_records_own_attributes_can_be_checked(run: Run, schema_file: Path) -> None:
    result = run(
        "query", "check", "--where", "_headers['kind'] = 'alarm' AND _partition = 0", "--schema", str(schema_file)
    )
    assert result.exit_code == 0, result.stderr
    assert "_headers['kind']" in result.stdout


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("arr_dely > 60", "did you mean 'arr_delay'?"),
        ("arr_delay >", ""),
        ("reflect('java.lang.System', 'exit', 1) = 1", "reflect"),
        ("rand() > 0.5", "rand"),
        ("sum(arr_delay) > 5", "sum"),
        ("arr_delay IN (SELECT 1)", ""),
        ("arr_delay + 1", ""),
        ("(" * 500 + "arr_delay > 1" + ")" * 500, ""),
    ],
)
def test_a_refused_predicate_is_one_line_and_a_caret(run: Run, schema_file: Path, where: str, said: str) -> None:
    result = run("query", "check", "--where", where, "--schema", schema_file)
    assert result.exit_code == 1
    assert result.stdout == ""
    first, *caret = result.stderr.splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert all(line.startswith("  ") for line in caret)
    if caret:
        assert set(caret[-1].strip()) == {"^"}


def test_a_nul_byte_in_a_predicate_is_refused(run: Run, schema_file: Path) -> None:
    result = run("query", "check", "--where", "dest = 'a\0b'", "--schema", schema_file)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()[0]) < 300


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ({"line": 3, "id": "late", "error": {"message": "no"}}, "error: line 3 (late): no"),
        ({"line": 1, "id": None, "error": {"message": "no"}}, "error: line 1: no"),
        ({"line": 2, "error": "no"}, "error: line 2: no"),
    ],
)
def test_a_refused_line_is_one_line(refused: dict[str, Any], said: str) -> None:
    assert refused_line(refused) == said
