"""``asc cube``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from asc.operators.cube.estimate import RECORDS_A_CELL, UNWARNED_CELLS
from cli.client import Json
from cli.main import main
from cli.operators.cube.commands import is_other_cube

ROOT = Path(__file__).parents[4]
FLIGHTS = ROOT / "workloads" / "data" / "flights.csv.gz"
SCHEMA = "carrier STRING, origin STRING, dest STRING, arr_delay INT, time_hour TIMESTAMP"
MEASURES = ("--measures", "count(*) AS flights, sum(arr_delay) AS delay")


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "flights.ddl"
    path.write_text(SCHEMA, "utf-8")
    return path


def invoke(*arguments: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(main, ["cube", *map(str, arguments)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_a_check_prints_what_a_cube_is(schema: Path) -> None:
    options = ("--dimensions", "origin > dest, carrier", *MEASURES, "--time", "time_hour", "--grain", "1h")
    code, out, err = invoke("check", "late", "--schema", schema, *options, "--where", "arr_delay > 0")
    assert (code, err) == (0, "")
    assert "  time_hour  TIMESTAMP\n" in out
    assert "it has 6 cuboids\n  origin, dest, carrier\n" in out
    assert out.endswith("  ()\n")


def test_help_and_page_say_which_cubes_are_warned_of() -> None:
    assert RECORDS_A_CELL == 2
    said = f"more than {UNWARNED_CELLS} cells with fewer than two records a cell"
    _, out, _ = invoke("check", "--help")
    assert f"Both warn of {said}." in " ".join(out.split())
    page = (ROOT / "docs" / "cubes.md").read_text("utf-8")
    assert page.count(said) == 2


def test_help_of_a_question_says_how_an_expression_is_named() -> None:
    _, out, _ = invoke("query", "--help")
    assert "in backquotes" in " ".join(out.split())
    assert "--where '`year(time_hour)` = 2013'" in out


def test_a_run_prints_an_aligned_table(schema: Path) -> None:
    options = ("--dimensions", "origin > dest, carrier", *MEASURES, "--by", "origin", "--total")
    code, out, _ = invoke("run", "--schema", schema, *options, "--order", "flights DESC", FLIGHTS)
    assert code == 0
    assert out.splitlines()[0] == "origin  flights    delay"
    assert out.splitlines()[1] == "EWR       7,183   57,768"
    assert out.splitlines()[4] == "         20,000  133,954"


def test_the_example_of_the_page_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "cubes.md").read_text("utf-8")
    infer, *commands = [
        line
        for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
        for line in block.splitlines()
        if not line.startswith(("asc cube add", "asc cube query"))
    ]
    # A question to a standing cube needs a daemon.
    shown = re.findall(r"```sh\n(?!asc cube query)[^`]*```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(commands) == len(shown) == 4
    (tmp_path / "workloads").symlink_to(ROOT / "workloads")
    monkeypatch.chdir(tmp_path)
    inferred, _, file = infer.partition(" > ")
    ran = CliRunner().invoke(main, shlex.split(inferred)[1:])
    Path(file).write_text(ran.stdout, "utf-8")
    for command, expected in zip(commands, shown, strict=True):
        ran = CliRunner().invoke(main, shlex.split(command)[1:])
        assert ran.exit_code == 0, ran.stderr
        assert ran.stdout == expected


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--dimensions", "tail", *MEASURES), 1, "error: dimension 'tail': unknown column 'tail'"),
        (("--dimensions", "a > ", *MEASURES), 1, "error: dimension '': give an expression"),
        (("--dimensions", "arr_delay > 3", *MEASURES), 1, "put a comparison in parentheses, as (qty > 3)"),
        (("--measures", "sum(origin)"), 1, "takes numbers, and origin is STRING"),
        (("--measures", "median(arr_delay)"), 1, "has the function 'median'"),
        (
            (*MEASURES, "--time", "time_hour", "--grain", "7min"),
            2,
            "'7min' is no grain: write a time that divides",
        ),
        ((*MEASURES, "--grain", "1h"), 2, "give --time and --grain together"),
        ((*MEASURES, "--time", "time_hour"), 2, "give --time and --grain together"),
        ((*MEASURES, "--grain", "1 month"), 2, "is no duration"),
        ((*MEASURES, "--by", "carrier"), 1, "by 'carrier': is no dimension"),
        ((*MEASURES, "--from", "2013-07-01"), 1, "from '2013-07-01': the cube has no time"),
        ((*MEASURES, "--limit", "0"), 1, "limit 0: give a number of rows"),
        ((*MEASURES, "--where", ""), 1, "predicate '': write a Spark SQL boolean expression"),
        ((), 2, "--measures"),
    ],
)
def test_an_error_is_one_line(schema: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    ended, out, err = invoke("run", "--schema", schema, *arguments, FLIGHTS)
    assert (ended, out) == (code, "")
    assert said in err
    assert len(err.splitlines()) == 1


CUBE = {"name": "cube", "dimensions": [["origin"]], "measures": ["count(*)"], "time": "t", "grain_s": 60}
QUERY: Json = {"where": "true", "stream": "flights", "topic": "asc.late", "operator": CUBE}


@pytest.mark.parametrize(
    ("former", "is_other"),
    [
        (None, False),
        (QUERY, False),
        ({**QUERY, "topic": "asc.other", "operator": {**CUBE, "late": "apart"}}, False),
        ({**QUERY, "operator": None}, False),
        ({**QUERY, "where": "delay > 0"}, True),
        ({**QUERY, "operator": {**CUBE, "grain_s": 900}}, True),
        ({**QUERY, "operator": {**CUBE, "dimensions": []}}, True),
    ],
)
def test_a_cube_in_place_of_one_with_other_cells_is_told(former: Json | None, is_other: bool) -> None:
    assert is_other_cube(former, QUERY) == is_other
