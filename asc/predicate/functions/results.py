"""The result types of functions; None means that the type is not known without Spark."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions.common_type import wider
from asc.predicate.functions.function import Call, Result, is_array
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ


def always(data_type: pa.DataType) -> Result:
    """Return a function that returns the result type ``data_type`` for every call, whatever the arguments are."""
    return lambda call: data_type


INT, BIGINT, DOUBLE = always(pa.int32()), always(pa.int64()), always(pa.float64())
STRING, BINARY, BOOLEAN = always(pa.string()), always(pa.binary()), always(pa.bool_())
DATE, INSTANT, LOCAL_INSTANT = always(pa.date32()), always(TIMESTAMP), always(TIMESTAMP_NTZ)
STRINGS = always(pa.list_(pa.string()))


def unknown(call: Call) -> pa.DataType | None:
    return None


def first(call: Call) -> pa.DataType | None:
    return call.type(0) if call.type(0) != pa.null() else None


def common(call: Call) -> pa.DataType | None:
    return wider(call.kinds)


def common_of_branches(call: Call) -> pa.DataType | None:
    return wider(call.kinds[1:])


def string_or_binary(call: Call) -> pa.DataType | None:
    """Return the type string, or None (unknown) if an argument is BINARY or of unknown type.

    The result of a function of BINARY is BINARY.
    """
    kinds = set(call.kinds)
    return None if pa.binary() in kinds or None in kinds else pa.string()


def part_of_string(call: Call) -> pa.DataType | None:
    return None if call.type(0) in (None, pa.binary()) else pa.string()


def element(call: Call) -> pa.DataType | None:
    """Return the element type of the array that is the first argument; None if the type is not known."""
    array = first(call)
    return array.value_type if array is not None and is_array(array) else None
