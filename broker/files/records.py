"""Rows of a file, encoded as records of a stream: JSON objects or CSV lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from broker.errors import InputError
from broker.files.csv_batches import read_csv_batches
from broker.files.input_files import ROWS_A_STEP, Advance, begins_array, parquet_schema, read_blocks, read_parquet
from broker.files.stream_times import time_rewrites, times_rewritten
from broker.formats.plain_text import plain_text
from broker.formats.registry import RECORD_FORMATS
from broker.formats.spelling import spelled
from broker.formats.text_columns import mapped

if TYPE_CHECKING:
    from asc.schema import Schema

_BLOCK_BYTES = 1 << 20
_LINES_LOOKED_AT = 100
_SIGNS = {"sep": ",", "delimiter": ",", "quote": '"', "escape": '"'}
"""The separator and quote options with which CSV lines are written."""


@dataclass(frozen=True, slots=True)
class Target:
    """The stream for which records are written: its format and fields, its decoding options, and its time zone."""

    format: str
    schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"


OnColumns = Callable[[Sequence[str], bool], object]
"""A callback that receives the known columns of a file before its first row, and whether their names are
case-sensitive.
"""


class RecordBatch(NamedTuple):
    """Consecutive records of a file: their values, and their keys if they have keys."""

    values: Sequence[bytes]
    keys: Sequence[bytes | None] | None


class OddLine(NamedTuple):
    """A line of NDJSON that is not a JSON object. ``number``: the line's number in the file.

    ``is_all``: whether no line so far is an object. ``begins_array``: whether the line is the first of the file and
    begins an array.
    """

    number: int
    is_all: bool = False
    begins_array: bool = False


@dataclass(slots=True)
class OddLines:
    """Statistics of the NDJSON lines read so far that are not JSON objects: their count, and the number of the first.

    ``on_first`` is called with the first such line before its record is yielded.
    """

    on_first: Callable[[OddLine], object] = lambda _: None
    count: int = 0
    first: int | None = None

    def see(self, odd: Sequence[OddLine]) -> None:
        """Count further lines that are not JSON objects."""
        if odd and self.first is None:
            self.first = odd[0].number
            self.on_first(odd[0])
        self.count += len(odd)


@dataclass(slots=True)
class Skip:
    """The number of records at the beginning of a file that remain to be skipped."""

    left: int = 0

    def of(self, count: int) -> int:
        """Return how many of the next ``count`` records are to be skipped."""
        passed = min(self.left, count)
        self.left -= passed
        return passed


_Numbered = Sequence[tuple[int, bytes]]
"""Lines that are not empty, each with its number in the file."""


def read_batches(
    path: Path,
    file_format: str,
    target: Target,
    key: str | None,
    *,
    advance: Advance,
    on_columns: OnColumns,
    odd_lines: OddLines | None = None,
    skip: Skip | None = None,
) -> Iterator[RecordBatch]:
    """Yield the rows of a file as records of a stream, without the records to ``skip``. Rows of standard input are
    yielded as they arrive.

    Times of CSV and Parquet are written in the form that the stream's options read. A value that does not match its
    attribute's type is sent unchanged, and the stream decides. NDJSON for a JSON stream is sent byte for byte, also a
    line that is not a JSON object, which then has no key. If lines have to be converted, such a line is excluded. In
    both cases it is reported to ``odd_lines``. If no key is requested, each line is inspected but not parsed. Raise
    InputError for a file that cannot be read, or a key that is not a column. Errors that ``on_columns`` or
    ``odd_lines`` raises are not caught.
    """
    if target.format not in RECORD_FORMATS:
        raise InputError("format of the stream", target.format, "is not written here: use a producer of that format")
    if target.format == "csv":
        _check_signs(target.options)
    skip = skip or Skip()
    if file_format == "ndjson":
        numbered = _numbered_lines(path, advance)
        if RECORD_FORMATS[target.format].is_lines_of == "ndjson":
            # Each line is a record, and skipped lines are not checked.
            numbered = _behind(numbered, skip)
            if key is None:
                return _unchanged_lines(numbered, on_columns, odd_lines or OddLines())
        batches = _of_lines(numbered, target, key, on_columns, odd_lines or OddLines())
    else:
        batches = (_of_texts if file_format == "csv" else _of_parquet)(path, target, key, advance, on_columns)
    return _records_behind(batches, skip)


def _behind(blocks: Iterable[_Numbered], skip: Skip) -> Iterator[_Numbered]:
    for numbered in blocks:
        if rest := numbered[skip.of(len(numbered)) :]:
            yield rest


def _records_behind(batches: Iterable[RecordBatch], skip: Skip) -> Iterator[RecordBatch]:
    for values, keys in batches:
        passed = skip.of(len(values))
        if passed < len(values) or not passed:
            yield RecordBatch(values[passed:], keys and keys[passed:])


def _numbered_lines(path: Path, advance: Advance) -> Iterator[_Numbered]:
    """Yield the lines of a file that are not empty, in one sequence per block."""
    before = 0
    for block in read_blocks(path, _BLOCK_BYTES, advance):
        lines = (line.rstrip(b"\r\n") for line in block.split(b"\n"))
        numbered = [(number, line) for number, line in enumerate(lines, before + 1) if line.strip()]
        before += block.count(b"\n")
        if numbered:
            yield numbered


def _unchanged_lines(blocks: Iterable[_Numbered], on_columns: OnColumns, odd_lines: OddLines) -> Iterator[RecordBatch]:
    for place, numbered in enumerate(blocks):
        looked_at = [] if place else [(number, _parsed(line)) for number, line in numbered[:_LINES_LOOKED_AT]]
        if looked_at:
            on_columns(_members(row for _, row in looked_at), True)
        odd = [number for number, row in looked_at if not isinstance(row, dict)]
        odd += [number for number, line in numbered[len(looked_at) :] if not _is_object_shaped(line)]
        odd_lines.see(_odd(odd, numbered, is_begin=not place))
        yield RecordBatch([line for _, line in numbered], None)


def _is_object_shaped(line: bytes) -> bool:
    """Return whether a line looks like a JSON object. Parsing every line would take longer than sending it."""
    return line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}"


def _odd(numbers: Sequence[int], numbered: _Numbered, *, is_begin: bool) -> list[OddLine]:
    """Return the lines with these numbers as lines that are not JSON objects. ``is_begin``: whether ``numbered`` begins
    with the first line of the file.
    """
    if not is_begin:
        return [OddLine(number) for number in numbers]
    first = [number for number, _ in numbered[:_LINES_LOOKED_AT]]
    is_all = list(numbers[: len(first)]) == first
    number, line = numbered[0]
    return [OddLine(one, is_all, one == number and begins_array(line)) for one in numbers]


def _of_lines(
    blocks: Iterable[_Numbered], target: Target, key: str | None, on_columns: OnColumns, odd_lines: OddLines
) -> Iterator[RecordBatch]:
    record_format = RECORD_FORMATS[target.format]
    encode, is_unchanged = record_format.encoder(target.schema), record_format.is_lines_of == "ndjson"
    for place, numbered in enumerate(blocks):
        rows = [_parsed(line) for _, line in numbered]
        if not place:
            names = _members(rows[:_LINES_LOOKED_AT])
            on_columns(names, is_unchanged)
            if key is not None and names and key not in names:
                raise _no_column(key, names)
        odd = [number for (number, _), row in zip(numbered, rows, strict=True) if not isinstance(row, dict)]
        odd_lines.see(_odd(odd, numbered, is_begin=not place))
        values: list[bytes] = []
        keys: list[bytes | None] = []
        for (_, line), row in zip(numbered, rows, strict=True):
            if is_unchanged or isinstance(row, dict):
                values.append(line if is_unchanged else encode(row))
                keys.append(_key_of(row, key) if isinstance(row, dict) else None)
        yield RecordBatch(values, keys)


def _of_texts(
    path: Path, target: Target, key: str | None, advance: Advance, on_columns: OnColumns
) -> Iterator[RecordBatch]:
    import pyarrow as pa

    schema = target.schema
    batches = read_csv_batches(path, advance)
    names = next(batches).schema.names
    on_columns(names, False)
    if key is not None and key not in names:
        raise _no_column(key, names)
    rewrites = time_rewrites(schema, target.options, target.time_zone, names, texts=True)
    encode = RECORD_FORMATS[target.format].encoder_of_columns(schema, names)
    respelled = spelled(names, schema)
    for batch in batches:
        columns = [
            mapped(texts, rewrites[name]) if name in rewrites else texts
            for name, texts in zip(respelled, batch.columns, strict=True)
        ]
        keys = None
        if key is not None:
            keys = batch.column(names.index(key)).cast(pa.binary()).to_pylist()
        yield RecordBatch(encode(columns).cast(pa.binary()).to_pylist(), keys)


def _of_parquet(
    path: Path, target: Target, key: str | None, advance: Advance, on_columns: OnColumns
) -> Iterator[RecordBatch]:
    schema, columns = target.schema, parquet_schema(path).names
    on_columns(columns, False)
    if key is not None and key not in columns:
        raise _no_column(key, columns)
    rewrites = time_rewrites(schema, target.options, target.time_zone, columns, texts=False)
    rewritten = times_rewritten(schema, rewrites)
    encode = RECORD_FORMATS[target.format].encoder(schema)
    rows = read_parquet(path, advance)
    while some := list(islice(rows, ROWS_A_STEP)):
        keys = None if key is None else [_key_of(row, key) for row in some]
        yield RecordBatch([encode(rewritten(row)) for row in some], keys)


def _check_signs(options: Mapping[str, str]) -> None:
    """Raise InputError for a CSV stream that could not read the lines that this module writes."""
    for name, sign in _SIGNS.items():
        if options.get(name, sign) != sign:
            remedy = f"CSV is written with {sign!r} here: publish with another producer"
            raise InputError(f"option {name} of the stream", options[name], remedy)


def _members(rows: Iterable[Any]) -> list[str]:
    """Return the distinct member names of those rows that are JSON objects."""
    names: dict[str, None] = {}
    for row in rows:
        if isinstance(row, dict):
            names.update(dict.fromkeys(row))
    return list(names)


def _parsed(line: bytes) -> Any:
    """Return a line parsed as JSON. Return None if it is not JSON."""
    try:
        return json.loads(line, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def _key_of(row: Mapping[str, Any], key: str | None) -> bytes | None:
    """Return the text of the key column as bytes. Return None if it is NULL, or absent from a line of NDJSON."""
    value = None if key is None else row.get(key)
    return None if value is None else plain_text(value).encode()


def _no_column(key: str, columns: Iterable[str]) -> InputError:
    return InputError("no such column for --key", key, f"the rows have: {', '.join(columns) or 'none'}")
