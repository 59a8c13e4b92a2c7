"""``asc query list``, ``show``, ``explain`` and ``check``: a list on a terminal, why a tuple is accepted, files."""

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

from broker.client.client import Client

if TYPE_CHECKING:
    from conftest import Address, Asc

Run = Callable[..., Result]


def test_listing_by_prefix_and_label(asc: Asc) -> None:
    for name, team in (("list-a", "ops"), ("list-b", "sales")):
        label = f"team={team}"
        assert asc("query", "add", name, "--where", "delay > 1", "--stream", "flights", "--label", label).exit_code == 0
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "list-")] == ["list-a", "list-b"]
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "list-", "--label", "team=ops")] == ["list-a"]
    assert asc("query", "pause", "list-b").exit_code == 0
    table = [line.split() for line in asc("query", "list", "--prefix", "list-").stdout.splitlines()]
    assert table[0] == ["id", "stream", "topic", "state", "accepted", "labels", "where"]
    assert [(line[0], line[3]) for line in table[1:]] == [("list-a", "running"), ("list-b", "paused")]


def test_explain_follows_a_tuple(asc: Asc) -> None:
    assert (
        asc("query", "add", "explained", "--where", "delay > 60 AND dest = 'SFO'", "--stream", "flights").exit_code == 0
    )
    constructs = asc("query", "explain", "explained")
    assert constructs.exit_code == 0, constructs.stderr
    assert "delay" in constructs.stdout
    record = '{"flight": 1, "delay": 75, "dest": "LAX"}'
    judged = asc("query", "explain", "explained", "--tuple", record)
    assert (judged.exit_code, judged.stderr) == (0, "")
    assert judged.stdout.splitlines() == [
        "not accepted because dest = 'SFO' fails (dest = 'LAX')",
        "  holds  delay > 60   (delay = 75)",
        "  fails  dest = 'SFO'   (dest = 'LAX')",
    ]
    assert asc.json("query", "explain", "explained", "--tuple", record)["accepted"] is False
    assert asc.json("query", "explain", "explained")["accepted"] is None
    whole = asc("query", "explain", "explained", "--tuple", record, "--all")
    assert whole.stdout.startswith(judged.stdout)
    assert constructs.stdout in whole.stdout
    assert "the tuple's way: " in whole.stdout
    alone = asc("query", "explain", "explained", "--all")
    assert (alone.exit_code, "--all needs --tuple" in alone.stderr) == (2, True)
    misspelt = asc("query", "explain", "explained", "--tuple", '{"Delay": 75}')
    assert misspelt.stderr == "warning: field 'Delay': not in the stream's schema, excluded: did you mean 'delay'?\n"
    assert asc.json("query", "explain", "explained")["text"] in constructs.stdout


def test_explain_shows_what_others_wrote_and_obeys_none_of_it(asc: Asc) -> None:
    where = "dest = 'a\x1b[31m\u202eb' AND delay > 1"
    assert asc("query", "add", "hostile", "--where", where, "--stream", "flights").exit_code == 0
    for options in ([], ["--tuple", '{"dest": "x"}'], ["--tuple", '{"dest": "x"}', "--all"]):
        text = asc("query", "explain", "hostile", *options).stdout
        assert "a·[31m·b" in text
        assert not {"\x1b", "\u202e"} & set(text)
    odd = asc("query", "explain", "hostile", "--tuple", '{"\\u001b[2J": 1}')
    assert odd.stderr.startswith("warning: field '·[2J': not in the stream's schema")
    assert asc("query", "remove", "hostile").exit_code == 0


