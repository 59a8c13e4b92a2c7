"""What is known of files of rows before anything starts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.schema import Schema
from broker.errors import InputError
from broker.files.input_checks import check_columns, csv_columns, format_of

SCHEMA = Schema.from_ddl("n INT, at TIMESTAMP, place STRUCT<x: INT>")


def test_the_files_have_one_format() -> None:
    assert format_of([Path("a.csv"), Path("b.csv.gz")]) == "csv"
    with pytest.raises(InputError, match="csv, ndjson"):
        format_of([Path("a.csv"), Path("b.ndjson")])
    with pytest.raises(InputError, match="begins with '_'"):
        format_of([Path("_a.csv")])


def test_the_header_is_divided_as_the_options_say(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("N;x\n1;2\n", encoding="utf-8")
    assert csv_columns(path, SCHEMA, {"sep": ";"}) == ["N", "x"]
    with pytest.raises(InputError, match="has semicolons between the names: give --option sep=';'"):
        csv_columns(path, SCHEMA, {})
    path.write_text("n\tx\n1\t2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has tabs between the names: give --option sep='\\t'"):
        csv_columns(path, SCHEMA, {})
    with pytest.raises(InputError, match="the first line must name the columns"):
        csv_columns(path, Schema.from_ddl("m INT"), {"sep": "\\t"})
    assert csv_columns(path, SCHEMA, {"sep": "\\t"}) == ["n", "x"]
    path.write_text("n,place\n1,x\n", encoding="utf-8")
    with pytest.raises(InputError, match="CSV holds no nested values"):
        csv_columns(path, SCHEMA, {})


@pytest.mark.parametrize(
    ("column", "given", "said"),
    [
        ("x", pa.int32(), "no column of the schema"),
        ("N", pa.bool_(), "bool does not become INT"),
        ("at", pa.int64(), "int64 does not become TIMESTAMP"),
        ("place", pa.string(), "string does not become STRUCT"),
        ("n", pa.list_(pa.int32()), "does not become INT"),
        ("n", pa.string(), None),
        ("n", pa.float64(), None),
        ("at", pa.date32(), None),
        ("at", pa.null(), None),
    ],
)
def test_columns_of_parquet(tmp_path: Path, column: str, given: pa.DataType, said: str | None) -> None:
    (tmp_path / "folder.parquet").mkdir()
    pq.write_table(pa.table({column: pa.nulls(1, given)}), tmp_path / "folder.parquet" / "part.parquet")
    for path in (tmp_path / "folder.parquet", tmp_path / "folder.parquet" / "part.parquet"):
        if said is None:
            check_columns([path], "parquet", SCHEMA, {})
        else:
            with pytest.raises(InputError, match=said):
                check_columns([path], "parquet", SCHEMA, {})


@pytest.mark.parametrize("content", ['[{"n": 1}]', '\n [\n {"n": 1},\n {"n": 2}\n]\n', '\ufeff[{"n": 1}]'])
def test_a_json_array_is_refused_with_the_command_that_makes_lines_of_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "some rows.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"a JSON array, not NDJSON, .*: jq -c '\.\[\]' '.*some rows.json' writes"):
        check_columns([path], "ndjson", SCHEMA, {})
    path = tmp_path / "rows.json.gz"
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(InputError, match=r": zcat .*rows.json.gz \| jq -c '\.\[\]' writes"):
        check_columns([path], "ndjson", SCHEMA, {})


@pytest.mark.parametrize("content", ["", '{"n": 1}\n', "[1]\n", "x\n"])
def test_what_is_no_array_is_left_to_the_decoder(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_text(content, encoding="utf-8")
    check_columns([path], "ndjson", SCHEMA, {})
