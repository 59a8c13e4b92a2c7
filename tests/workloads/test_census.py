"""The packaged census columns: there, whole, and as described; a bad file is one clear line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workloads.census import COLUMNS, ROWS, census_path, census_tuples, distinct_values, write_census
from workloads.errors import WorkloadError


def test_the_packaged_columns() -> None:
    table = census_tuples()
    assert (table.num_rows, table.schema.names) == (ROWS, list(COLUMNS))
    assert set(table.schema.types) == {pa.int32()}
    assert census_path().stat().st_size < 2_000_000
    values = distinct_values(table)
    assert [(int(own[0]), int(own[-1])) for own in values[:3]] == [(0, 90), (0, 51), (0, 46)]
    assert [len(own) for own in values] == [91, 52, 47, 1240, 132, 113, 1478, 7, 3, 53]


def missing(path: Path) -> None:
    assert not path.exists()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_off(path: Path) -> None:
    path.write_bytes(census_path().read_bytes()[:300_000])


def one_byte_changed(path: Path) -> None:
    content = bytearray(census_path().read_bytes())
    content[100_000] ^= 0xFF
    path.write_bytes(content)


def fewer_rows(path: Path) -> None:
    pq.write_table(census_tuples().slice(0, 10), path)


def other_columns(path: Path) -> None:
    pq.write_table(census_tuples().drop_columns(["age"]), path)


@pytest.mark.parametrize("spoil", [missing, empty, cut_off, one_byte_changed, fewer_rows, other_columns])
def test_a_bad_file_is_one_clear_line(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "census.parquet"
    spoil(path)
    with pytest.raises(WorkloadError) as caught:
        census_tuples(path)
    line = str(caught.value)
    assert "\n" not in line
    assert str(path) in line
    assert "python -m workloads.census" in line


def test_the_ten_columns_are_taken_from_the_source(tmp_path: Path) -> None:
    rows = [[str(100 * row + place) for place in range(42)] for row in range(3)]
    source = tmp_path / "census-income.csv.gz"
    source.write_bytes(gzip.compress("\n".join(", ".join(row) for row in rows).encode()))
    assert write_census(source, tmp_path / "census.parquet") == 3
    table = pq.read_table(tmp_path / "census.parquet")
    assert table.to_pydict() == {name: [place, 100 + place, 200 + place] for name, place in COLUMNS.items()}