def test_explain_says_what_the_attributes_of_a_record_are_taken_for(asc: Asc) -> None:
    where = (
        "length(_KEY) > 1 AND `_offset` < 9 AND _headers['_partition'] = 'x' OR _topic = 'cli-flights' AND delay > 1"
    )
    assert asc("query", "add", "of-record", "--where", where, "--stream", "flights").exit_code == 0
    result = asc("query", "explain", "of-record", "--tuple", '{"delay": 2}')
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("accepted: conjunct ")
    assert result.stderr.splitlines() == [
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
        answered = client.check(where, stream="flights")
    finally:
        client.close()
    assert asc.json("query", "check", "--where", where, "--schema", schema) == answered
    assert asc.json("query", "check", "--where", where, "--stream", "flights") == answered
    assert asc("query", "check", "--where", where, "--stream", "flights").stdout == f"{answered['text']}\n"


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "no query is registered: 'asc query add' registers one"),
        (("--stream", "s", "--operator", "near"), "no query fits the options: leave an option out"),
    ],
    ids=["all", "some"],
)
def test_a_list_of_nothing_says_so_beside_it(address: Address, run: Run, options: tuple[str, ...], said: str) -> None:
    address.answers["/v1/queries"] = [(200, json.dumps({"queries": [], "cursor": None}))]
    listed = run("query", "list", *options, "--server", address.url)
    assert (listed.exit_code, listed.stdout, listed.stderr) == (0, "", f"{said}\n")
    plain = run("query", "list", *options, "--server", address.url, "--json")
    assert (json.loads(plain.stdout), plain.stderr) == ([], "")


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
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 70, 0, 0))
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
    assert max(map(len, lines)) <= 71


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


def test_the_daemon_checks_by_the_schema_of_its_stream(asc: Asc, schema_file: Path) -> None:
    assert asc("query", "check", "--where", "arr_delay > 1", "--schema", schema_file).exit_code == 0
    refused = asc("query", "check", "--where", "arr_delay > 1", "--stream", "flights")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.splitlines() == [
        "error: unknown column 'arr_delay': did you mean 'delay'?",
        "  arr_delay > 1",
        "  ^^^^^^^^^",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --stream, or --schema to check without a daemon"),
        (["--schema", "{schema}", "--stream", "flights"], "give --stream or --schema, not both"),
        (["--stream", "flights", "--time-zone", "UTC"], "--time-zone goes with --schema"),
    ],
)
def test_a_check_is_with_the_daemon_or_without(run: Run, schema_file: Path, options: list[str], said: str) -> None:
    result = run("query", "check", "--where", "delay > 1", *(option.format(schema=schema_file) for option in options))
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert said in result.stderr


def test_a_check_of_a_stream_that_is_not_there_is_one_line(asc: Asc) -> None:
    refused = asc("query", "check", "--where", "delay > 1", "--stream", "trains")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1)
    assert refused.stderr.startswith("error: unknown stream 'trains': configured: flights, lines")


@pytest.mark.parametrize("form", ["ndjson", "json", "toml", None])
def test_what_is_listed_can_be_applied(asc: Asc, form: str | None) -> None:
    wheres = {
        "round-plain": "delay > 60",
        "round.quotes": "dest = 'it\\'s \"so\"'\n  OR dest LIKE '%\u2028\U0001f40b\t%'",
    }
    labels = {"team": "öps = [x]", "a b": "", '"': "\n"}
    for query_id, where in wheres.items():
        options = [f"--label={name}={value}" for name, value in labels.items()]
        added = asc(
            *("query", "add", query_id, "--where", where, "--stream", "flights", "--paused", "--topic", "round"),
            *("--expires-at", "2099-01-31T12:00:00+01:00", *options),
        )
        assert added.exit_code == 0, added.stderr
    listed = asc("query", "list", "--prefix", "round", *(["--json"] if form is None else ["--format", form]))
    assert listed.exit_code == 0
    before = asc.json("query", "list", "--prefix", "round")
    assert (before[0]["labels"], before[0]["paused"], before[0]["expires_at"]) == (labels, True, "2099-01-31T11:00:00Z")
    unchanged = asc("query", "apply", "-", stdin=listed.stdout)
    assert unchanged.stdout.startswith("2 unchanged, version "), unchanged.stderr
    assert asc("query", "remove", *wheres).exit_code == 0
    applied = asc("query", "apply", "-", stdin=listed.stdout)
    assert applied.stdout.startswith("2 registered, version "), applied.stderr
    after = asc.json("query", "list", "--prefix", "round")
    assert [{**query, "version": 0} for query in after] == [{**query, "version": 0} for query in before]
    assert asc("query", "remove", *wheres).exit_code == 0


def test_a_list_is_in_one_form(asc: Asc) -> None:
    both = asc("query", "list", "--json", "--format", "toml")
    assert (both.exit_code, "--json and --format exclude each other" in both.stderr) == (2, True)
    assert asc("query", "list", "--prefix", "none-of-this-name", "--format", "ndjson").stdout == ""
