"""CSV files many rows at a time: the rows, the bytes and the refusals of reading them one by one."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.schema import Schema
from broker.errors import InputError
from broker.files import csv_batches
from broker.files.csv_batches import read_csv_batches
from broker.files.input_files import STDIN, read_csv
from broker.files.records import Target, read_batches
from broker.files.stream_times import time_rewrites, times_rewritten
from broker.formats.registry import RECORD_FORMATS

SCHEMA = Schema.from_ddl(
    "i INT, big BIGINT, x DOUBLE, price DECIMAL(10,2), ok BOOLEAN, s STRING, at TIMESTAMP, day DATE, raw BINARY"
)
NESTED = Schema.from_ddl("s STRING, place STRUCT<city: STRING>, tags ARRAY<INT>")
PATTERNS = {"timestampFormat": "dd/MM/yyyy HH:mm:ss", "dateFormat": "d.M.yyyy", "timeZone": "Europe/Oslo"}

Outcome = tuple[list[tuple[bytes | None, bytes]], str | None]


def one_by_one(path: Path, target: Target, key: str | None) -> Outcome:
    """What is published of a file that is read row by row: the records, and what is then wrong with it."""
    encode = RECORD_FORMATS[target.format].encoder_of_texts(target.schema)
    found: list[tuple[bytes | None, bytes]] = []
    rewritten: Callable[[Any], Any] | None = None
    try:
        for row in read_csv(path, lambda _: None):
            if rewritten is None:
                rewrites = time_rewrites(target.schema, target.options, target.time_zone, list(row), texts=True)
                rewritten = times_rewritten(target.schema, rewrites)
            text = None if key is None else row[key]
            found.append((None if text is None else text.encode(), encode(rewritten(row))))
    except InputError as error:
        return found, str(error)
    return found, None


def at_once(path: Path, target: Target, key: str | None) -> Outcome:
    found: list[tuple[bytes | None, bytes]] = []
    try:
        for values, keys in read_batches(
            path, "csv", target, key, advance=lambda _: None, on_columns=lambda _columns, _by_case: None
        ):
            found += zip(keys or [None] * len(values), values, strict=True)
    except InputError as error:
        return found, str(error)
    return found, None


TEXTS = st.one_of(
    st.sampled_from(
        [
            *("", "0", "-0", "7", "-12", "+5", "007", "1.5", "1.", ".5", "1e3", "1E-7", "-1.10", "NaN", "Infinity"),
            *("9" * 30, "12345678901234567890.123", "0x1F", "1_000", "١", " 7", "7 ", "true", "FALSE", "True", "falſe"),
            *("2013-01-31", "2013-01-31T10:00:05Z", "2013-01-31 10:00:05.5", "31/01/2013 10:00:05", "2013-02-30"),
            *("æøå", "😀", "\u2028", "\u0085", "\xa0x", "\ufeff", "\x7f", "\x1f", "tab\there", "back\\slash", "NULL"),
            *('say "hi"', "a,b", "line\nbreak", "line\r\nbreak", "\r", '{"city":"Oslo"}', "[1,2", "'", "\u0130"),
        ]
    ),
    st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=6),
)
ROWS = st.lists(st.lists(TEXTS, min_size=3, max_size=3), max_size=12)
HEADERS = st.lists(
    st.sampled_from(["i", "BIG", "x", "Price", "price", "ok", "s", "at", "day", "raw", "gate", "ø"]),
    min_size=3,
    max_size=3,
    unique=True,
)


class Case(NamedTuple):
    header: list[str]
    rows: list[list[str]]
    end: str
    quoting: Any
    mark: str
    size_bytes: int
    record_format: str
    options: dict[str, str]
    has_key: bool


CASES = st.builds(
    Case,
    header=HEADERS,
    rows=ROWS,
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    mark=st.sampled_from(["", "\ufeff"]),
    size_bytes=st.sampled_from([1, 30, 1 << 20]),
    record_format=st.sampled_from(["json", "csv"]),
    options=st.sampled_from([{}, PATTERNS]),
    has_key=st.booleans(),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=CASES)
def test_what_is_published_is_what_reading_row_by_row_publishes(tmp_path: Path, case: Case) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=case.end, quoting=case.quoting).writerows([case.header, *case.rows])
    path = tmp_path / "rows.csv"
    path.write_bytes(f"{case.mark}{text.getvalue()}".encode())
    target, key = Target(case.record_format, SCHEMA, case.options), case.header[1] if case.has_key else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_batches, "_BLOCK_BYTES", case.size_bytes)
        assert at_once(path, target, key) == one_by_one(path, target, key)


ODD_FILES = [
    b"",
    b"\n",
    b"\nflight,s\n",
    b"i,s",
    b"i,s\n",
    b"i,i\n1,2\n",
    b"i\n1\n\n2\n \n",
    b'i\n1\n""\n2\n',
    b"i,s\n1,a\n\n\r\n2,b\n",
    b"i,s\n1,a\n2\n3,c\n",
    b"i,s\n1,a\n2,b,c\n3,c\n",
    b"i,s\n1,a\n   \n3,c\n",
    b'i,s\n1,a\n2,say "hi" twice\n3,c\n',
    b'i,s\n1,a\n2,"hi" there\n3,c\n',
    b'i,s\n1,a\n2,"never closed\n3,c\n',
    b'i,s\n1,a\n2, "b"\n3,c\n',
    b'i,s\n1,"a\nb"\n2,"c\r\n\r\nd"\n3,c,d\n',
    b'i,"s"\n1,a\n',
    b'i,"s\nt"\n1,a\n2,b\n',
    b"i,s\n1,a\rb\n2,c\n",
    b"i,s\r1,a\r2,b\r",
    b"i,s\n1,a\n2,\0\n3,c\n",
    b"i,s\n1," + b"a" * csv.field_size_limit() + b"\n",
    b"i,s\n1,a\n2," + b"a" * (csv.field_size_limit() + 1) + b"\n3,c\n",
]


@pytest.mark.parametrize("content", ODD_FILES)
@pytest.mark.parametrize("size_bytes", [1, 16, 1 << 20])
def test_files_that_are_odd_are_read_and_refused_as_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, size_bytes: int
) -> None:
    monkeypatch.setattr(csv_batches, "_BLOCK_BYTES", size_bytes)
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    target = Target("json", SCHEMA)
    assert at_once(path, target, None) == one_by_one(path, target, None)


def test_a_field_that_does_not_end_is_held_as_long_as_the_limit_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_batches, "_OPEN_BYTES_MAX", 30)
    read = iter([b'a,"' + b"x" * 7, *[b"x" * 10] * 9])
    assert len(next(csv_batches._whole(read, waits=True))) == 30
    assert len(list(read)) == 7


def test_a_field_is_as_long_as_the_limit_and_no_longer(tmp_path: Path) -> None:
    path, target = tmp_path / "rows.csv", Target("json", SCHEMA)
    for beyond in (0, 1):
        path.write_bytes(b"s,i\n" + b"x" * (csv_batches._FIELD_BYTES_MAX + beyond) + b",1\n")
        records, trouble = at_once(path, target, None)
        assert (records, trouble) == one_by_one(path, target, None)
        assert (len(records), trouble is None) == (1 - beyond, not beyond)


@pytest.mark.parametrize("content", [b"i,s\n1,a\n2,b\n3,\xff\n4,d\n", b"i,s\n1,a\n2,b\n3,\xf0\x9f\x98"])
def test_text_that_is_none_is_told_after_the_rows_before_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    records, refusal = at_once(path, Target("json", SCHEMA), None)
    assert [value for _, value in records] == [b'{"i":1,"s":"a"}', b'{"i":2,"s":"b"}']
    assert (refusal or "").startswith(f"not readable as CSV, file '{path}': after line 3: is it CSV in UTF-8? Byte 0x")


@pytest.mark.parametrize("size_bytes", [1, 1 << 20])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'i\n"5\n', "in line 2 has a quote that is not closed"),
        (b'i,s\n1,a\n2,"b\n3,c\n', "in line 3 has a quote that is not closed"),
        (b'i,s\n1,"a\nb"\n\n2,"b" c\n', "in line 5 has text behind a closing quote"),
    ],
)
def test_a_row_at_fault_is_named_by_the_line_that_it_begins_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, said: str, size_bytes: int
) -> None:
    monkeypatch.setattr(csv_batches, "_BLOCK_BYTES", size_bytes)
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    _, refusal = at_once(path, Target("json", SCHEMA), None)
    assert f": the row that begins {said}" in (refusal or "")


def test_nested_texts_stand_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('s,place,tags\na,"{""city"":""Oslo""}",[1]\nb,{,\n', encoding="utf-8")
    target = Target("json", NESTED)
    assert at_once(path, target, "s") == one_by_one(path, target, "s")


def test_quotes_that_are_where_they_belong_are_read_by_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where fields with line breaks lie across the blocks that are read."""

    def refuse(*_: object) -> None:
        raise AssertionError("read by Python")

    monkeypatch.setattr(csv_batches, "_by_python", refuse)
    monkeypatch.setattr(csv_batches, "_BLOCK_BYTES", 64)
    path = tmp_path / "rows.csv"
    lines = "".join(f'{number},"a ""quoted""\nfield, of {number}"\r\n' for number in range(100))
    path.write_text(f"i,s\n{lines}", encoding="utf-8", newline="")
    found = [row for batch in read_csv_batches(path, lambda _: None) for row in batch.to_pylist()]
    assert found == list(read_csv(path, lambda _: None))


class _Pipe:
    """Gives what it is told to, a part at a time, and says how much was asked for."""

    def __init__(self, *parts: bytes) -> None:
        self.given = 0
        self._parts = parts

    @property
    def buffer(self) -> _Pipe:
        return self

    def read1(self, _size_bytes: int) -> bytes:
        self.given += 1
        return self._parts[self.given - 1] if self.given <= len(self._parts) else b""


@pytest.mark.parametrize("odd", ["b", '"b"', '5" b'])
def test_of_a_pipe_rows_are_given_as_they_come(monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    pipe = _Pipe(b"i,s\n", b"1,a\n", f"2,{odd}\n3,".encode(), b"c\n", b"4,d\n")
    monkeypatch.setattr(sys, "stdin", pipe)
    seen = [(pipe.given, row["i"]) for batch in read_csv_batches(STDIN, lambda _: None) for row in batch.to_pylist()]
    assert seen == [(2, "1"), (3, "2"), (4, "3"), (5, "4")]
