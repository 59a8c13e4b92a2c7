"""``asc match``: what it prints, writes and warns of."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from cli.main import main

if TYPE_CHECKING:
    from conftest import Files


def test_several_files_and_a_table(files: Files) -> None:
    (files / "more.csv").write_text("delay,dest\n61,LAX\n1,LAX\n", encoding="utf-8")
    result = files.match(files / "flights.csv", files / "more.csv")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[-1] == "6 rows read, 5 accepted"
    assert {line.split()[0]: int(line.split()[1]) for line in lines[1:-1]} == {**files.counts, "late": 3}


def test_the_accepted_rows_are_written_with_their_queries(files: Files) -> None:
    output = files / "matched"
    result = files.match("--output", output, files / "flights.csv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"4 rows read, 4 accepted, written to {output}\n"
    rows = [
        json.loads(line) for part in output.glob("*.gz") for line in gzip.decompress(part.read_bytes()).splitlines()
    ]
    queries = {row["flight"]: row["queries"] for row in rows}
    assert queries == {1: ["bay", "late"], 2: ["unknown"], 3: ["bay"], 4: ["late"]}
    again = files.match("--output", output, files / "flights.csv")
    assert (again.exit_code, len(again.stderr.splitlines())) == (1, 1)
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ({"late": "dely > 60"}, "did you mean 'delay'?"),
        ({"late": "reflect('java.lang.System', 'gc') = ''"}, "reflect"),
    ],
)
def test_a_refused_query_is_named(files: Files, queries: dict[str, str], said: str) -> None:
    (files / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    result = files.match(files / "flights.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    first = result.stderr.splitlines()[0]
    assert "late" in first
    assert said in first


@pytest.mark.parametrize(
    ("name", "content", "rows", "first"),
    [
        (
            "bad flights.ndjson",
            b'{"flight": 1, "delay": 75}\n\n{"flight": "x", "delay": 75}\n{"delay": \n{"dest": "\xff"}\n'
            b'{"delay": 61}\n',
            5,
            "value is not a JSON record of the stream's schema: column 'flight' holds no INT: "
            '{"flight": "x", "delay": 75}',
        ),
        (
            "bad.csv",
            b'\xef\xbb\xbfdest,flight,delay,_key\r\n"S ""F"" O",1,75,\r\nLAX,x,75,\r\nLAX,2\r\n \xff,3,75,\r\n'
            b"LAX,4,61,k\r\n",
            5,
            "value is not a CSV record of the stream's schema: column 'flight' holds no INT: LAX,x,75,",
        ),
    ],
    ids=["ndjson", "csv"],
)
def test_what_a_stream_would_not_decode_is_left_out_and_said(
    files: Files, name: str, content: bytes, rows: int, first: str
) -> None:
    (files / name).write_bytes(content)
    said = f"{files / name}: {first}"
    result = files.match(files / name, "--json")
    found = json.loads(result.stdout)
    assert (found["rows"], found["accepted"], found["queries"]["late"]) == (rows, 2, 2)
    assert (found["undecodable"], found["first_undecodable"]) == (3, said)
    assert f"warning: 3 rows cannot be decoded, excluded; the first: {said}\n" in result.stderr
    # Also where no query reads the bad field, and in the rows that are written.
    result = files.match(files / name, "--output", files / "out")
    assert result.stderr.splitlines()[0] == "starting Spark: as --spark says"
    assert result.stdout == f"{rows} rows read, 2 accepted, written to {files / 'out'}\n"
    assert "3 rows cannot be decoded" in result.stderr


@pytest.fixture
def zone_of_the_run() -> Iterator[None]:
    """Gives the session of the run its time zone again, which a command with another configuration has changed."""
    from pyspark.sql import SparkSession

    yield
    session = SparkSession._instantiatedSession
    if session is not None:
        session.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.usefixtures("zone_of_the_run")
def test_a_streams_options_decode_its_times(files: Files) -> None:
    (files / "flights.ddl").write_text("n INT, at TIMESTAMP", encoding="utf-8")
    (files / "queries.json").write_text(json.dumps({"later": "at > TIMESTAMP '2013-01-31 09:59:00'"}), encoding="utf-8")
    (files / "rows.csv").write_text("n,at\n1,31/01/2013 10:00\n2,31/01/2013 09:00\n", encoding="utf-8")
    (files / "rows.ndjson").write_text('{"n": 1, "at": "31/01/2013 10:00"}\n', encoding="utf-8")
    result = files.match(files / "rows.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    error = result.stderr.splitlines()[1]
    reason = f"the first: {files / 'rows.csv'}: value is not a CSV record of the stream's schema: "
    assert error.startswith(f"error: none could be decoded, rows 2: {reason}")
    assert error.endswith(": 1,31/01/2013 10:00; name the stream's options with --config or --option")
    option = ("--option", "timestampFormat=dd/MM/yyyy HH:mm")
    assert files.match_json(files / "rows.csv", *option)["queries"] == {"later": 1}
    (files / "asc.toml").write_text(
        '[spark]\ntime_zone = "Europe/Oslo"\n'
        '[streams.s]\ntopic = "t"\nformat = "json"\nschema = "n INT, at TIMESTAMP"\n'
        '[streams.s.options]\ntimestampFormat = "dd/MM/yyyy HH:mm"\n'
        '[streams.u]\ntopic = "u"\nformat = "csv"\nschema = "n INT"\n',
        encoding="utf-8",
    )
    for name, count in (("rows.csv", 1), ("rows.ndjson", 1)):
        arguments = ["match", "--queries", files / "queries.json", "--config", files / "asc.toml", files / name]
        found = CliRunner().invoke(main, [*map(str, arguments), "--stream", "s", "--json"])
        assert json.loads(found.stdout)["queries"] == {"later": count}, found.stderr
