"""The rows of files, read by Arrow if Spark would certainly decode them to the same values.

If this is doubtful for a file, DoubtError is raised, and the caller has Spark read the file. Doubtful is a text in an
unusual spelling, a line that is not divided plainly, or an option of the stream. So this module yields no undecodable
rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from broker.files.decoding import Decoding
from broker.files.input_checks import csv_columns
from broker.files.input_files import Advance, read_blocks
from broker.files.spellings import spelling_of

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_BYTES = 1 << 24
_SEPARATORS_MAX = 20_000
"""The largest number of separators in a CSV line: somewhat fewer than Spark's parser accepts."""

_DEPTH_MAX = 500
_LINE_BYTES_MAX = 10_000_000
"""The longest JSON line: half of the length that Spark's parser accepts."""

_DECIMAL_DIGITS_MAX = 76
"""The digits of Arrow's widest decimal type. Decimals are read as this type, and then checked whether they fit their
column.
"""

_QUOTED_LINE = r'^(?:[^",]*|"(?:[^"]+|"")*")(?:,(?:[^",]*|"(?:[^"]+|"")*"))*$'
_OBJECT_LINE = r"^ *\{.*\} *$"
_ODD_JSON = re.compile(
    rb"""[\x00-\x09\x0b\x0c\x0e-\x1f]   # of which some are white space, some are refused, by one parser or the other
         | \}[ ]*\{                     # two objects in a line
         | [:\[,][ ]*[-+]?(?:NaN|Inf)  # no JSON, and taken by both in a way
         | \\u(?:[dD]|0000)             # half a character, and NUL
         | [0-9]{300}                   # Spark's parser takes a thousand digits at most
    """,
    re.VERBOSE,
)

_ODD_DECIMAL = re.compile(
    rb"""[:\[,][ ]*"?[-+]?[0-9.]*[eE][-+]?[0-9]{2}  # Arrow reads outside its tables for a far too large exponent,
         | \.[0-9]{60}                             # and for places after the point without an end;
         | \\u00(?:2[bBdDeE]|3[0-9]|[46]5)         # either may be written so
    """,
    re.VERBOSE,
)


class DoubtError(Exception):
    """The error for a file that Arrow might read differently from Spark. The text says what is doubtful, and where."""


def plain_tables(
    path: Path, format_name: str, decoding: Decoding, needed: Collection[str], advance: Advance
) -> Iterator[pa.Table]:
    """Yield the rows of a file in tables with the columns of the schema. Raise DoubtError.

    A column that is not in ``needed`` may be NULL in the tables, because its values are only checked for whether Spark
    would decode them.
    """
    if decoding.options:
        raise DoubtError(f"decoding options: {', '.join(decoding.options)}")
    read: dict[str, Callable[[Path, Decoding, Collection[str], Advance], Iterator[pa.Table]]] = {
        "csv": _csv,
        "ndjson": _ndjson,
        "parquet": _parquet,
    }
    yield from read[format_name](path, decoding, needed, advance)


def _csv(path: Path, decoding: Decoding, _needed: Collection[str], advance: Advance) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import csv

    names = csv_columns(path, decoding.schema, decoding.options)
    if not 1 < len(names) < _SEPARATORS_MAX:
        raise DoubtError(f"{path} has {len(names)} columns")
    fields = {field.name.lower(): field for field in decoding.schema.arrow}
    places = {f"c{place}": fields[name.lower()] for place, name in enumerate(names) if name.lower() in fields}
    convert = csv.ConvertOptions(
        column_types={place: pa.string() for place in places},
        include_columns=list(places),
        null_values=[""],
        strings_can_be_null=True,
    )
    blocks = read_blocks(path, _BLOCK_BYTES, advance)
    for number, block in enumerate(blocks):
        # The first line of all names the columns.
        rows = block[block.find(b"\n") + 1 or len(block) :] if number == 0 else block
        _check_text(path, block)
        if b'"' in rows:
            _check_quotes(path, rows)
        if not rows.strip(b" \r\n"):
            continue
        try:
            texts = csv.read_csv(
                pa.BufferReader(rows),
                csv.ReadOptions(column_names=[f"c{place}" for place in range(len(names))], block_size=len(rows) + 1),
                csv.ParseOptions(newlines_in_values=False),
                convert,
            )
        except pa.ArrowInvalid as error:
            raise DoubtError(f"{path}: {error}") from None
        own = {field.name: _of_texts(path, field, texts.column(place), decoding) for place, field in places.items()}
        yield _in_order(own, decoding.schema.arrow, texts.num_rows)


def _check_text(path: Path, block: bytes) -> None:
    if b"\0" in block:
        raise DoubtError(f"{path} holds a NUL")
    if block.count(b"\r") != block.count(b"\r\n"):
        raise DoubtError(f"{path} holds a carriage return within a line")
    try:
        block.decode()
    except UnicodeDecodeError:
        raise DoubtError(f"{path} is not UTF-8") from None


