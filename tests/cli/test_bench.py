"""``asc bench``: the options of the benchmarks, and what a command makes of them."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import pytest
from click.testing import Result

from broker.operators.kinds import OPERATORS
from cli.bench import RESULTS, add_operator_benchmarks, bench, benchmark_names

Run = Callable[..., Result]

ROOT = Path(__file__).parents[2]
PARTS = {"drifting": "is the second part of `asc bench monitor`"}
"""Modules that can be run and are no benchmark of their own."""


def test_every_module_that_can_be_run_is_a_command() -> None:
    modules = {path.stem for path in (ROOT / "bench").glob("*.py") if {"run", "table"} <= functions_of(path)}
    assert modules == {*benchmark_names(), *PARTS}


def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}


def test_the_page_lists_the_commands_in_their_order() -> None:
    """The page of a kind of operator may have the row of its benchmark instead."""
    row = re.compile(r"^\| `asc bench (\w+)` \|", re.MULTILINE)
    rows = {page.name: row.findall(page.read_text("utf-8")) for page in (ROOT / "docs").glob("*.md")}
    listed = rows.pop("benchmarks.md")
    elsewhere = {name for names in rows.values() for name in names}
    assert listed == [name for name in benchmark_names() if name not in elsewhere]
    assert elsewhere <= set(OPERATORS)


def test_the_benchmark_of_a_further_kind_is_found_by_its_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """\"\"\"The cost of echoes,
beside silence.
\"\"\"


def run(*, quick, output_dir):
    return {"quick": quick}


def table(result):
    return f"quick: {result['quick']}"
"""
    (tmp_path / "echo.py").write_text(source)
    monkeypatch.setattr("bench.__path__", [*importlib.import_module("bench").__path__, str(tmp_path)])
    monkeypatch.setattr(bench, "commands", dict(bench.commands))
    add_operator_benchmarks(["near", "silent", "echo"])
    assert benchmark_names()[-1] == "echo"
    assert "Measure the cost of echoes, beside silence." in run("bench", "echo", "--help").output
    assert run("bench", "echo", "--quick", "--output", tmp_path).stdout == "quick: True\n"


def test_make_runs_all_of_them() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.findall(r"asc bench .*", makefile) == ["asc bench all"]


@pytest.mark.nightly
def test_all_goes_on_after_a_failure_and_names_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.bench.benchmark_names", lambda: ["unknown", "match"])
    ran = run("bench", "all", "--quick", "--output", tmp_path)
    assert ran.exit_code == 1
    first, second = ran.stdout.splitlines()
    assert first.split()[:2] == ["unknown", "failed"]
    assert "No such command 'unknown'".lower() in first.lower()
    assert second.split()[:2] == ["match", "done"]
    assert ran.stderr.splitlines() == [
        "1 of 2: unknown ...",
        "2 of 2: match ...",
        f"error: benchmarks 'unknown': failed: see their logs in {tmp_path}",
    ]
    assert json.loads((tmp_path / "match.json").read_text("utf-8"))["quick"] is True


@pytest.mark.parametrize("name", benchmark_names())
def test_the_module_takes_what_the_command_gives(name: str) -> None:
    module = importlib.import_module(f"bench.{name}")
    options = {option.name for option in bench.commands[name].params} - {"as_json"}
    # --quick is a tenth of the scale where there is one.
    assert set(signature(module.run).parameters) == options - ({"quick"} if "scale" in options else set())
    assert callable(module.table)


def test_results_go_where_they_are_kept(run: Run) -> None:
    for name in bench.commands:
        assert f"[default: {RESULTS}]" in " ".join(run("bench", name, "--help").output.split())


def test_one_figure_as_text_and_as_json(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.experiment.SEEDS", (1,))
    monkeypatch.setattr("bench.census.ATTRIBUTES", (4, 5))
    arguments = ["bench", "census", "--figure", "7", "--queries", "3", "--output", tmp_path]
    text = run(*arguments, "--scale", "0.01")
    assert text.exit_code == 0, text.stderr
    assert text.stdout.startswith("census-figure-7: constructs evaluated a tuple")
    assert text.stderr.splitlines()[-1] == f"results and plots are in {tmp_path}"
    printed = json.loads(run(*arguments, "--scale", "0.1", "--quick", "--json").stdout)
    assert printed == {"census-figure-7": json.loads((tmp_path / "census-figure-7.json").read_text("utf-8"))}
    assert printed["census-figure-7"]["scale"] == pytest.approx(0.01)  # a tenth
    assert not (tmp_path / "census-figure-6.json").exists()


def test_recorded_tuples_come_from_a_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Path | None] = []
    monkeypatch.delenv("ASC_DATA_DIR", raising=False)
    monkeypatch.setattr("bench.scale.run", lambda **options: given.append(options["data"]))
    monkeypatch.setattr("bench.scale.table", lambda _: "measured")
    assert run("bench", "scale", "--data", tmp_path).exit_code == 0
    assert run("bench", "scale").exit_code == 0
    monkeypatch.setenv("ASC_DATA_DIR", str(tmp_path))
    assert run("bench", "scale").exit_code == 0
    assert given == [tmp_path, None, tmp_path]
    missing = run("bench", "scale", "--data", tmp_path / "nowhere")
    assert missing.exit_code == 2
    assert "does not exist" in missing.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["census", "--figure", "8"], "--figure '8': give an integer from 6 to 7"),
        (["census", "--queries", "0"], "--queries '0': give an integer from 1 on"),
        (["adaptation", "--scale", "0"], "--scale '0.0': give a number above 0 to 1"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], said: str) -> None:
    found = run("bench", *arguments)
    assert found.exit_code == 2
    assert said in found.output
