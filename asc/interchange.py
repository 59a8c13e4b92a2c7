"""Tables of other libraries (Polars, pandas, DuckDB, ...), read through Arrow's PyCapsule interface without importing
these libraries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import pyarrow as pa

from asc.errors import PlanError, SchemaError
from asc.schema import Schema
from asc.spark_types import fields_without_plain_text, normalised_arrow_type

PART_ROWS = 1 << 20
"""The most rows of a table that are matched together. This bounds the copy that makes a column contiguous."""

_FEWEST_ROWS = 1 << 16
"""The least number of rows of a part, except the last part of a table. Streams of Arrow batches often have batches of
only some thousand rows. Such batches are combined, because matching a part has a fixed cost.
"""

_TAKEN = "pyarrow, Polars, pandas or DuckDB table, or any object with __arrow_c_stream__"

Part: TypeAlias = pa.RecordBatch | pa.Table


@dataclass(frozen=True, slots=True)
class Incoming:
    """A table that is being read: its Arrow schema, and its rows in parts of bounded size, which can be iterated once.

    Invariant: each part has the schema ``schema``. Cost: one part at a time is in memory; rows already in Arrow memory
    are not copied.
    """

    schema: pa.Schema
    parts: Iterator[Part]

    @classmethod
    def of(cls, data: object) -> Incoming:
        """Return the schema and parts of a table.

        A table is a ``pyarrow.Table``, ``RecordBatch`` or ``RecordBatchReader``, or an object that exports itself as
        Arrow (Polars, pandas, DuckDB). Raise PlanError for any other object, and if the library cannot export the
        table.
        """
        if isinstance(data, (pa.Table, pa.RecordBatch)):
            return cls(data.schema, _slices(data))
        if isinstance(data, pa.RecordBatchReader):
            return cls(data.schema, _together(data, _name(data)))
        if hasattr(data, "__arrow_c_stream__"):
            reader = _exported(data, pa.RecordBatchReader.from_stream)
            return cls(reader.schema, _together(reader, _name(data)))
        if hasattr(data, "__arrow_c_array__"):
            batch = _exported(data, pa.record_batch)
            return cls(batch.schema, _slices(batch))
        raise PlanError("table of type", type(data).__name__, _remedy(data))


def is_table(value: object) -> bool:
    """Return True if a value is a table that :meth:`Incoming.of` accepts."""
    is_arrow = isinstance(value, (pa.Table, pa.RecordBatch, pa.RecordBatchReader))
    return is_arrow or hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def predicates_schema(schema: pa.Schema) -> Schema:
    """Return the schema of the columns of a table that predicates may name. ``schema``: the Arrow schema of the table.
    ``excluded`` of the result has the other columns, each with the reason.

    A type that Spark does not have becomes the narrowest type that holds its values: ``uint8`` becomes SMALLINT,
    ``uint64`` DECIMAL(20,0), ``float16`` FLOAT, and a timestamp of any unit TIMESTAMP. Raise SchemaError if no
    attribute is left, or if two names differ in case only.

    >>> schema = predicates_schema(pa.schema({"n": pa.uint16(), "at": pa.time64("us")}))
    >>> schema.ddl(), schema.excluded
    ('n INT', {'at': 'the table has it as time64[us], which no predicate knows: cast it'})
    """
    others = fields_without_plain_text(schema.metadata)
    fields = list(_known_fields((field for field in schema if field.name not in others), "", others))
    if not fields:
        raise SchemaError("table with the columns", _shown(schema), "predicates can name none of them")
    return replace(Schema.from_arrow(pa.schema(fields)), excluded=others)


def _known_fields(fields: Iterable[pa.Field], prefix: str, others: dict[str, str]) -> Iterator[pa.Field]:
    for field in fields:
        path = f"{prefix}{field.name}"
        if not field.name:
            continue
        if pa.types.is_struct(field.type):
            within = [field.type.field(i) for i in range(field.type.num_fields)]
            inner = list(_known_fields(within, f"{path}.", others))
            if inner:
                yield field.with_type(pa.struct(inner))
            continue
        if pa.types.is_null(field.type):
            others[path] = "the table has nothing but NULLs there, so its type is not known: give a schema"
            continue
        try:
            yield field.with_type(normalised_arrow_type(_widened(field.type), path))
        except SchemaError:
            others[path] = f"the table has it as {field.type}, which no predicate knows: cast it"


def _widened(data_type: pa.DataType) -> pa.DataType:
    """Return the narrowest type that Spark also has and that represents every value of an Arrow type.

    Return the type itself if there is no such type.
    """
    types = pa.types
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return _widened(data_type.value_type)
    if types.is_unsigned_integer(data_type):
        wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}
        return wider.get(data_type.bit_width, pa.decimal128(20, 0))
    if types.is_float16(data_type):
        return pa.float32()
    if types.is_timestamp(data_type):
        return pa.timestamp("us", tz=data_type.tz)
    return pa.date32() if types.is_date(data_type) else data_type


def _slices(data: Part) -> Iterator[Part]:
    for start in range(0, max(1, data.num_rows), PART_ROWS):
        # A slice of a table without columns would have any requested number of rows.
        yield data.slice(start, min(PART_ROWS, data.num_rows - start))


def _together(reader: pa.RecordBatchReader, name: str) -> Iterator[Part]:
    """Yield the rows of a stream of Arrow batches in parts of bounded size. Small batches are combined. ``name``: the
    type of the table, for errors.
    """
    waiting: list[pa.RecordBatch] = []
    rows = 0
    while (batch := _next(reader, name)) is not None:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _FEWEST_ROWS:
            yield from _slices(pa.Table.from_batches(waiting, reader.schema))
            waiting, rows = [], 0
    yield from _slices(pa.Table.from_batches(waiting, reader.schema))


def _next(reader: pa.RecordBatchReader, name: str) -> pa.RecordBatch | None:
    try:
        batch: pa.RecordBatch = reader.read_next_batch()
    except StopIteration:
        return None
    except Exception as error:
        # The library that produces the rows may raise any error: a division in a query of DuckDB, or a truncated file.
        raise PlanError("table of type", name, f"cannot be read to its end: {_first_line(error)}") from error
    return batch


def _exported(data: object, read: type[pa.RecordBatch]) -> pa.RecordBatchReader | pa.RecordBatch:
    try:
        return read(data)
    except Exception as error:
        remedy = f"its library does not give it as Arrow: {_first_line(error)}"
        raise PlanError("table of type", _name(data), remedy) from error


def _remedy(data: object) -> str:
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        return "it has no rows yet: collect() it first"
    if hasattr(data, "sparkSession"):
        return "use broker.match, or its toArrow()"
    return f"give a {_TAKEN}"


def _name(data: object) -> str:
    return type(data).__name__


def _first_line(error: Exception) -> str:
    # pyarrow names the column of pandas in a second argument.
    said = [str(argument).strip() for argument in error.args if isinstance(argument, str)] or [str(error)]
    lines = "; ".join(said).splitlines()
    return lines[0][:300] if lines else type(error).__name__


def _shown(schema: pa.Schema) -> str:
    columns = [f"{field.name} {field.type}" for field in schema]
    return ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