def _check_quotes(path: Path, rows: bytes) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = pa.array([line.rstrip(b"\r").decode() for line in rows.split(b"\n") if b'"' in line])
    plain = pc.match_substring_regex(lines, _QUOTED_LINE)
    if not pc.all(plain).as_py():
        raise DoubtError(f"{path}: a line has quotes in an odd place")
    if pc.max(pc.count_substring(lines, ",")).as_py() >= _SEPARATORS_MAX:
        raise DoubtError(f"{path}: a line has {_SEPARATORS_MAX} separators")


def _ndjson(path: Path, decoding: Decoding, needed: Collection[str], advance: Advance) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import json

    written = pa.schema([f.with_type(_written(f.type, f.name, f.name in needed)) for f in decoding.schema.arrow])
    has_decimals = any(map(_has_decimal, decoding.schema.arrow.types))
    for block in read_blocks(path, _BLOCK_BYTES, advance):
        _check_text(path, block)
        count = _check_objects(path, block)
        if has_decimals and (odd := _ODD_DECIMAL.search(block)) is not None:
            raise DoubtError(f"{path} holds {odd[0][:20]!r}")
        if not count:
            continue
        try:
            table = json.read_json(
                pa.BufferReader(block),
                json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                json.ParseOptions(written, newlines_in_values=False, unexpected_field_behavior="ignore"),
            )
        except pa.ArrowInvalid as error:
            raise DoubtError(f"{path}: {error}") from None
        if table.num_rows != count:
            raise DoubtError(f"{path}: an object is not a line")
        columns = {
            f.name: _of_json(path, f, table.column(f.name).combine_chunks(), decoding) for f in decoding.schema.arrow
        }
        yield _in_order(columns, decoding.schema.arrow, count)


def _check_objects(path: Path, block: bytes) -> int:
    """Return the number of lines with a JSON object. Raise DoubtError unless each line is empty or has exactly one
    object.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if (odd := _ODD_JSON.search(block)) is not None:
        raise DoubtError(f"{path} holds {odd[0][:20]!r}")
    lines = pa.array([line for line in block.replace(b"\r\n", b"\n").split(b"\n") if line.strip(b" ")], pa.string())
    if not len(lines):
        return 0
    if not pc.all(pc.match_substring_regex(lines, _OBJECT_LINE)).as_py():
        raise DoubtError(f"{path}: a line is no JSON object")
    if pc.max(pc.binary_length(lines)).as_py() > _LINE_BYTES_MAX:
        raise DoubtError(f"{path}: a line has more than {_LINE_BYTES_MAX:,} bytes")
    if max(pc.max(pc.count_substring(lines, bracket)).as_py() for bracket in "[{") > _DEPTH_MAX:
        raise DoubtError(f"{path}: a line has more than {_DEPTH_MAX} brackets")
    return len(lines)


def _written(data_type: pa.DataType, name: str, is_needed: bool) -> pa.DataType:
    """Return the type with which Arrow reads values of ``data_type`` from JSON."""
    import pyarrow as pa

    types = pa.types
    if types.is_struct(data_type):
        return pa.struct([f.with_type(_written(f.type, f"{name}.{f.name}", is_needed)) for f in _children(data_type)])
    if types.is_list(data_type):
        return pa.list_(_written(data_type.value_type, f"{name}[]", is_needed))
    if types.is_boolean(data_type) or types.is_integer(data_type) or types.is_float64(data_type):
        return data_type
    if types.is_float32(data_type) and not is_needed:
        # Only Spark decides how a text is rounded to a FLOAT.
        return pa.float64()
    if types.is_decimal(data_type):
        return pa.decimal256(_DECIMAL_DIGITS_MAX, data_type.scale)
    if types.is_string(data_type) or types.is_temporal(data_type):
        return pa.string()
    raise DoubtError(f"column {name} is of type {data_type}")


def _has_decimal(data_type: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_decimal(data_type)) or any(_has_decimal(field.type) for field in _children(data_type))


def _of_json(path: Path, field: pa.Field, values: pa.Array, decoding: Decoding) -> pa.Array:
    """Return a column that Arrow read from JSON, converted to the schema's type.

    A list becomes NULL, because only Spark evaluates lists.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_struct(field.type):
        inner = [
            _of_json(path, child, values.field(place), decoding) for place, child in enumerate(_children(field.type))
        ]
        return pa.StructArray.from_arrays(inner, fields=_children(field.type), mask=values.is_null())
    if types.is_list(field.type):
        _of_json(path, field.type.value_field.with_name(f"{field.name}[]"), values.flatten(), decoding)
        return pa.nulls(len(values), field.type)
    if types.is_temporal(field.type):
        return _of_texts(path, field, values, decoding)
    if types.is_decimal(field.type):
        try:
            return values.cast(field.type)
        except pa.ArrowInvalid as error:
            raise DoubtError(f"{path}: column {field.name}: {error}") from None
    if types.is_floating(field.type) and not pc.all(pc.is_finite(values)).as_py() and len(values) > values.null_count:
        raise DoubtError(f"{path}: column {field.name} holds a number without end")
    return values.cast(field.type)


