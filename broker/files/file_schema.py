"""The schema of a file: stored in the file if its format has one, otherwise guessed from its first rows."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.errors import InputError
from broker.files.input_files import begins_array, file_format, no_lines, parquet_schema, read_csv, read_lines
from broker.files.type_guess import TypeGuess, is_value

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class FileSchema:
    """Spark DDL with one field per line, and notes about each field.

    ``malformed``: the number of lines that were excluded because they hold no row. ``first_malformed`` describes the
    first.
    """

    ddl: str
    notes: Sequence[str]
    malformed: int = 0
    first_malformed: str | None = None


@dataclass(slots=True)
class _Malformed:
    """The lines read so far that contain no row (such as invalid JSON): their number, and a description of the first.
    If there are more of them than ``rows_max``, InputError is raised.
    """

    path: Path
    rows_max: int
    count: int = 0
    first: str | None = None

    def see(self, line: int, said: str) -> None:
        self.first = self.first or f"line {line} {said}"
        self.count += 1
        if self.count >= self.rows_max:
            raise self.error()

    def error(self) -> InputError:
        looked_at = f"{self.count:,} {'line' if self.count == 1 else 'lines'} looked at"
        remedy = f"{looked_at}, the first: {self.first}; mend or remove them"
        return InputError("no rows, but malformed lines in file", str(self.path), remedy)


def schema_of_file(path: Path, rows_max: int) -> FileSchema:
    """Return the schema of a CSV, NDJSON or Parquet file; the file's name decides the format. If the file stores no
    schema, guess it from at most ``rows_max`` rows.

    Malformed lines are excluded and counted. Raise InputError if the file cannot be read, has no field, or has only
    malformed lines. Raise SchemaError if a schema cannot hold its names.
    """
    name = file_format(path)
    if name == "parquet":
        return _of_parquet(path)
    malformed = _Malformed(path, rows_max)
    rows = _csv_rows(path, malformed) if name == "csv" else _json_rows(path, malformed)
    guesses, count = _guesses(rows, rows_max, texts=name == "csv")
    if not count and malformed.count:
        raise malformed.error()
    if not guesses:
        raise InputError("no field in file", str(path), "types are guessed from rows: it needs one at least")
    from asc.spark_types import ddl_of_type

    fields: list[tuple[str, pa.DataType]] = []
    notes = list(_header_doubts(list(guesses))) if name == "csv" else []
    for field, guess in guesses.items():
        if any(unicodedata.category(char) == "Cc" for char in field):
            if name == "csv" and "\t" in field:
                remedy = "it has tabs between the names: write it with commas, or the schema by hand with sep='\\t'"
            else:
                remedy = f"a column would be named {field[:20]!r}: is it {name.upper()} in UTF-8?"
            raise InputError("control characters instead of names in file", str(path), remedy)
        if not field:
            notes.append("a column without a name: excluded")
            continue
        data_type = guess.type()
        fields.append((field, data_type))
        empty = count - guess.count + guess.empty
        said = [f"{empty / count:.0%} empty" if empty * 200 >= count else f"{empty:,} empty"] if empty else []
        what = ", ".join([f"{field}: {ddl_of_type(data_type)} from {count:,} {'row' if count == 1 else 'rows'}", *said])
        notes.append("; ".join([what, *guess.doubts(), *_inner_doubts(guess, field)]))
    return replace(_schema(fields, notes), malformed=malformed.count, first_malformed=malformed.first)


def _guesses(rows: Iterable[dict[str, Any]], rows_max: int, *, texts: bool) -> tuple[dict[str, TypeGuess], int]:
    guesses: dict[str, TypeGuess] = {}
    count = 0
    for row in islice(rows, rows_max):
        count += 1
        for name, value in row.items():
            guesses.setdefault(name, TypeGuess()).see(value, texts=texts)
    return guesses, count


def _header_doubts(names: Sequence[str]) -> Iterator[str]:
    """Yield doubts about the first line of a CSV file that a person should check."""
    values = [name for name in names if is_value(name)]
    if values:
        yield f"the first line was taken for names, though {values[0][:30]!r} is a value: put a line of names before it"
    if len(names) == 1:
        signs = {";": "semicolons", "\t": "tabs", "|": "bars"}
        yield from (
            f"one column, {names[0][:30]!r}: fields are divided by commas, not by {word}"
            for sign, word in signs.items()
            if sign in names[0]
        )


def _inner_doubts(guess: TypeGuess, path: str) -> Iterator[str]:
    inner = {f"{path}.{name}": field for name, field in guess.fields.items()}
    if guess.items is not None:
        inner[f"{path}[]"] = guess.items
    for inner_path, field in inner.items():
        yield from (f"{inner_path}: {doubt}" for doubt in field.doubts())
        yield from _inner_doubts(field, inner_path)


def _schema(fields: Iterable[tuple[str, pa.DataType]], notes: list[str]) -> FileSchema:
    import pyarrow as pa

    from asc.schema import Schema
    from broker.formats.record_attributes import RESERVED_ATTRIBUTES

    schema = Schema.from_arrow(pa.schema(list(fields)))
    notes += [
        f"{field.name}: a stream cannot have it, for the name is the record's own attribute: rename it"
        for field in schema.arrow
        if field.name.lower() in RESERVED_ATTRIBUTES
    ]
    return FileSchema(",\n".join(Schema(pa.schema([field])).ddl() for field in schema.arrow), notes)


def _csv_rows(path: Path, malformed: _Malformed) -> Iterator[dict[str, Any]]:
    yield from read_csv(path, lambda _: None, lambda line, said: malformed.see(line, f"has {said}"))


def _json_rows(path: Path, malformed: _Malformed) -> Iterator[dict[str, Any]]:
    for place, (number, line) in enumerate(read_lines(path, lambda _: None)):
        if not place and begins_array(line):
            raise no_lines(path)
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield row
        else:
            malformed.see(number, "is no JSON object")


def _of_parquet(path: Path) -> FileSchema:
    from asc.errors import SchemaError
    from asc.spark_types import ddl_of_type, normalised_arrow_type

    fields, notes = [], []
    for field in parquet_schema(path):
        wanted = arrow_type_of_spark(field.type)
        try:
            data_type = normalised_arrow_type(wanted, field.name)
        except SchemaError:
            notes.append(f"{field.name}: excluded, for Spark has no type for {field.type}")
            continue
        said = "" if wanted == field.type else f", for {field.type}"
        notes.append(f"{field.name}: {ddl_of_type(data_type)}{said}, as the file says")
        fields.append((field.name, data_type))
    if not fields:
        raise InputError("no field in file", str(path), "it needs a column of a type that Spark has")
    return _schema(fields, notes)


def arrow_type_of_spark(data_type: pa.DataType) -> pa.DataType:
    """Return a type that Spark has and that holds the values of ``data_type``. Return ``data_type`` unchanged if Spark
    has it, or if no such type is known.
    """
    import pyarrow as pa

    if pa.types.is_timestamp(data_type):
        return pa.timestamp("us", tz=data_type.tz)
    if pa.types.is_struct(data_type):
        fields = [data_type.field(place) for place in range(data_type.num_fields)]
        return pa.struct([field.with_type(arrow_type_of_spark(field.type)) for field in fields])
    if pa.types.is_list(data_type):
        return pa.list_(arrow_type_of_spark(data_type.value_type))
    wider = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
        pa.date64(): pa.date32(),
        pa.null(): pa.string(),
    }
    return wider.get(data_type, data_type)
