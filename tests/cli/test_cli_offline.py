"""Commands that need no daemon: what they print, their error lines and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from cli.main import main

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FLIGHTS_DDL = "arr_delay INT, dep_time INT, dest STRING, at TIMESTAMP"


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "flights.ddl"
    path.write_text(FLIGHTS_DDL, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def commands(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            found += commands(child, (*path, name))
    return found


@pytest.mark.parametrize("path", commands(main), ids=" ".join)
def test_every_command_has_help_with_examples(path: tuple[str, ...]) -> None:
    result = run(*path, "--help")
    assert result.exit_code == 0
    assert "Examples:\n  asc " in result.output


@pytest.mark.parametrize("path", commands(main), ids=" ".join)
def test_every_command_that_prints_a_result_prints_it_as_json(path: tuple[str, ...]) -> None:
    is_group = any(other[: len(path)] == path != other for other in commands(main))
    assert ("--json" in run(*path, "--help").output.split()) == (not is_group and path != ("serve",))


def test_the_specified_commands_are_there() -> None:
    wanted = "demo serve query publish subscribe match bench config status version"
    assert set(main.commands) == set(wanted.split())
    query = main.commands["query"]
    assert isinstance(query, click.Group)
    assert set(query.commands) == {"add", "apply", "list", "show", "remove", "pause", "resume", "check", "explain"}


@pytest.mark.parametrize("arguments", [["--help"], ["query", "check", "--help"]])
def test_help_loads_neither_spark_nor_numba_nor_kafka(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "loaded = {'pyspark', 'numba', 'kafka', 'pandas', 'httpx', 'fastapi'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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


def test_check_prints_the_normal_form(schema_file: Path) -> None:
    result = run("query", "check", "--where", "arr_delay > 60 OR dep_time IS NULL", "--schema", schema_file)
    assert result.exit_code == 0
    assert "arr_delay" in result.stdout
    assert "dep_time" in result.stdout


def test_check_as_json(schema_file: Path) -> None:
    where = "arr_delay > 60 AND dest = 'SFO' OR length(dest) > 3"
    result = run("query", "check", "--where", where, "--schema", schema_file, "--json")
    found = json.loads(result.stdout)
    assert sorted(len(conjunct) for conjunct in found["conjuncts"]) == [1, 2]
    assert [p["sql"] for p in found["p_attributes"] if not p["spark"]] == ["arr_delay", "dest"]
    assert [p["type"] for p in found["p_attributes"] if p["spark"]] == ["int32"]
    assert not found["match_all"]
    assert not found["contradiction"]


def test_check_says_that_a_contradiction_accepts_nothing(schema_file: Path) -> None:
    result = run("query", "check", "--where", "arr_delay < 1 AND arr_delay > 2", "--schema", schema_file, "--json")
    found = json.loads(result.stdout)
    assert found["contradiction"]
    assert found["warnings"]


def test_check_reads_a_schema_in_spark_s_json(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    field = {"name": "delay", "type": "integer", "nullable": True, "metadata": {}}
    schema.write_text(json.dumps({"type": "struct", "fields": [field]}), encoding="utf-8")
    assert run("query", "check", "--where", "delay > 5", "--schema", schema).exit_code == 0


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
def test_a_refused_predicate_is_one_line_and_a_caret(schema_file: Path, where: str, said: str) -> None:
    result = run("query", "check", "--where", where, "--schema", schema_file)
    assert result.exit_code == 1
    assert result.stdout == ""
    first, *caret = result.stderr.splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert all(line.startswith("  ") for line in caret)
    if caret:
        assert set(caret[-1].strip()) == {"^"}


def test_the_caret_stands_under_the_place(schema_file: Path) -> None:
    result = run("query", "check", "--where", "dest = 'SFO' AND arr_dely > 60", "--schema", schema_file)
    _, line, caret = result.stderr.splitlines()
    assert line[caret.index("^") : caret.rindex("^") + 1] == "arr_dely"


def test_a_nul_byte_in_a_predicate_is_refused(schema_file: Path) -> None:
    result = run("query", "check", "--where", "dest = 'a\0b'", "--schema", schema_file)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()[0]) < 300


def test_a_schema_that_is_none_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.ddl"
    path.write_text("delay WHATEVER<", encoding="utf-8")
    result = run("query", "check", "--where", "delay > 1", "--schema", path)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1


def test_a_schema_that_is_not_text_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.ddl"
    path.write_bytes(b"\xff\xfe\x00")
    result = run("query", "check", "--where", "delay > 1", "--schema", path)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)


def test_the_records_own_attributes_can_be_checked(schema_file: Path) -> None:
    result = run(
        "query", "check", "--where", "_headers['kind'] = 'alarm' AND _partition = 0", "--schema", str(schema_file)
    )
    assert result.exit_code == 0, result.stderr
    assert "_headers['kind']" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", "check", "--where", "a > 1"],
        ["query", "check", "--where", "a > 1", "--schema", "/no/such/file"],
        ["query", "add", "late"],
        ["query", "add", "late", "--where", "a > 1", "--label", "nonsense"],
        ["query", "explain", "late", "--tuple", "{"],
        ["query", "explain", "late", "--tuple", "[1]"],
        ["query", "frobnicate"],
        ["subscribe", "topic", "--max", "0"],
        ["publish", "/no/such/file.csv"],
        ["match", "--queries", "/no/such/file"],
        ["serve", "--config", "/no/such/file"],
        ["nonsense"],
    ],
)
def test_wrong_use_ends_with_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert line.endswith(" --help' shows how")


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", "list"],
        ["query", "add", "late", "--where", "a > 1"],
        ["query", "remove", "late"],
        ["status"],
        ["status", "--wait", "0.5"],
        ["subscribe", "asc.late"],
    ],
)
def test_no_daemon_is_one_line(arguments: list[str]) -> None:
    result = run(*arguments, "--server", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error: no daemon answers at 'http://127.0.0.1:9': start one with 'asc serve', or name another with --server"
    ]


@pytest.mark.parametrize("server", ["127.0.0.1:8750", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:99999999"])
def test_an_address_that_is_none_is_one_line(server: str) -> None:
    result = run("query", "list", "--server", server)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "unexpected" not in result.stderr


def test_debug_lets_the_exception_through(schema_file: Path) -> None:
    result = run("--debug", "query", "check", "--where", "nope > 1", "--schema", schema_file)
    assert type(result.exception).__name__ == "PredicateError"


def test_version_names_its_parts() -> None:
    found = json.loads(run("version", "--json").stdout)
    assert {"asc-broker", "pyspark", "python"} <= found.keys()
    assert found["asc-broker"] in run("version").stdout


def test_config_prints_what_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text(
        '[kafka.options]\n"ssl.key.password" = "hunter2"\n\n'
        '[streams.flights]\ntopic = "flights"\nformat = "json"\nschema = "delay INT"\n',
        encoding="utf-8",
    )
    result = run("config", "--config", path)
    assert result.exit_code == 0
    assert "hunter2" not in result.stdout
    printed = tomllib.loads(result.stdout)
    assert printed["streams"]["flights"]["schema"] == "delay INT"
    again = tmp_path / "again.toml"
    again.write_text(result.stdout, encoding="utf-8")
    assert tomllib.loads(run("config", "--config", again).stdout) == printed
    as_json = json.loads(run("config", "--config", path, "--json").stdout)
    assert as_json["api"]["port"] == printed["api"]["port"]


def test_a_wrong_configuration_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text("[api]\nprot = 8750\n", encoding="utf-8")
    for command in ("config", "serve"):
        result = run(command, "--config", path)
        assert result.exit_code == 1
        assert result.stderr.splitlines() == ["error: unknown configuration key 'api.prot': did you mean 'port'?"]
