"""The schema behind ``--schema``: DDL or the JSON of a StructType, else one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from asc.schema import Schema
from broker.errors import InputError
from broker.files.schema_file import read_schema, read_text

Run = Callable[..., Result]


@pytest.mark.parametrize("text", ["delay INT, dest STRING", "\n delay INT,\n dest STRING\n"])
def test_ddl(tmp_path: Path, text: str) -> None:
    path = tmp_path / "flights.ddl"
    path.write_text(text, encoding="utf-8")
    assert read_schema(path).arrow == Schema.from_ddl("delay INT, dest STRING").arrow


@pytest.mark.parametrize("before", ["", "\n  "])
def test_the_json_of_a_struct_type_whatever_the_file_is_called(tmp_path: Path, before: str) -> None:
    path = tmp_path / "schema.txt"
    field = {"name": "delay", "type": "integer", "nullable": True, "metadata": {}}
    path.write_text(before + json.dumps({"type": "struct", "fields": [field]}), encoding="utf-8")
    assert read_schema(path).arrow == Schema.from_ddl("delay INT").arrow


def test_a_schema_that_is_none_is_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.ddl"
    path.write_text("delay WHATEVER<", encoding="utf-8")
    result = run("query", "check", "--where", "delay > 1", "--schema", path)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(f"error: schema file '{path}': ")


def test_an_empty_file_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "empty.ddl"
    path.write_text("\n", encoding="utf-8")
    result = run("query", "check", "--where", "delay > 1", "--schema", path)
    said = f"error: schema file '{path}': is empty: write the fields, as delay INT, dest STRING; 'asc schema infer' "
    assert (result.exit_code, result.stderr.startswith(said)) == (1, True)


@pytest.mark.parametrize("name", ["rows.csv", "rows.CSV.gz", "rows.ndjson", "rows.parquet"])
def test_a_file_of_records_is_no_schema(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"n\n1\n")
    remedy = f"'asc schema infer {path}' prints their schema: write that to a file, and name it"
    with pytest.raises(InputError) as raised:
        read_schema(path)
    assert str(raised.value) == f"records, and no schema, in file '{path}': {remedy}"


def test_a_schema_that_is_not_text_is_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.ddl"
    path.write_bytes(b"\xff\xfe\x00")
    result = run("query", "check", "--where", "delay > 1", "--schema", path)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)


def test_the_byte_that_is_no_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.ddl"
    path.write_bytes("größe INT".encode("latin-1"))
    with pytest.raises(InputError, match="byte 2 is not"):
        read_text(path)
