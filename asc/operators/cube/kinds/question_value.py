"""Conversion of a constant in a call of a question function to a value of the type of the column."""

from __future__ import annotations

import base64
import binascii
import math
from datetime import date
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.call import Constant, constant_text
from asc.operators.cube.json_values import instant_of
from asc.predicate.expressions.types import name as type_name

_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_EXACT = Context(prec=80, traps=[InvalidOperation, Inexact])
"""A context that raises an exception for a decimal with more digits than any DECIMAL has."""


def question_value(constant: Constant, data_type: pa.DataType, call: str) -> pa.Array:
    """Return an array with one value of a type. ``constant``: the value as answers show values of this type. Raise
    CubeError if the constant is no value of the type. ``call``: the call with the constant, for the error.

    >>> question_value("2013-07-10", pa.date32(), "contains(day, '2013-07-10')")[0].as_py()
    datetime.date(2013, 7, 10)
    >>> question_value(5, pa.decimal128(5, 2), "contains(price, 5)")[0].as_py()
    Decimal('5.00')
    """
    try:
        return pa.array([_plain(constant, data_type)], data_type)
    except (ValueError, TypeError, ArithmeticError, CubeError, binascii.Error):
        shown = f"compares {type_name(data_type)} with {constant_text(constant)}, which is none"
        raise CubeError("measure", call, f"{shown}: write a value as answers show it") from None


def _plain(constant: Constant, data_type: pa.DataType) -> Any:
    """Return a constant as a Python value of an Arrow type. Raise one of several exceptions if it is no value of the
    type.
    """
    types = pa.types
    is_number = isinstance(constant, int | float) and not isinstance(constant, bool)
    if types.is_boolean(data_type):
        return _of_type(constant, bool)
    if types.is_integer(data_type):
        return _of_type(constant, int) if is_number else _refused()
    if types.is_floating(data_type):
        return float(constant) if is_number else _FLOATS.get(str(constant)) or _refused()
    if types.is_decimal(data_type):
        return _decimal(constant, data_type)
    text = _of_type(constant, str)
    if types.is_string(data_type):
        return text
    if types.is_date(data_type):
        return date.fromisoformat(text)
    if types.is_timestamp(data_type):
        return instant_of("time", text)
    return base64.b64decode(text, validate=True)


def _decimal(constant: Constant, data_type: pa.DataType) -> Decimal:
    """Return the exact decimal of a number or text. Raise an exception if it has more digits than the type."""
    if isinstance(constant, bool):
        _refused()
    exact = _EXACT.create_decimal(str(constant))
    fitted = exact.quantize(Decimal(1).scaleb(-data_type.scale), context=_EXACT)
    return fitted if fitted == exact else _refused()


def _of_type(constant: Constant, kind: type) -> Any:
    return constant if isinstance(constant, kind) else _refused()


def _refused() -> Any:
    raise ValueError
