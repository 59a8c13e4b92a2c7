"""Rows of a file as records of a stream: JSON objects or CSV lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from broker.formats import RECORD_FORMATS
from broker.formats.plain_text import plain_text
from broker.formats.spelling import spelled
from broker.formats.text_columns import mapped
from cli.csv_batches import read_csv_batches
from cli.failure import CommandError
from cli.input_files import ROWS_A_STEP, Advance, parquet_schema, read_blocks, read_parquet
from cli.stream_times import time_rewrites, times_rewritten

if TYPE_CHECKING:
    from asc.schema import Schema

_BLOCK_BYTES = 1 << 20
_LINES_LOOKED_AT = 100
_SIGNS = {"sep": ",", "delimiter": ",", "quote": '"', "escape": '"'}
"""What lines of CSV are written with."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the records of a stream are: their format and fields, the options they are decoded by, and its time zone."""

    format: str
    schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"


OnColumns = Callable[[Sequence[str], bool], object]
"""Is told a file's columns, as far as they are known, before its first row is given; and whether they go by case."""


class RecordBatch(NamedTuple):
    """Records that follow one another in a file: a value each, and a key each or none at all."""

    values: Sequence[bytes]
    keys: Sequence[bytes | None] | None


OnOddLine = Callable[[int, bool], object]
"""Is told the first line of NDJSON that is no JSON object, and whether all that were looked at by then are none."""


def read_batches(
    path: Path,
    file_format: str,
    target: Target,
    key: str | None,
    *,
    advance: Advance,
    on_columns: OnColumns,
    on_odd_line: OnOddLine = lambda _line, _all: None,
) -> Iterator[RecordBatch]:
    """The rows of a file, or of standard input as they come, as records of a stream.

    Times of CSV and Parquet are written as the stream's options read them. A value that does not fit its attribute's
    type is sent as it stands: the stream decides. NDJSON into a JSON stream is sent byte for byte. Errors: CommandError
    for a file that cannot be read, a key that is no column, a line that is no JSON object where it has to be converted,
    and whatever ``on_columns`` raises.
    """
    if target.format not in RECORD_FORMATS:
        raise CommandError("format of the stream", target.format, "is not written here: use a producer of that format")
    if target.format == "csv":
        _check_signs(target.options)
    if file_format == "ndjson":
        if key is None and RECORD_FORMATS[target.format].is_lines_of == "ndjson":
            return _lines_as_they_stand(path, advance, on_columns, on_odd_line)
        return _of_lines(path, target, key, advance, on_columns)
    return (_of_texts if file_format == "csv" else _of_parquet)(path, target, key, advance, on_columns)


def _lines_as_they_stand(
    path: Path, advance: Advance, on_columns: OnColumns, on_odd_line: OnOddLine
) -> Iterator[RecordBatch]:
    is_begun = is_told = False
    before = 0
    for block in read_blocks(path, _BLOCK_BYTES, advance):
        numbered = [(number, line) for number, line in enumerate(_lines(block), before + 1) if line]
        before += block.count(b"\n")
        lines = [line for _, line in numbered]
        if lines and not is_begun:
            is_begun = True
            on_columns(_members(lines[:_LINES_LOOKED_AT]), True)
            odd = [number for number, line in numbered[:_LINES_LOOKED_AT] if not isinstance(_parsed(line), dict)]
            if odd:
                is_told = True
                on_odd_line(odd[0], len(odd) == len(lines[:_LINES_LOOKED_AT]))
        if not is_told:
            odd_line = next((number for number, line in numbered if not _is_object_shaped(line)), None)
            if odd_line is not None:
                is_told = True
                on_odd_line(odd_line, False)
        yield RecordBatch(lines, None)


def _lines(block: bytes) -> Iterator[bytes]:
    """The lines of a block; what holds nothing is empty."""
    for each in block.split(b"\n"):
        line = each.rstrip(b"\r\n")
        yield line if line.strip() else b""


def _is_object_shaped(line: bytes) -> bool:
    """To parse every line would take longer than to send it."""
    return line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}"


def _of_lines(
    path: Path, target: Target, key: str | None, advance: Advance, on_columns: OnColumns
) -> Iterator[RecordBatch]:
    record_format = RECORD_FORMATS[target.format]
    encode, as_it_stands = record_format.encoder(target.schema), record_format.is_lines_of == "ndjson"
    number = 0
    for block in read_blocks(path, _BLOCK_BYTES, advance):
        lines = [line for line in _lines(block) if line]
        if number == 0 and lines:
            on_columns(_members(lines[:_LINES_LOOKED_AT]), as_it_stands)
        values, keys = [], []
        try:
            for place, line in enumerate(lines, 1):
                row = _json_object(line, path, number + place)
                keys.append(_key_of(row, key))
                values.append(line if as_it_stands else encode(row))
        except CommandError:
            # Those before it.
            yield RecordBatch(values, keys[: len(values)])
            raise
        yield RecordBatch(values, keys)
        number += len(lines)


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
    rewrites = time_rewrites(schema, target.options, target.time_zone, columns, texts=False)
    rewritten = times_rewritten(schema, rewrites)
    encode = RECORD_FORMATS[target.format].encoder(schema)
    rows = read_parquet(path, advance)
    while some := list(islice(rows, ROWS_A_STEP)):
        keys = None if key is None else [_key_of(row, key) for row in some]
        yield RecordBatch([encode(rewritten(row)) for row in some], keys)


def _check_signs(options: Mapping[str, str]) -> None:
    """CommandError for a CSV stream that would not read what is written here."""
    for name, sign in _SIGNS.items():
        if options.get(name, sign) != sign:
            remedy = f"CSV is written with {sign!r} here: publish with another producer"
            raise CommandError(f"option {name} of the stream", options[name], remedy)


def _members(lines: Sequence[bytes]) -> list[str]:
    """The names in those of the lines that are JSON objects, each once."""
    names: dict[str, None] = {}
    for line in lines:
        row = _parsed(line)
        if isinstance(row, dict):
            names.update(dict.fromkeys(row))
    return list(names)


def _parsed(line: bytes) -> Any:
    """A line as JSON; None where it is none."""
    try:
        return json.loads(line, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def _json_object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    row = _parsed(line)
    if not isinstance(row, dict):
        raise CommandError("not a JSON object in file", str(path), f"record {number} is not; mend or remove it")
    return row


def _key_of(row: Mapping[str, Any], key: str | None) -> bytes | None:
    if key is None:
        return None
    if key not in row:
        raise _no_column(key, row)
    value = row[key]
    return None if value is None else plain_text(value).encode()


def _no_column(key: str, columns: Iterable[str]) -> CommandError:
    return CommandError("no such column for --key", key, f"the row has: {', '.join(columns) or 'none'}")
