"""Rows of a file as records of a stream: JSON objects or CSV lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.formats import RECORD_FORMATS
from broker.formats.plain_text import plain_text
from broker.kafka.client import Record
from cli.failure import CommandError
from cli.input_files import STDIN, Advance, parquet_schema, read_csv, read_lines, read_parquet

if TYPE_CHECKING:
    from asc.schema import Schema

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


def read_records(
    path: Path, file_format: str, target: Target, key: str | None, *, advance: Advance, on_columns: OnColumns
) -> Iterator[Record]:
    """The rows of a file, or of standard input, as records of a stream.

    Times of CSV and Parquet are written as the stream's options read them. A value that does not fit its attribute's
    type is sent as it stands: the stream decides. NDJSON into a JSON stream is sent byte for byte. Errors: CommandError
    for a file that cannot be read, a key that is no column, a line that is no JSON object where it has to be converted,
    and whatever ``on_columns`` raises.
    """
    if target.format == "csv":
        _check_signs(target.options)
    if file_format == "ndjson":
        return _of_lines(path, target, key, advance, on_columns)
    return _of_columns(path, file_format, target, key, advance=advance, on_columns=on_columns)


def _of_lines(path: Path, target: Target, key: str | None, advance: Advance, on_columns: OnColumns) -> Iterator[Record]:
    record_format = RECORD_FORMATS[target.format]
    encode, as_it_stands = record_format.encoder(target.schema), record_format.is_lines_of == "ndjson"
    lines = read_lines(path, advance)
    # What comes through a pipe may come slowly: its first line is not to wait for others.
    first = list(islice(lines, 1 if path == STDIN else _LINES_LOOKED_AT))
    on_columns(_members(first), as_it_stands)
    for number, line in enumerate(chain(first, lines), 1):
        if as_it_stands and key is None:
            yield None, line
            continue
        row = _json_object(line, path, number)
        yield _key_of(row, key), line if as_it_stands else encode(row)


def _of_columns(
    path: Path, file_format: str, target: Target, key: str | None, *, advance: Advance, on_columns: OnColumns
) -> Iterator[Record]:
    from cli.stream_times import times_rewritten

    record_format = RECORD_FORMATS[target.format]
    is_csv = file_format == "csv"
    rows: Iterator[Mapping[str, Any]] = read_csv(path, advance) if is_csv else read_parquet(path, advance)
    encode = record_format.encoder_of_texts(target.schema) if is_csv else record_format.encoder(target.schema)
    first = list(islice(rows, 1))
    columns = list(first[0]) if is_csv and first else [] if is_csv else parquet_schema(path).names
    on_columns(columns, False)
    rewritten = times_rewritten(target.schema, target.options, target.time_zone, columns, texts=is_csv)
    for row in chain(first, rows):
        yield _key_of(row, key), encode(rewritten(row))


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
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            names.update(dict.fromkeys(row))
    return list(names)


def _json_object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_float=Decimal)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise CommandError("not a JSON object in file", str(path), f"record {number} is not; mend or remove it")
    return row


def _key_of(row: Mapping[str, Any], key: str | None) -> bytes | None:
    if key is None:
        return None
    if key not in row:
        raise CommandError("no such column for --key", key, f"the row has: {', '.join(row) or 'none'}")
    value = row[key]
    return None if value is None else plain_text(value).encode()
