"""Checks of input files before anything starts: their format, and the columns that they share with a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from broker.errors import InputError
from broker.files.input_files import check_lines, csv_header, file_format, parquet_files, parquet_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

_HEADER_REMEDY = "the first line must name the columns"


def format_of(inputs: Sequence[Path]) -> str:
    """Return the common format of the files, by their names. Raise InputError if they have several formats."""
    for path in inputs:
        if path.name.startswith(("_", ".")):
            remedy = "Spark reads no file whose name begins with '_' or '.': rename it"
            raise InputError("file name", str(path), remedy)
    formats = {file_format(path) for path in inputs}
    if len(formats) > 1:
        raise InputError("files of several formats", ", ".join(sorted(formats)), "match one format at a time")
    return formats.pop()


def check_columns(inputs: Sequence[Path], format_name: str, schema: Schema, options: Mapping[str, str]) -> None:
    """Raise InputError for files whose columns do not match the schema, and for a JSON array in place of NDJSON.

    A CSV or Parquet file does not match if it names no column of the schema, or if a column's type cannot be converted
    to the schema's type.
    """
    for path in inputs:
        if format_name == "csv":
            csv_columns(path, schema, options)
        elif format_name == "ndjson":
            check_lines(path)
        elif format_name == "parquet":
            for file in parquet_files(path)[:1]:
                _check_parquet(file, schema)


def csv_columns(path: Path, schema: Schema, options: Mapping[str, str]) -> list[str]:
    """Return the distinct columns that the first line of a CSV file names. Raise InputError if none of them is in the
    schema, or if they cannot be read.
    """
    from broker.formats.csv import separator_of
    from broker.formats.registry import RECORD_FORMATS

    quote = options.get("quote", '"')
    line, names = csv_header(path, separator_of(options), quote)
    if quote and line.count(quote) % 2:
        raise InputError("no usable header in file", str(path), "the first line ends inside a quoted name")
    fields = {field.name.lower(): field for field in schema.arrow}
    shared = [fields[name.lower()] for name in names if name.lower() in fields]
    if not shared:
        raise InputError("no column of the schema in file", str(path), _header_remedy(line, separator_of(options)))
    if len({name.lower() for name in names}) < len(names):
        raise InputError("no usable header in file", str(path), "the first line must name each column once")
    for field in shared:
        if (remedy := RECORD_FORMATS["csv"].wrong_type(field.type)) is not None:
            raise InputError(f"file {path}, column", field.name, remedy)
    return names


def _header_remedy(line: str, given: str) -> str:
    for separator, name, written in (("\t", "tabs", "'\\t'"), (";", "semicolons", "';'"), ("|", "bars", "'|'")):
        if separator in line and separator != given:
            return f"its first line has {name} between the names: give --option sep={written}"
    return _HEADER_REMEDY


def _check_parquet(path: Path, schema: Schema) -> None:
    from asc.spark_types import ddl_of_type

    stored_types = {field.name.lower(): field.type for field in parquet_schema(path)}
    shared = [field for field in schema.arrow if field.name.lower() in stored_types]
    if not shared:
        raise InputError(
            "no column of the schema in file", str(path), f"it has: {', '.join(list(stored_types)[:8]) or 'none'}"
        )
    for field in shared:
        stored_type = stored_types[field.name.lower()]
        if not _becomes(stored_type, field.type):
            wanted = ddl_of_type(field.type)
            remedy = f"{stored_type} does not become {wanted}: change the schema, or write the file anew"
            raise InputError(f"file {path}, column", field.name, remedy)


def _becomes(stored_type: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether values of a Parquet type can be converted to the type of the schema.

    Values can be converted between numeric types, between types of times, from or to texts, and between similar types.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(stored_type):
        stored_type = stored_type.value_type
    if types.is_null(stored_type) or types.is_string(wanted):
        return bool(types.is_null(stored_type) or not types.is_nested(stored_type))
    if types.is_string(stored_type) or types.is_large_string(stored_type):
        return not types.is_nested(wanted)
    number = (types.is_integer, types.is_floating, types.is_decimal)
    kinds = (
        number,
        (types.is_boolean,),
        (types.is_timestamp, types.is_date),
        (types.is_binary, types.is_large_binary, types.is_fixed_size_binary),
        (types.is_struct,),
        (types.is_list, types.is_large_list, types.is_fixed_size_list),
        (types.is_map,),
    )
    return any(any(is_(stored_type) for is_ in kind) and any(is_(wanted) for is_ in kind) for kind in kinds)
