"""Casts of columns of a table whose type differs from the type in the schema of the predicates. A cast is accepted if
the schema's type represents every value exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from asc.errors import PlanError, SchemaError
from asc.keys.attribute import PAttribute
from asc.spark_types import ddl_of_type, folded, normalised_arrow_type


def fitted(attribute: PAttribute, values: pa.Array | pa.ChunkedArray, first_row: int = 0) -> pa.Array | pa.ChunkedArray:
    """Return the values of a p-attribute, cast to its type. ``first_row``: the number of the first row, for errors.

    Exact casts are: integers and decimals of another width, integers to floats and back, floats of another width,
    timestamps of another unit, a column of nothing but NULLs. Run-end encoded values are decoded. A column whose type
    cannot be cast to the p-attribute's type is returned unchanged. Raise PlanError for the first value that the
    p-attribute's type cannot represent. Cost: a copy of the values, or nothing if the column already has the type.

    >>> fitted(PAttribute("delay", pa.int32()), pa.array([45, None], pa.int64())).type
    DataType(int32)
    """
    wanted = attribute.type
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    given_type = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if attribute.space.readable(pa.nulls(0, given_type)) is not None or not _goes_with(given_type, wanted):
        return values
    plain = values if given_type == values.type else values.cast(given_type)
    exact = _exact(plain, wanted)
    if exact is not None:
        return exact
    row = bisect_left(range(len(plain)), True, key=lambda last: _exact(plain.slice(0, last + 1), wanted) is None)
    remedy = f"does not fit {ddl_of_type(wanted)}: {_remedy(given_type)}"
    raise PlanError(f"column {attribute.sql}, row {first_row + row}, holds", _shown(plain[row]), remedy)


def column_at(batch: pa.RecordBatch | pa.Table, path: tuple[str, ...], name: str) -> pa.Array | pa.ChunkedArray:
    """Return a column of a batch, or a field of a struct in it, by its path. A field of a struct is NULL if the struct
    is NULL. ``name``: the name of the whole column, for errors.

    Each part of the path selects the column or field with the same spelling. If there is none, it selects the one whose
    name Spark treats as equal.
    """
    column = batch.column(_place(batch.schema.names, path[0], name))
    for part in path[1:]:
        if pa.types.is_null(column.type):
            return column
        if not pa.types.is_struct(column.type):
            raise PlanError("column", name, f"the batch has {column.type} where a struct must be")
        fields = [column.type.field(i).name for i in range(column.type.num_fields)]
        column = pc.struct_field(column, [_place(fields, part, name)])
    return column


def _place(names: list[str], wanted: str, name: str) -> int:
    """Return the index of the name ``wanted`` among ``names``. Raise PlanError if it is missing, or occurs several
    times. ``name``: the name of the whole column, for errors.
    """
    places = [i for i, own in enumerate(names) if own == wanted]
    places = places or [i for i, own in enumerate(names) if folded(own) == folded(wanted)]
    if len(places) > 1:
        raise PlanError("column", name, "the batch has several of that name")
    if not places:
        raise PlanError("missing column", name, f"the batch has {', '.join(names[:8])}")
    return places[0]


def position_of(attribute: PAttribute, parts: Sequence[pa.Array | pa.ChunkedArray]) -> pa.Array:
    """Return the positions, or boxes, whose coordinates are in ``parts``, columns of numbers. ``attribute``: the
    p-attribute of the positions. Each number becomes the double to which Spark casts it.
    """
    return pa.StructArray.from_arrays([as_doubles(part) for part in parts], fields=list(attribute.type))


def as_doubles(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the doubles to which Spark casts numbers of any type."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    if pa.types.is_decimal(whole.type):
        # Java rounds a decimal to the nearest double, as Python does and Arrow does not always.
        return pa.array([None if value is None else float(value) for value in whole.to_pylist()], pa.float64())
    # An integer beyond 53 bits is rounded, as Java rounds it.
    return whole.cast(pa.float64(), safe=False)


def _goes_with(given_type: pa.DataType, wanted: pa.DataType) -> bool:
    types = pa.types
    if types.is_integer(wanted):
        goes = types.is_integer(given_type) or types.is_floating(given_type) or types.is_decimal(given_type)
    elif types.is_floating(wanted):
        goes = types.is_integer(given_type) or types.is_floating(given_type)
    elif types.is_decimal(wanted):
        goes = types.is_integer(given_type) or types.is_decimal(given_type)
    elif types.is_timestamp(wanted):
        goes = types.is_timestamp(given_type) and (given_type.tz is None) == (wanted.tz is None)
    else:
        goes = types.is_date(wanted) and types.is_date(given_type)
    return bool(goes or types.is_null(given_type))


def _exact(values: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> pa.Array | pa.ChunkedArray | None:
    """Return the values cast to a type. Return None if the type cannot represent one of the values exactly."""
    if pa.types.is_float16(values.type):
        # A float32 represents every float16 exactly. Arrow cannot compare values of type float16.
        values = values.cast(pa.float32())
    try:
        if pa.types.is_decimal(wanted) and pa.types.is_integer(values.type):
            # Arrow refuses the cast unless the decimal type represents every integer of this width, whatever the values
            # are.
            values = values.cast(pa.decimal128(20, 0))
        cast = values.cast(wanted)
    except pa.ArrowInvalid:
        return None
    if pa.types.is_floating(wanted) and pa.types.is_floating(values.type):
        # Arrow rounds without an error, so the values are compared with the originals.
        same = pc.or_kleene(pc.equal(cast.cast(values.type), values), pc.is_nan(values))
        return cast if pc.all(same).as_py() in (True, None) else None
    return cast


def _shown(value: pa.Scalar) -> object:
    # A timestamp in nanoseconds has no exact Python datetime.
    return value.cast(pa.string()).as_py() if pa.types.is_timestamp(value.type) else value.as_py()


def _remedy(given_type: pa.DataType) -> str:
    if pa.types.is_timestamp(given_type):
        return "round the column to microseconds, or leave the row out"
    try:
        name = ddl_of_type(normalised_arrow_type(given_type, ""))
    except SchemaError:
        return "cast the column, or declare a wider type"
    return f"declare it {name}, or leave the row out"
