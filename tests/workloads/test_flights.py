"""The packaged sample of flights."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from asc.predicate import normalise
from asc.schema import Schema
from workloads.flights import QUERIES, SAMPLE_ROWS, SCHEMA, sample_lines, sample_path, write_sample


def test_the_sample_has_the_columns_of_its_schema_and_keeps_missing_values() -> None:
    header, *rows = csv.reader(sample_lines())
    assert header == Schema.from_ddl(SCHEMA).arrow.names
    assert len(rows) == SAMPLE_ROWS
    dep_time = header.index("dep_time")
    assert any(row[dep_time] == "" for row in rows)
    assert sample_path().stat().st_size < 1_000_000


def test_drawing_is_reproducible_and_only_empties_missing_values(tmp_path: Path) -> None:
    table = tmp_path / "table.csv.gz"
    lines = [b"a,b", *(f"{i},{i % 7 or 'NA'}".encode() for i in range(SAMPLE_ROWS + 5_000))]
    table.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    first, second = tmp_path / "first.csv.gz", tmp_path / "second.csv.gz"
    assert write_sample(table, first) == write_sample(table, second) == SAMPLE_ROWS
    assert first.read_bytes() == second.read_bytes()
    header, *drawn = gzip.decompress(first.read_bytes()).splitlines()
    assert header == lines[0]
    assert {line + b"NA" if line.endswith(b",") else line for line in drawn} <= set(lines)
    assert drawn == sorted(drawn, key=lambda line: int(line.split(b",")[0]))


def test_every_demo_predicate_is_allowed_and_neither_empty_nor_full() -> None:
    schema = Schema.from_ddl(SCHEMA)
    for where in QUERIES.values():
        predicate = normalise(where, schema)
        assert predicate.conjuncts
        assert predicate.warnings == ()
