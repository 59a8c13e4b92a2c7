"""The first row that cannot be decoded, in words: its file, the reason, the column, the beginning of its text."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from cli.decoding import Decoding
from cli.file_rows import FILE, REASON, ROW, decoder_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_CORRUPT = "__asc_corrupt"
_TEXT_CHARS = 60
_COLUMNS_MAX = 200
"""Columns that are tried, each alone; a record of more is not worth the time."""


def in_words(spark: SparkSession, place: str, format_name: str, decoding: Decoding) -> str:
    """A row that cannot be decoded, given as the JSON of FILE, REASON and ROW."""
    found = json.loads(place)
    path, reason, row = unquote(urlparse(found[FILE]).path), found[REASON], base64.b64decode(found.get(ROW) or "")
    text = row.decode("utf-8", "replace")[:_TEXT_CHARS]
    if format_name != "parquet" and reason.startswith("value is not a "):
        column = _column_at_fault(spark, Path(path), row, format_name, decoding)
        reason = reason if column is None else f"{reason} (column {column})"
    return f"{path}: {reason}: {text}"


def _column_at_fault(spark: SparkSession, path: Path, row: bytes, format_name: str, decoding: Decoding) -> str | None:
    """The first column that cannot be decoded though the row can be divided into columns; None where there is none."""
    from pyspark.sql import functions as sf

    decoder = decoder_of(path, format_name, decoding)
    fields = list(decoder.fields.arrow)
    if len(fields) > _COLUMNS_MAX:
        return None
    options = {"timeZone": decoder.time_zone, **decoder.options, "columnNameOfCorruptRecord": _CORRUPT}
    ddls = [_with_types_of(fields, wanted, format_name) for wanted in (None, *fields)]
    parsed = (
        decoder.record_format.parsed(sf.lit(bytearray(row)), f"{ddl}, {_CORRUPT} STRING", options) for ddl in ddls
    )
    found = spark.range(1).select(*(one[_CORRUPT].isNotNull() for one in parsed)).collect()[0]
    faults = [field.name for field, is_fault in zip(fields, found[1:], strict=True) if is_fault]
    return faults[0] if faults and not found[0] else None


def _with_types_of(fields: Sequence[pa.Field], wanted: pa.Field | None, format_name: str) -> str:
    """The DDL of the fields in which one alone has its type: the others are texts or, in NDJSON, are not looked at."""
    import pyarrow as pa

    from asc.schema import Schema

    if format_name == "ndjson":
        return Schema(pa.schema([wanted or pa.field(_CORRUPT + "_", pa.string())])).ddl()
    return Schema(pa.schema([f if f is wanted else f.with_type(pa.string()) for f in fields])).ddl()
