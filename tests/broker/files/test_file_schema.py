"""Schemas of files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.errors import AscError
from asc.schema import Schema
from broker.errors import InputError
from broker.files.file_schema import schema_of_file


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"n,odd name,at,_key,\n1,x,2013-01-31T10:00:00Z,k,z\n,,,,\n"))
    found = schema_of_file(path, 100)
    assert found.ddl == "n INT,\n`odd name` STRING,\nat TIMESTAMP,\n_key STRING"
    assert Schema.from_ddl(found.ddl).arrow.names == ["n", "odd name", "at", "_key"]
    assert found.notes[0] == "n: INT from 2 rows, 50% empty"
    assert "a column without a name: excluded" in found.notes
    assert found.notes[-1].startswith("_key: a stream cannot have it")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "5,Oslo,2013-01-31",
            ["the first line was taken for names, though '5' is a value: put a line of names before it"],
        ),
        ("id;name", ["one column, 'id;name': fields are divided by commas, not by semicolons"]),
        ("id\tname", ["control characters instead of names in file", "it has tabs between the names"]),
        ("id\x01name", ["control characters instead of names in file", "a column would be named 'id\\x01name'"]),
        ("id,name2", []),
    ],
    ids=["values", "semicolons", "tabs", "controls", "names"],
)
def test_a_first_line_that_hardly_names_columns_is_told(tmp_path: Path, header: str, said: list[str]) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{header}\n{header}\n", encoding="utf-8")
    try:
        notes = [*schema_of_file(path, 100).notes]
    except InputError as error:
        notes = [error.subject, error.remedy.partition(":")[0]]
    assert [note for note in notes if note.split(":")[0] not in [*header.split(","), header]] == said


def test_only_so_many_rows_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    rows = [{"n": 1, "place": {"x": None}}, {"place": {"x": 1.5}, "m": [1]}, {"n": "text"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert schema_of_file(path, 2).ddl == "n INT,\nplace STRUCT<x: DOUBLE>,\nm ARRAY<INT>"
    found = schema_of_file(path, 3)
    assert found.ddl.startswith("n STRING,")
    assert found.notes[0] == "n: STRING from 3 rows, 33% empty; mixed: integer as '1' (1), text as 'text' (1)"
    assert schema_of_file(path, 1).notes[1].endswith("; place.x: no value was seen")


@pytest.mark.parametrize(
    ("name", "content", "first"),
    [
        ("rows.ndjson", '{"n": 1}\n\n{"n": 2\n[3]\n{"n": 4}\n', "line 3 is no JSON object"),
        ("rows.csv", "n,s\n1,a\n2\n3,b,c\n4,d\n", "line 3 has 1 fields, the header 2"),
    ],
)
def test_malformed_lines_are_excluded_and_counted(tmp_path: Path, name: str, content: str, first: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = schema_of_file(tmp_path / name, 100)
    assert (found.malformed, found.first_malformed) == (2, first)
    assert found.notes[0] == "n: INT from 2 rows"


def test_parquet_has_its_own(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": pa.array([1], pa.uint32()),
            "at": pa.array([1], pa.timestamp("ns", tz="UTC")),
            "s": pa.array(["a"]).dictionary_encode(),
            "place": pa.array([{"day": 1, "u": 2}], pa.struct([("day", pa.date32()), ("u", pa.uint64())])),
            "clock": pa.array([1], pa.time32("s")),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    found = schema_of_file(tmp_path / "rows.parquet", 1)
    assert found.ddl == "n BIGINT,\nat TIMESTAMP,\ns STRING,\nplace STRUCT<day: DATE, u: DECIMAL(20,0)>"
    assert found.notes[0] == "n: BIGINT, for uint32, as the file says"
    assert "clock: excluded" in found.notes[-1]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", "a,b\n", "no field in file"),
        ("rows.ndjson", "", "no field in file"),
        ("rows.ndjson", "[1]\n", "malformed lines in file .*: 1 line looked at, the first: line 1 is no JSON object"),
        ("rows.ndjson", "\n" + "x\n" * 12, "10 lines looked at, the first: line 2 is no JSON object"),
        ("rows.csv", "a,b\n1\n2\n", "2 lines looked at, the first: line 2 has 1 fields, the header 2"),
        ("rows.json", '[\n{"a": 1}\n]\n', r"a JSON array, not NDJSON, in file .*: jq -c '\.\[\]'"),
        ("rows.ndjson", '{"a": 1, "A": 2}\n', "duplicate field"),
        ("rows.csv", "a,A\n1,2\n", "duplicate field"),
        ("rows.txt", "a", "unknown format of file"),
    ],
)
def test_a_file_without_a_schema_is_one_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(AscError, match=said) as caught:
        schema_of_file(tmp_path / name, 10)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", b"\x00\x01,b\n1,2\n", "a column would be named '\\x00\\x01': is it CSV in UTF-8?"),
        ("rows.csv", b"\x89PNG\r\n\x1a\n", "is it CSV in UTF-8? Byte 0x89 stands where none can"),
        ("rows.ndjson", b"\x89PNG\r\n\x1a\n", "line 1 is no JSON object; mend or remove them"),
        ("rows.parquet", b"\x89PNG\r\n\x1a\n", "not readable as Parquet"),
    ],
)
def test_what_is_no_such_file_is_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        schema_of_file(path, 10)
    assert said in str(raised.value)
