"""``asc match``: standing queries over files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.usefixtures("settings_of_spark")]

DDL = "flight INT, delay INT, dest STRING, seats INT"
ROWS: list[dict[str, Any]] = [
    {"dest": "SFO", "flight": 1, "delay": 75},
    {"dest": "LAX", "flight": 2, "delay": None},
    {"dest": "SFO", "flight": 3, "delay": 5},
    {"dest": "ORD", "flight": 4, "delay": 90},
]
QUERIES = {
    "late": "delay > 60",
    "bay": "dest = 'SFO'",
    "unknown": "delay IS NULL",
    "never": "delay < 0",
    "even": "seats > 1",
}
COUNTS = {"late": 2, "bay": 2, "unknown": 1, "never": 0, "even": 0}


@pytest.fixture
def files(tmp_path: Path, spark: SparkSession) -> Path:
    (tmp_path / "flights.ddl").write_text(DDL, encoding="utf-8")
    (tmp_path / "queries.json").write_text(json.dumps(QUERIES), encoding="utf-8")
    lines = [
        "dest,extra,flight,delay",
        *(f"{r['dest']},x,{r['flight']},{'' if r['delay'] is None else r['delay']}" for r in ROWS),
    ]
    (tmp_path / "flights.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "flights.ndjson.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, ROWS)).encode()))
    frame = spark.createDataFrame(
        [(r["delay"], r["flight"], r["dest"]) for r in ROWS], "delay BIGINT, FLIGHT INT, dest STRING"
    )
    frame.coalesce(1).write.parquet(str(tmp_path / "flights.parquet"))
    return tmp_path


def match(files: Path, *arguments: object) -> Result:
    common = ["match", "--queries", files / "queries.json", "--schema", files / "flights.ddl"]
    return CliRunner().invoke(main, [str(argument) for argument in [*common, *arguments]])


@pytest.mark.parametrize("name", ["flights.csv", "flights.ndjson.gz", "flights.parquet"])
def test_counts_are_the_same_from_every_format(files: Path, name: str) -> None:
    result = match(files, files / name, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {
        "rows": 4,
        "accepted": 4,
        "undecodable": 0,
        "first_undecodable": None,
        "queries": COUNTS,
    }


def test_several_files_and_a_table(files: Path) -> None:
    (files / "more.csv").write_text("delay,dest\n61,LAX\n1,LAX\n", encoding="utf-8")
    result = match(files, files / "flights.csv", files / "more.csv")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[-1] == "6 rows read, 5 accepted"
    assert {line.split()[0]: int(line.split()[1]) for line in lines[1:-1]} == {**COUNTS, "late": 3}


def test_the_accepted_rows_are_written_with_their_queries(files: Path) -> None:
    output = files / "matched"
    result = match(files, "--output", output, files / "flights.csv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"4 rows read, 4 accepted, written to {output}\n"
    rows = [
        json.loads(line) for part in output.glob("*.gz") for line in gzip.decompress(part.read_bytes()).splitlines()
    ]
    queries = {row["flight"]: row["queries"] for row in rows}
    assert queries == {1: ["bay", "late"], 2: ["unknown"], 3: ["bay"], 4: ["late"]}
    again = match(files, "--output", output, files / "flights.csv")
    assert (again.exit_code, len(again.stderr.splitlines())) == (1, 1)
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ({"late": "dely > 60"}, "did you mean 'delay'?"),
        ({"late": "reflect('java.lang.System', 'gc') = ''"}, "reflect"),
    ],
)
def test_a_refused_query_is_named(files: Path, queries: dict[str, str], said: str) -> None:
    (files / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    result = match(files, files / "flights.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    first = result.stderr.splitlines()[0]
    assert "late" in first
    assert said in first


def test_inputs_that_do_not_go_together_are_one_line(files: Path) -> None:
    (files / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (files / "broken.parquet").write_bytes(b"PAR1")
    for name in ("_hidden.csv", ".hidden.ndjson"):
        (files / name).write_text("delay\n75\n", encoding="utf-8")
    (files / "cut.csv").write_text('delay,"de\nst"\n75,SFO\n', encoding="utf-8")
    for inputs, said in (
        (["flights.csv", "flights.parquet"], "files of several formats"),
        (["other.csv"], "no column of the schema"),
        (["broken.parquet"], "broken.parquet"),
        (["flights.ddl"], "unknown format of file"),
        (["_hidden.csv"], "begins with '_' or '.'"),
        ([".hidden.ndjson"], "begins with '_' or '.'"),
        (["cut.csv"], "ends inside a quoted name"),
    ):
        result = match(files, *(files / name for name in inputs))
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
        assert said in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "rows", "first"),
    [
        (
            "bad flights.ndjson",
            b'{"flight": 1, "delay": 75}\n\n{"flight": "x", "delay": 75}\n{"delay": \n{"dest": "\xff"}\n'
            b'{"delay": 61}\n',
            5,
            'value is not a JSON record of the stream\'s schema: {"flight": "x", "delay": 75}',
        ),
        (
            "bad.csv",
            b'\xef\xbb\xbfdest,flight,delay,_key\r\n"S ""F"" O",1,75,\r\nLAX,x,75,\r\nLAX,2\r\n \xff,3,75,\r\n'
            b"LAX,4,61,k\r\n",
            5,
            "value is not a CSV record of the stream's schema: LAX,x,75,",
        ),
    ],
)
def test_what_a_stream_would_not_decode_is_left_out_and_said(
    files: Path, name: str, content: bytes, rows: int, first: str
) -> None:
    (files / name).write_bytes(content)
    said = f"{files / name}: {first}"
    result = match(files, files / name, "--json")
    found = json.loads(result.stdout)
    assert (found["rows"], found["accepted"], found["queries"]["late"]) == (rows, 2, 2)
    assert (found["undecodable"], found["first_undecodable"]) == (3, said)
    assert f"warning: 3 rows cannot be decoded, left out; the first: {said}\n" in result.stderr
    # Also where no query reads the bad field, and in the rows that are written.
    result = match(files, files / name, "--output", files / "out")
    assert result.stdout == f"{rows} rows read, 2 accepted, written to {files / 'out'}\n"
    assert "3 rows cannot be decoded" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("header.csv", "dest,flight,delay\n", 0),
        ("empty.ndjson", "", 0),
        ("blank.ndjson", "\n\n", 0),
        ("none-accepted.ndjson", '{"dest": "ORD", "delay": 1}\n', 1),
        ("none-decodable.ndjson", "[1]\n{", 2),
    ],
)
def test_files_of_which_no_row_is_accepted(files: Path, name: str, content: str, rows: int) -> None:
    (files / name).write_text(content, encoding="utf-8")
    result = match(files, files / name, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["rows"], found["accepted"], found["queries"]) == (rows, 0, dict.fromkeys(QUERIES, 0))
    assert match(files, files / name).stdout.splitlines()[-1] == f"{rows} row{'s' * (rows != 1)} read, 0 accepted"


def test_a_row_of_csv_is_a_line(files: Path) -> None:
    lines = ["delay,dest", '75,"San', 'Francisco"', '75,"S""F""O"', '75,"S, F"']
    (files / "cut.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = match(files, files / "cut.csv", "--json")
    found = json.loads(result.stdout)
    assert (found["rows"], found["accepted"], found["undecodable"]) == (4, 2, 2)
    assert found["first_undecodable"].endswith('cut.csv: line ends inside a quoted field, or begins there: 75,"San')


@pytest.mark.parametrize("part_bytes", [40, 1 << 20])
def test_only_the_first_line_of_a_file_is_its_header(files: Path, spark: SparkSession, part_bytes: int) -> None:
    """Also where Spark reads it in many parts: a later line that equals the header is a row, here of texts."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", part_bytes)
    (files / "queries.json").write_text(json.dumps({"again": "dest = 'dest'", "other": "dest = 'x'"}), encoding="utf-8")
    (files / "texts.csv").write_text("\n".join(["dest", "x", "dest"] * 50), encoding="utf-8")
    (files / "more.csv").write_text("extra,dest\n" + "extra,dest\n" * 30, encoding="utf-8")
    result = match(files, files / "texts.csv", files / "more.csv", "--json")
    found = json.loads(result.stdout)
    assert (found["rows"], found["queries"]) == (149 + 30, {"again": 99 + 30, "other": 50})
