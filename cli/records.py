"""Rows of a file as records of a stream: JSON objects or CSV lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.formats import RECORD_FORMATS
from broker.formats.plain_text import plain_text
from broker.formats.spelling import spelled
from broker.kafka.client import Record
from cli.failure import CommandError
from cli.input_files import Advance, csv_header, file_format, parquet_schema, read_csv, read_lines, read_parquet

if TYPE_CHECKING:
    from asc.schema import Schema

_NAMES_SHOWN = 10


def read_records(path: Path, stream_format: str, schema: Schema, key: str | None, advance: Advance) -> Iterator[Record]:
    """The rows of a file as records of a stream of that format.

    A value that does not fit its attribute's type is sent as it stands: the stream decides. NDJSON into a JSON stream
    is sent byte for byte. Errors: CommandError for a file that cannot be read, a key that is no column, a line that is
    no JSON object where it has to be converted.
    """
    record_format = RECORD_FORMATS[stream_format]
    name = file_format(path)
    if name == "ndjson":
        encode, as_it_stands = record_format.encoder(schema), record_format.is_lines_of == name
        for number, line in enumerate(read_lines(path, advance), 1):
            if as_it_stands and key is None:
                yield None, line
                continue
            row = _json_object(line, path, number)
            yield _key_of(row, key), line if as_it_stands else encode(row)
        return
    rows = read_csv(path, advance) if name == "csv" else read_parquet(path, advance)
    encode = record_format.encoder_of_texts(schema) if name == "csv" else record_format.encoder(schema)
    for row in rows:
        yield _key_of(row, key), encode(row)


def column_warnings(path: Path, schema: Schema) -> Iterator[str]:
    """What the columns of a CSV or Parquet file and the fields of a stream do not share, in a line each."""
    name = file_format(path)
    if name == "ndjson":
        return
    columns = csv_header(path)[1] if name == "csv" else parquet_schema(path).names
    if not columns:
        return
    names = spelled(columns, schema)
    fields = [field.name for field in schema.arrow]
    unknown = [column for column, name in zip(columns, names, strict=True) if name not in fields]
    lacking = [field for field in fields if field not in names]
    if unknown:
        yield f"no predicate can name what the stream's schema lacks: {_shortly(unknown)}"
    if lacking:
        yield f"NULL in every record, for the file lacks it: {_shortly(lacking)}"


def _shortly(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


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
