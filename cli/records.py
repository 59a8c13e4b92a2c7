"""Rows of a file as records of a stream: JSON objects or CSV lines."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.failure import CommandError
from cli.input_files import Advance, csv_header, file_format, parquet_columns, read_csv, read_lines, read_parquet

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

Record = tuple["bytes | None", bytes]
"""Key and value of a record."""

_NAMES_SHOWN = 10
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def read_records(path: Path, stream_format: str, schema: Schema, key: str | None, advance: Advance) -> Iterator[Record]:
    """The rows of a file as records of a stream of that format.

    A value that does not fit its attribute's type is sent as it stands: the stream judges it. NDJSON into a JSON stream
    is sent byte for byte. Errors: CommandError for a file that cannot be read, a key that is no column, a line that is
    no JSON object where it has to be converted.
    """
    encode = encoder(stream_format, schema)
    name = file_format(path)
    if name == "ndjson":
        for number, line in enumerate(read_lines(path, advance), 1):
            if stream_format == "json" and key is None:
                yield None, line
                continue
            row = _json_object(line, path, number)
            yield _key_of(row, key), line if stream_format == "json" else encode(row)
        return
    rows = read_csv(path, advance) if name == "csv" else read_parquet(path, advance)
    text_to_json = json_literals(schema) if name == "csv" and stream_format == "json" else None
    for row in rows:
        value = encode(row) if text_to_json is None else text_to_json(row)
        yield _key_of(row, key), value


def column_warnings(path: Path, schema: Schema) -> Iterator[str]:
    """What the columns of a CSV or Parquet file and the fields of a stream do not share, in a line each."""
    name = file_format(path)
    if name == "ndjson":
        return
    columns = csv_header(path)[1] if name == "csv" else parquet_columns(path)
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


def spelled(columns: Sequence[str], schema: Schema) -> list[str]:
    """The columns, those that are a field but for case spelled as the schema does; of several, the best or first is.

    >>> from asc.schema import Schema
    >>> spelled(["DELAY", "Delay", "x"], Schema.from_ddl("delay INT")), spelled(["A", "a"], Schema.from_ddl("a INT"))
    (['delay', 'Delay', 'x'], ['A', 'a'])
    """
    fields = {field.name.lower(): field.name for field in schema.arrow}
    taken = {name for name in fields.values() if name in columns}
    names = []
    for column in columns:
        field = fields.get(column.lower())
        if field is not None and field not in taken:
            taken.add(field)
            names.append(field)
        else:
            names.append(column)
    return names


def _respelling(schema: Schema) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Gives a row's columns the names of `spelled`."""
    # Most rows of a file have the columns of the one before.
    names_of = lru_cache(maxsize=256)(lambda columns: spelled(columns, schema))
    return lambda row: dict(zip(names_of(tuple(row)), row.values(), strict=True))


def _shortly(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def encoder(stream_format: str, schema: Schema) -> Callable[[Mapping[str, Any]], bytes]:
    """Encodes a row of Python values for a stream: a JSON object, or a CSV line in the schema's order.

    A column that is a field of the schema but for case is spelled as the schema does, which a stream goes by.
    """
    respelled = _respelling(schema)
    if stream_format == "json":
        return lambda row: json_text(respelled(row)).encode()
    names = [field.name for field in schema.arrow]

    def encode(row: Mapping[str, Any]) -> bytes:
        own = respelled(row)
        return ",".join(csv_field(own.get(name)) for name in names).encode()

    return encode


def json_literals(schema: Schema) -> Callable[[Mapping[str, str | None]], bytes]:
    """Encodes a row of CSV texts as a JSON object: numbers and booleans by the schema's types, else strings."""
    literal_of = {field.name: _literal_for(field.type) for field in schema.arrow}
    respelled = _respelling(schema)

    def encode(row: Mapping[str, str | None]) -> bytes:
        members = (
            f"{_quoted(name)}:{'null' if text is None else literal_of.get(name, _quoted)(text)}"
            for name, text in respelled(row).items()
        )
        return f"{{{','.join(members)}}}".encode()

    return encode


def json_text(value: Any) -> str:
    """A value of Python or Arrow as Spark reads JSON: decimals with all digits, times in ISO 8601, bytes in base64.

    >>> json_text({"price": Decimal("1.10"), "at": date(2013, 1, 31), "raw": b"abc", "bad": float("nan"), "none": None})
    '{"price":1.10,"at":"2013-01-31","raw":"YWJj","bad":"NaN","none":null}'
    """
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_quoted(str(name))}:{json_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return _quoted(plain_text(value))
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Decimal):
        return plain_text(value)
    return _quoted(plain_text(value))


def plain_text(value: Any) -> str:
    """A scalar as text: what a key or a CSV field of it holds.

    >>> plain_text(datetime(2013, 1, 1, 10, tzinfo=timezone.utc)), plain_text(True), plain_text(float("-inf"))
    ('2013-01-01T10:00:00Z', 'true', '-Infinity')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return ("-Infinity" if value < 0 else "Infinity") if math.isinf(value) else repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value.isoformat()
        return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (Mapping, list, tuple)):
        return json_text(value)
    return str(value)


def csv_field(value: Any) -> str:
    """A value as a field of a CSV line (RFC 4180), as a CSV stream reads it: NULL is empty, an empty string quoted.

    A stream tells the two apart only where its options set ``nullValue``; else both are NULL.

    >>> csv_field(None), csv_field(""), csv_field("a,b"), csv_field('a "b" c')
    ('', '""', '"a,b"', '"a ""b"" c"')
    """
    if value is None:
        return ""
    text = plain_text(value)
    if text and text == text.strip() and not any(char in text for char in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _literal_for(data_type: pa.DataType) -> Callable[[str], str]:
    import pyarrow as pa

    types = pa.types
    if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type):
        return lambda text: text if _JSON_NUMBER.fullmatch(text) else _quoted(text)
    if types.is_boolean(data_type):
        return lambda text: text.lower() if text.lower() in ("true", "false") else _quoted(text)
    if types.is_nested(data_type):
        return _nested
    return _quoted


def _nested(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return _quoted(text)
    return text


def _quoted(text: str) -> str:
    # What json.dumps(text, ensure_ascii=False) does, without making an encoder for every field of every row.
    return encode_basestring(text)


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
