"""The parser of look-up files: it converts CSV with a header, or Parquet, to tables with types of Spark."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from asc.errors import CubeError, SchemaError
from asc.operators.cube.lookup import (
    LOOKUP_BYTES_MAX,
    LOOKUP_ROWS_MAX,
    Lookup,
    check_lookup_name,
    check_lookup_size,
)
from asc.spark_types import folded
from broker.errors import InputError
from broker.failure import one_line
from broker.files.csv_batches import csv_batches
from broker.files.file_schema import arrow_type_of_spark
from broker.files.media_types import PARQUET_TYPE
from broker.files.spellings import DATE

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_BYTES = 1 << 20
_BATCH_ROWS = 8_192
_GUESSES = (
    ("bool", r"^(?:true|false)$"),
    ("int64", r"^(?:0|-?[1-9][0-9]{0,17})$"),
    ("double", r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$"),
    ("date32", f"^(?:{DATE})$"),
)
"""The types of columns in CSV, each with a pattern for the texts of its values. A column in which a text matches no
common pattern keeps texts.
"""


def lookup_of_file(name: str, content: bytes, media_type: str, key: str) -> Lookup:
    """Return the look-up that the bytes of a file contain. ``name``: the name of the look-up. ``media_type``: that of
    CSV or Parquet. ``key``: the column with the keys.

    Raise CubeError or InputError for an invalid file; for CSV, the error has the number of the line.
    """
    check_lookup_name(name)
    if len(content) > LOOKUP_BYTES_MAX:
        raise CubeError("look-up", name, f"is a file of over {LOOKUP_BYTES_MAX >> 20} MiB: leave out rows or columns")
    if media_type == PARQUET_TYPE:
        return Lookup.of(name, _parquet_table(name, content), key)
    try:
        table = _csv_table(name, content, key)
    except InputError as error:
        # The error names the look-up, because the name of the file is not known here.
        raise InputError(error.subject.replace("file", "look-up"), name, error.remedy) from None
    return Lookup.of(name, table, key, has_text_keys=True, place_of=lambda row: _line_of(content, row))


def _csv_table(name: str, content: bytes, key: str) -> pa.Table:
    import pyarrow as pa

    batches, rows, size_bytes = [], 0, 0
    for batch in csv_batches(Path(f"{name}.csv"), _blocks(content), waits=True):
        rows += batch.num_rows
        size_bytes += batch.nbytes
        if rows > LOOKUP_ROWS_MAX:
            check_lookup_size(name, rows, 0)
        batches.append(batch)
    texts = pa.Table.from_batches(batches)
    columns = [
        column if folded(own.strip()) == folded(key.strip()) else _guessed(column)
        for own, column in zip(texts.column_names, texts.columns, strict=True)
    ]
    return pa.table(dict(zip(texts.column_names, columns, strict=True)))


def _blocks(content: bytes) -> Iterator[bytes]:
    """Yield the content in blocks of whole lines, each of about ``_BLOCK_BYTES``."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK_BYTES - 1) + 1 or len(content)
        yield content[start:end]
        start = end


def _guessed(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column converted to the first type of ``_GUESSES`` whose pattern all texts of the column match. Return
    the column unchanged if there is no such type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if texts.null_count == len(texts):
        return texts
    for kind, pattern in _GUESSES:
        # Check the first value alone first, because it excludes most types at little cost.
        if pc.match_substring_regex(texts.drop_null().slice(0, 1), pattern, ignore_case=kind == "bool")[0].as_py():
            if not pc.all(pc.match_substring_regex(texts, pattern, ignore_case=kind == "bool")).as_py():
                continue
            try:
                values = texts.cast(kind)
            except pa.ArrowInvalid:
                continue
            return _narrow(values) if kind == "int64" else values
    return texts


def _narrow(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return integers with 32 bits (Spark's INT) if all values fit. Otherwise return them unchanged."""
    import pyarrow as pa

    try:
        return values.cast(pa.int32())
    except pa.ArrowInvalid:
        return values


def _line_of(content: bytes, row: int) -> str:
    """Return the number of the CSV line on which a row ends, counted from 1, as a text. ``row``: the index of the row,
    counted from 0 after the header.
    """
    reader = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    kept = (reader.line_num for fields in reader if fields)
    return f"line {next(islice(kept, row + 1, None)):,}"


def _parquet_table(name: str, content: bytes) -> pa.Table:
    """Return the table of a Parquet file. The file is read in batches, so that a table above the size limit is refused
    before all of it is in memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        check_lookup_size(name, file.metadata.num_rows, 0)
        schema = pa.schema([(field.name, _spark_type(name, field)) for field in file.schema_arrow])
        batches, size_bytes = [], 0
        for batch in file.iter_batches(_BATCH_ROWS):
            size_bytes += batch.nbytes
            check_lookup_size(name, 0, size_bytes)
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
            batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))
        table = pa.Table.from_batches(batches, schema)
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        remedy = f"is no Parquet that can be read: {one_line(error)}; write the file again"
        raise CubeError("look-up", name, remedy) from None
    return table


def _spark_type(name: str, field: pa.Field) -> pa.DataType:
    from asc.spark_types import normalised_arrow_type

    try:
        return normalised_arrow_type(arrow_type_of_spark(field.type), field.name)
    except SchemaError as error:
        remedy = f"of look-up '{name}' has no type of Spark, {one_line(error)}: leave it out"
        raise CubeError("column", field.name[:100], remedy) from None
