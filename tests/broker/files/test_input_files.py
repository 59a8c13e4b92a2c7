"""Files of rows, one row at a time: formats by name, bytes read so far, and files that cannot be read."""

from __future__ import annotations

import csv
import gzip
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker.errors import InputError
from broker.files.input_files import (
    ROWS_A_STEP,
    check_line_lengths,
    csv_header,
    file_format,
    parquet_schema,
    read_blocks,
    read_csv,
    read_lines,
    read_parquet,
)

ROWS = 2 * ROWS_A_STEP + 1


def ignored(_done: int) -> None:
    """Not asked for here."""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("rows.csv", "csv"),
        ("rows.2013.CSV.GZ", "csv"),
        ("rows.ndjson", "ndjson"),
        ("rows.jsonl.gz", "ndjson"),
        ("rows.json", "ndjson"),
        ("rows.parquet", "parquet"),
    ],
)
def test_the_format_is_the_end_of_the_name(name: str, found: str) -> None:
    assert file_format(Path(name)) == found


@pytest.mark.parametrize("name", ["rows", "rows.gz", "rows.xls", "rows.csv.zip", ".csv", "csv"])
def test_another_end_is_one_line(name: str) -> None:
    with pytest.raises(InputError, match="unknown format of file"):
        file_format(Path(name))


def test_gzip_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"n\n1\n2\n"))
    assert list(read_csv(path, ignored)) == [{"n": "1"}, {"n": "2"}]
    assert csv_header(path) == ("n", ["n"])


def test_a_field_that_is_empty_is_none_and_a_line_that_is_empty_no_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b'\xef\xbb\xbfa,"b,c"\r\n\r\n"1\n2",\r\n,""\r\n')
    assert list(read_csv(path, ignored)) == [{"a": "1\n2", "b,c": None}, {"a": None, "b,c": None}]
    assert csv_header(path) == ('a,"b,c"', ["a", "b,c"])


def test_lines_come_without_their_ends_and_blank_ones_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b' {"a": 1} \r\n\n \t\n\xff\n{}')
    assert list(read_lines(path, ignored)) == [(1, b' {"a": 1} '), (4, b"\xff"), (5, b"{}")]


def write_csv(path: Path) -> None:
    path.write_text("n\n" + "1\n" * ROWS, encoding="utf-8")


def write_lines(path: Path) -> None:
    path.write_text("1\n" * ROWS, encoding="utf-8")


def write_parquet(path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array([1] * ROWS)}), path)


@pytest.mark.parametrize(
    ("read", "write"), [(read_csv, write_csv), (read_lines, write_lines), (read_parquet, write_parquet)]
)
def test_the_bytes_that_were_read_rise_to_the_size_of_the_file(
    tmp_path: Path, read: Callable[..., Iterable[object]], write: Callable[[Path], None]
) -> None:
    path = tmp_path / "rows"
    write(path)
    sizes: list[int] = []
    assert sum(1 for _ in read(path, sizes.append)) == ROWS
    assert sizes == sorted(sizes)
    assert len(sizes) >= ROWS // ROWS_A_STEP
    assert sizes[-1] == path.stat().st_size


@pytest.mark.parametrize("wrapped", [lambda inner: pa.struct([("f", inner)]), pa.list_], ids=["structs", "lists"])
def test_parquet_nested_beyond_what_arrow_reads_is_named(
    wrapped: Callable[[pa.DataType], pa.DataType], tmp_path: Path
) -> None:
    column = pa.int64()
    for _ in range(150):
        column = wrapped(column)
    path = tmp_path / "deep.parquet"
    pq.write_table(pa.table({"deep": pa.nulls(1, column)}), path)
    for read in (parquet_schema, lambda path: list(read_parquet(path, ignored))):
        with pytest.raises(InputError, match=r"not readable as Parquet, file '.*deep.parquet': .*too deeply nested"):
            read(path)


@pytest.mark.parametrize("damaged", [b"name", b"text"])
def test_parquet_whose_names_or_texts_are_damaged_is_named(damaged: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"name": ["text"]}), path, compression="none", store_schema=False, write_statistics=False)
    path.write_bytes(path.read_bytes().replace(damaged, b"\xff" * 4))
    with pytest.raises(InputError, match=r"not readable as Parquet, file '.*rows.parquet': .*utf-8"):
        list(read_parquet(path, ignored))
    if damaged == b"name":
        with pytest.raises(InputError, match="not readable as Parquet"):
            parquet_schema(path)


def test_parquet_gives_its_columns_and_values(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"n": [1, None], "Größe": ["a", ""]}), path)
    assert parquet_schema(path).names == ["n", "Größe"]
    assert list(read_parquet(path, ignored)) == [{"n": 1, "Größe": "a"}, {"n": None, "Größe": ""}]
    pq.write_table(pa.table({"n": pa.array([], pa.int32())}), path)
    assert list(read_parquet(path, ignored)) == []


@pytest.mark.parametrize("size_bytes", [1, 3, 7, 100])
def test_blocks_are_whole_lines(tmp_path: Path, size_bytes: int) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"ab\n\nc\r\nlonger than a block\nend"))
    blocks = list(read_blocks(path, size_bytes, ignored))
    assert b"".join(blocks) == b"ab\n\nc\r\nlonger than a block\nend"
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    path.write_bytes(b"ab")
    with pytest.raises(InputError, match="broken gzip file"):
        list(read_blocks(path, size_bytes, ignored))