def _of_texts(
    path: Path, field: pa.Field, texts: pa.Array | pa.ChunkedArray, decoding: Decoding
) -> pa.Array | pa.ChunkedArray:
    """Return texts converted to a type. Raise DoubtError unless all texts have the plain spelling of the type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(field.type):
        return texts
    spelling = spelling_of(field.type, is_utc=decoding.time_zone == "UTC")
    if spelling is None:
        raise DoubtError(f"column {field.name} is of type {field.type}")
    plain = pc.match_substring_regex(texts, f"^(?:{spelling})$")
    if pc.any(pc.invert(plain)).as_py():
        odd = texts.filter(pc.invert(plain))[0].as_py()
        raise DoubtError(f"{path}: column {field.name} holds {odd[:40]!r}")
    try:
        if pa.types.is_timestamp(field.type):
            local = pc.replace_substring_regex(texts, "Z$", "").cast(pa.timestamp("us"))
            return local.cast(field.type)
        return texts.cast(field.type)
    except pa.ArrowInvalid as error:
        raise DoubtError(f"{path}: column {field.name}: {error}") from None


def _parquet(path: Path, decoding: Decoding, needed: Collection[str], advance: Advance) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise DoubtError(f"{path} is a folder")
    file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    by_name = {name.lower(): name for name in names}
    if len(by_name) < len(names) or any("." in name for name in names):
        raise DoubtError(f"{path} has odd names of columns")
    shared = {
        field.name: by_name[field.name.lower()]
        for field in decoding.schema.arrow
        if field.name.lower() in by_name and (field.name in needed or not _takes_all(field.type))
    }
    total, size, done = max(1, file.metadata.num_rows), path.stat().st_size, 0
    try:
        for batch in file.iter_batches(columns=list(shared.values())):
            columns = {
                field.name: _of_parquet(path, field, batch.column(shared[field.name]))
                for field in decoding.schema.arrow
                if field.name in shared
            }
            done += batch.num_rows
            advance(size * done // total)
            yield _in_order(columns, decoding.schema.arrow, batch.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise DoubtError(f"{path}: {error}") from None


def _of_parquet(path: Path, field: pa.Field, values: pa.Array) -> pa.Array:
    """Return a column of a Parquet file in the schema's type. The caller ensures that the column has this type, or is
    an integer or timestamp of another width.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    types, stored_type = pa.types, values.type
    if types.is_dictionary(stored_type):
        stored_type = stored_type.value_type
        values = values.cast(stored_type)
    alike = (
        stored_type == field.type
        or (types.is_signed_integer(stored_type) and types.is_signed_integer(field.type))
        or (types.is_large_string(stored_type) and types.is_string(field.type))
        or (types.is_large_binary(stored_type) and types.is_binary(field.type))
        or (types.is_float32(stored_type) and types.is_float64(field.type))
        or (types.is_decimal(stored_type) and types.is_decimal(field.type) and _holds(field.type, stored_type))
    )
    if types.is_timestamp(field.type) and types.is_timestamp(stored_type) and stored_type.unit in ("us", "ms"):
        alike = (stored_type.tz is None) == (field.type.tz is None)
    if not alike or types.is_nested(stored_type):
        raise DoubtError(f"{path}: column {field.name} is of type {stored_type}")
    try:
        values = values.cast(field.type)
    except pa.ArrowInvalid as error:
        raise DoubtError(f"{path}: column {field.name}: {error}") from None
    if types.is_temporal(field.type):
        # Files of old Spark versions have earlier times in the Julian calendar, and Arrow reads them differently.
        first = pc.min(values).cast(pa.int32() if types.is_date(field.type) else pa.int64()).as_py()
        if first is not None and first < (-25_567 if types.is_date(field.type) else -25_567 * 86_400_000_000):
            raise DoubtError(f"{path}: column {field.name} holds a time before 1900")
    return values


def _holds(wide: pa.DataType, narrow: pa.DataType) -> bool:
    """Return whether the decimal type ``wide`` can represent each value of the decimal type ``narrow``."""
    return bool(wide.scale >= narrow.scale and wide.precision - wide.scale >= narrow.precision - narrow.scale)


def _takes_all(data_type: pa.DataType) -> bool:
    """Return whether a type can represent every value of the Parquet columns that :func:`check_columns` permits for
    it.
    """
    import pyarrow as pa

    return bool(pa.types.is_string(data_type) or pa.types.is_nested(data_type))


def _in_order(own: Mapping[str, pa.Array], schema: pa.Schema, rows: int) -> pa.Table:
    """Return a table with the columns of the schema, in order. A missing column is NULL."""
    import pyarrow as pa

    columns = [own[f.name] if f.name in own else pa.nulls(rows, f.type) for f in schema]
    return pa.table(columns, names=schema.names)


def _children(data_type: pa.DataType) -> list[pa.Field]:
    return [data_type.field(place) for place in range(data_type.num_fields)]
