"""Rows of files as Spark reads them, through ``asc match``: the same of every format, and by the rules of a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.cli.conftest import Files


@pytest.mark.parametrize("name", ["flights.csv", "flights.ndjson.gz", "flights.parquet"])
def test_counts_are_the_same_from_every_format(files: Files, spark: SparkSession, name: str) -> None:
    if name == "flights.parquet":
        # As Spark writes it, with another type and another spelling than the schema's.
        rows = [(row["delay"], row["flight"], row["dest"]) for row in files.rows]
        frame = spark.createDataFrame(rows, "delay BIGINT, FLIGHT INT, dest STRING")
        frame.coalesce(1).write.parquet(str(files / name))
    assert files.match_json(files / name) == {
        "rows": 4,
        "accepted": 4,
        "undecodable": 0,
        "first_undecodable": None,
        "queries": files.counts,
        "engine": "spark",
    }


def test_inputs_that_do_not_go_together_are_one_line(files: Files) -> None:
    (files / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (files / "broken.parquet").write_bytes(b"PAR1")
    for name in ("_hidden.csv", ".hidden.ndjson"):
        (files / name).write_text("delay\n75\n", encoding="utf-8")
    (files / "cut.csv").write_text('delay,"de\nst"\n75,SFO\n', encoding="utf-8")
    for inputs, said in (
        (["flights.csv", "broken.parquet"], "files of several formats"),
        (["other.csv"], "no column of the schema"),
        (["broken.parquet"], "broken.parquet"),
        (["flights.ddl"], "unknown format of file"),
        (["_hidden.csv"], "begins with '_' or '.'"),
        ([".hidden.ndjson"], "begins with '_' or '.'"),
        (["cut.csv"], "ends inside a quoted name"),
    ):
        result = files.match(*(files / name for name in inputs))
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
        assert said in result.stderr


def test_a_row_of_csv_is_a_line(files: Files) -> None:
    lines = ["delay,dest", '75,"San', 'Francisco"', '75,"S""F""O"', '75,"S, F"']
    (files / "cut.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = files.match_json(files / "cut.csv")
    assert (found["rows"], found["accepted"], found["undecodable"]) == (4, 2, 2)
    assert found["first_undecodable"].endswith('cut.csv: line ends inside a quoted field, or begins there: 75,"San')


@pytest.fixture(params=[40, 1 << 20])
def part_bytes(spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So much of a file is one part, in a session of its own; the command takes the one that was made first."""
    session = spark.newSession()
    session.conf.set("spark.sql.files.maxPartitionBytes", request.param)
    monkeypatch.setattr(type(spark), "_instantiatedSession", session)
    size: int = request.param
    return size


@pytest.mark.usefixtures("part_bytes")
def test_only_the_first_line_of_a_file_is_its_header(files: Files) -> None:
    """Also where Spark reads it in many parts: a later line that equals the header is a row, here of texts."""
    (files / "queries.json").write_text(json.dumps({"again": "dest = 'dest'", "other": "dest = 'x'"}), encoding="utf-8")
    (files / "texts.csv").write_text("\n".join(["dest", "x", "dest"] * 20), encoding="utf-8")
    (files / "more.csv").write_text("extra,dest\n" + "extra,dest\n" * 15, encoding="utf-8")
    found = files.match_json(files / "texts.csv", files / "more.csv")
    assert (found["rows"], found["queries"]) == (59 + 15, {"again": 39 + 15, "other": 20})