def test_a_header_with_other_signs(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a;'b;c';d\n", encoding="utf-8")
    assert csv_header(path, ";", "'")[1] == ["a", "b;c", "d"]
    assert csv_header(path, ";", "")[1] == ["a", "'b", "c'", "d"]
    path.write_text("a||b||c\n", encoding="utf-8")
    assert csv_header(path, "||")[1] == ["a", "b", "c"]


DAMAGED_GZIP = gzip.compress(b"n\n", mtime=0)[:10] + b"\xff" * 20
"""Of a sound head, and a body that no deflate is."""


def read(path: Path) -> object:
    """All of it, as its name says."""
    readers: dict[str, Callable[..., Iterable[object]]] = {
        "csv": read_csv,
        "ndjson": read_lines,
        "parquet": read_parquet,
    }
    return list(readers[file_format(path)](path, ignored))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", b"", "no usable header"),
        ("rows.csv", b"n,n\n1,2\n", "no usable header"),
        ("rows.csv", b"n,name\n1\n", "line 2 has 1 fields, the header 2"),
        ("rows.csv", b"n\n\xff\n", "not readable as CSV"),
        ("rows.csv", "id,name\n1,Zo\u00eb\n".encode("utf-16"), "it is UTF-16LE, not UTF-8: 'iconv -f UTF-16 -t UTF-8'"),
        ("rows.csv", "id,name\n1,Zo\u00eb\n".encode("utf-16-le"), "'iconv -f UTF-16LE -t UTF-8' makes it that"),
        (
            "rows.csv.gz",
            gzip.compress("id,name\n".encode("utf-16-be"), mtime=0),
            "'iconv -f UTF-16BE -t UTF-8' makes it that",
        ),
        ("rows.ndjson", '{"n": 1}\n'.encode("utf-16"), "it is UTF-16LE, not UTF-8"),
        ("rows.csv", b'n\n"1\n', "the row that begins in line 2 has a quote that is not closed: close it"),
        ("rows.csv", b'n\n1\n\n"2\n3" x\n4\n', "the row that begins in line 4 has text behind a closing quote: write"),
        ("rows.csv.gz", b"n\n1\n", "broken gzip file"),
        ("rows.ndjson.gz", gzip.compress(b'{"n":1}\n', mtime=0)[:-9], "broken gzip file"),
        ("rows.csv.gz", DAMAGED_GZIP, "broken gzip file"),
        ("rows.ndjson.gz", DAMAGED_GZIP, "broken gzip file"),
        ("rows.parquet", b"PAR1", "not readable as Parquet"),
        ("rows.parquet", b"", "not readable as Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", b"\xff\n", "rows.csv': is it CSV in UTF-8"),
        ("rows.csv", b"n" * (csv.field_size_limit() + 1), "in line 1 has a field of over 131,072 characters: shorten"),
        ("rows.csv.gz", b"n\n1\n", "broken gzip file"),
        ("rows.csv.gz", gzip.compress(b"n\n" * 9, mtime=0)[:-12], "broken gzip file"),
        ("rows.csv.gz", DAMAGED_GZIP, "broken gzip file"),
    ],
)
def test_a_header_that_cannot_be_read_is_one_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        csv_header(path)
    assert "\n" not in str(caught.value)


LINE_BYTES = 4 << 20


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have lines be no longer than files of tests are made quickly."""
    monkeypatch.setattr("broker.files.input_files.LINE_BYTES_MAX", LINE_BYTES)


@pytest.fixture
def one_line(tmp_path: Path, short_lines: None) -> Path:
    """A file of some kB whose second line is sixteen times as long as any may be."""
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n")
        for _ in range(16):
            file.write(b"1" * LINE_BYTES)
    return path


READERS: dict[str, Callable[[Path], object]] = {
    "lines": lambda path: list(read_lines(path, ignored)),
    "blocks": lambda path: sum(map(len, read_blocks(path, 1 << 20, ignored))),
    "csv": lambda path: list(read_csv(path, ignored)),
    "scan": lambda path: check_line_lengths([path]),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_line_that_is_too_long_ends_every_reader_before_it_is_read_whole(reader: str, one_line: Path) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as refused:
            READERS[reader](one_line)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    said = "has more than 4,194,304 bytes in one line: is it text, a row a line? Divide it into lines"
    assert str(refused.value) == f"file of rows '{one_line}': {said}"
    # The line, and the copy that a reader makes as it grows.
    assert peak_bytes < 4 * LINE_BYTES


@pytest.mark.usefixtures("short_lines")
def test_a_header_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a" * (LINE_BYTES + 1), 1))
    with pytest.raises(InputError, match="in one line"):
        csv_header(path)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("length", [LINE_BYTES - 1, LINE_BYTES])
def test_the_longest_line_is_read(length: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson.gz"
    path.write_bytes(gzip.compress(b"x\n" + b"1" * length + b"\ny", 1))
    check_line_lengths([path])
    assert sum(map(len, read_blocks(path, 1 << 20, ignored))) == length + 4
