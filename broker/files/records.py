"""Rows of a file as records of a stream: JSON objects or CSV lines."""

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
"""The options with which lines of CSV are written."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of records, a stream: their format and fields, the options that decode them, and its time zone."""

    format: str
    schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"


OnColumns = Callable[[Sequence[str], bool], object]
"""Receives a file's columns, as far as they are known, before its first row is given, and whether they go by case."""


class RecordBatch(NamedTuple):
    """Records that follow one another in a file: a value each, and a key each or none at all."""

    values: Sequence[bytes]
    keys: Sequence[bytes | None] | None


class OddLine(NamedTuple):
    """A line of NDJSON that is no JSON object: its number, with two facts about the lines so far.

    ``is_all``: no line so far is an object. ``begins_array``: it is the first line of all, and begins an array.
    """

    number: int
    is_all: bool = False
    begins_array: bool = False


@dataclass(slots=True)
class OddLines:
    """The lines of NDJSON that are no JSON objects, as far as they were read: how many, and the number of the first.

    ``on_first`` gets the first of them, before its record is given.
    """

    on_first: Callable[[OddLine], object] = lambda _: None
    count: int = 0
    first: int | None = None

    def see(self, odd: Sequence[OddLine]) -> None:
        """Take some more into account."""
        if odd and self.first is None:
            self.first = odd[0].number
            self.on_first(odd[0])
        self.count += len(odd)


@dataclass(slots=True)
class Skip:
    """The first records of a file, which are not given: how many of them are still to come."""

    left: int = 0

    def of(self, count: int) -> int:
        """Return how many of the next ``count`` records are among them."""
        passed = min(self.left, count)
        self.left -= passed
        return passed


_Numbered = Sequence[tuple[int, bytes]]
"""Lines that hold something, each with its number in the file."""


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
    """Return the rows of a file, or of standard input as they come, as records of a stream, without those to ``skip``.

    Times of CSV and Parquet are written as the stream's options read them. A value that does not fit its attribute's
    type is sent unchanged: the stream decides. NDJSON into a JSON stream is sent byte for byte, and so is a line of
    it that is no JSON object, without a key. Such a line is excluded where it has to be converted, and goes to
    ``odd_lines`` either way. Without a key every line is looked at, but not parsed. Errors: InputError for a file
    that cannot be read, a key that is no column, and whatever ``on_columns`` and ``odd_lines`` raise.
    """
    if target.format not in RECORD_FORMATS:
        raise InputError("format of the stream", target.format, "is not written here: use a producer of that format")
    if target.format == "csv":
        _check_signs(target.options)
    skip = skip or Skip()
    if file_format == "ndjson":
        numbered = _numbered_lines(path, advance)
        if RECORD_FORMATS[target.format].is_lines_of == "ndjson":
            # Each line is a record, and of those that are not sent nothing is said.
            numbered = _behind(numbered, skip)
            if key is None:
                return _lines_as_they_stand(numbered, on_columns, odd_lines or OddLines())
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
    """Yield the lines of a file that hold something, those of a block together."""
    before = 0
    for block in read_blocks(path, _BLOCK_BYTES, advance):
        lines = (line.rstrip(b"\r\n") for line in block.split(b"\n"))
        numbered = [(number, line) for number, line in enumerate(lines, before + 1) if line.strip()]
        before += block.count(b"\n")
        if numbered:
            yield numbered


def _lines_as_they_stand(
    blocks: Iterable[_Numbered], on_columns: OnColumns, odd_lines: OddLines
) -> Iterator[RecordBatch]:
    for place, numbered in enumerate(blocks):
        looked_at = [] if place else [(number, _parsed(line)) for number, line in numbered[:_LINES_LOOKED_AT]]
        if looked_at:
            on_columns(_members(row for _, row in looked_at), True)
        odd = [number for number, row in looked_at if not isinstance(row, dict)]
        odd += [number for number, line in numbered[len(looked_at) :] if not _is_object_shaped(line)]
        odd_lines.see(_odd(odd, numbered, is_begin=not place))
        yield RecordBatch([line for _, line in numbered], None)


def _is_object_shaped(line: bytes) -> bool:
    """Return whether a line looks like a JSON object: to parse every line would take longer than to send it."""
    return line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}"


def _odd(numbers: Sequence[int], numbered: _Numbered, *, is_begin: bool) -> list[OddLine]:
    """Return the odd ones of some lines, by their numbers; ``is_begin``: these lines are a file's first."""
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
    encode, as_it_stands = record_format.encoder(target.schema), record_format.is_lines_of == "ndjson"
    for place, numbered in enumerate(blocks):
        rows = [_parsed(line) for _, line in numbered]
        if not place:
            names = _members(rows[:_LINES_LOOKED_AT])
            on_columns(names, as_it_stands)
            if key is not None and names and key not in names:
                raise _no_column(key, names)
        odd = [number for (number, _), row in zip(numbered, rows, strict=True) if not isinstance(row, dict)]
        odd_lines.see(_odd(odd, numbered, is_begin=not place))
        values: list[bytes] = []
        keys: list[bytes | None] = []
        for (_, line), row in zip(numbered, rows, strict=True):
            if as_it_stands or isinstance(row, dict):
                values.append(line if as_it_stands else encode(row))
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
    """Raise InputError for a CSV stream that would not read what is written here."""
    for name, sign in _SIGNS.items():
        if options.get(name, sign) != sign:
            remedy = f"CSV is written with {sign!r} here: publish with another producer"
            raise InputError(f"option {name} of the stream", options[name], remedy)


def _members(rows: Iterable[Any]) -> list[str]:
    """Return the names in those of the rows that are JSON objects, each once."""
    names: dict[str, None] = {}
    for row in rows:
        if isinstance(row, dict):
            names.update(dict.fromkeys(row))
    return list(names)


def _parsed(line: bytes) -> Any:
    """Return a line as JSON; None where it is none."""
    try:
        return json.loads(line, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def _key_of(row: Mapping[str, Any], key: str | None) -> bytes | None:
    """Return the text of a column; None where it is NULL or, in a line of NDJSON, is not there."""
    value = None if key is None else row.get(key)
    return None if value is None else plain_text(value).encode()


def _no_column(key: str, columns: Iterable[str]) -> InputError:
    return InputError("no such column for --key", key, f"the rows have: {', '.join(columns) or 'none'}")
