"""Functions of numbers."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.bounded import bounded, integer_up_to, integer_within
from asc.predicate.functions.checks import constant_integer, integer_or_bounded
from asc.predicate.functions.function import Call, Check, Function, Result, plain
from asc.predicate.functions.results import BIGINT, BOOLEAN, DOUBLE, INT, STRING, first, unknown

_NUMBER_TO_DOUBLE = """
acos acosh asin asinh atan atanh cbrt cos cosh degrees exp expm1 ln log10 log1p log2 radians sin sinh sqrt tan
tanh rint signum sign cot csc sec
"""
_MAX_DIGITS, _MAX_PATTERN_CHARS = 30, 60
_NUMBER_PATTERN = re.compile(r"(?:(?:#[#,]*)?(?:#|[#,]0|0)|0)(?:0|,0)*(?:\.0*#*)?\Z")
_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


def _same_number(call: Call) -> pa.DataType | None:
    return call.type(0) if types.is_number(call.type(0)) else None


def _arithmetic(operator: str) -> Result:
    def result(call: Call) -> pa.DataType | None:
        return types.arithmetic(operator, call.type(0), call.type(1), (call.args[0].literal, call.args[1].literal))

    return result


def _rounded(call: Call) -> pa.DataType | None:
    digits = call.integer(1) if len(call.args) > 1 else 0
    return types.rounded(call.type(0), digits) if digits is not None else None


def _shifted(call: Call) -> pa.DataType | None:
    data_type = call.type(0)
    return data_type if data_type in (pa.int64(), None) else pa.int32()


def _whole_number(call: Call) -> pa.DataType | None:
    """Return the result type of ``ceil`` and ``floor``: BIGINT.

    Return None (unknown) for a decimal, and if the call has a number of digits. In these cases the result is a decimal.
    """
    data_type = call.type(0)
    if len(call.args) > 1:
        return None
    return pa.int64() if types.is_number(data_type) and not pa.types.is_decimal(data_type) else None


def _zero_if_null(call: Call) -> pa.DataType | None:
    return types.common([call.type(0), pa.int32()]) if call.type(0) != pa.null() else pa.int32()


def _sign(call: Call) -> str | None:
    if types.sign_may_throw(call.type(0)):
        return f"{call.name} of {types.name(call.type(0))} can throw: CAST it to DOUBLE or DECIMAL(34, ...) first"
    return None


def _bit_place(call: Call) -> str | None:
    """Return the reason for refusing a call if the number is no integer, or a constant position of a bit is outside the
    number; else None.
    """
    if first(call) not in _BITS:
        return f"{call.name} of {types.name(call.type(0))}: CAST it to an integer type"
    return integer_or_bounded(1, "position of the bit", 0, _last_bit(call))(call)


def _last_bit(call: Call) -> int:
    return _BITS[call.type(0)] - 1


def _whole_digits(call: Call) -> str | None:
    """Return the reason for refusing a call unless its number of digits is a constant integer; Spark accepts nothing
    else. Return None if it is one, or missing.
    """
    if len(call.args) > 1 and not isinstance(call.constant(1), int):
        return f"the number of digits given to {call.name} must be a constant integer"
    return constant_integer(1, "number of digits", -30, 30)(call)


def _number_format(call: Call) -> str | None:
    """Return the reason for refusing a call unless its second argument is a number of digits, or a number pattern that
    Java accepts. Return None if it is.

    Java throws for any other pattern.
    """
    pattern = call.constant(1)
    if call.type(1) == pa.string():
        if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN_CHARS and _NUMBER_PATTERN.match(pattern):
            return None
        return f"{call.name} takes a constant pattern of # , 0 and a point: '#,##0.00'"
    if call.type(1) is None:
        return f"{call.name} with {types.name(None)}: CAST it to INT"
    return integer_or_bounded(1, "number of digits", -_MAX_DIGITS, _MAX_DIGITS)(call)


def _formatted(call: Call) -> str:
    return plain(call) if call.type(1) == pa.string() else bounded(1, integer_up_to(1, _MAX_DIGITS))(call)


def _table() -> dict[str, Function]:
    digits: Check = constant_integer(1, "number of digits", -30, 30)
    return {
        **{name: Function(1, 1, "n", DOUBLE) for name in _NUMBER_TO_DOUBLE.split()},
        **{name: Function(2, 2, "n", DOUBLE) for name in ("atan2", "hypot", "power", "pow")},
        "log": Function(1, 2, "n", DOUBLE),
        **dict.fromkeys(("e", "pi"), Function(0, 0, "x", DOUBLE)),
        "abs": Function(1, 1, "n", _same_number, _sign),
        "negative": Function(1, 1, "n", _same_number, _sign),
        "positive": Function(1, 1, "n", _same_number),
        **dict.fromkeys(("ceil", "ceiling", "floor"), Function(1, 2, "n", _whole_number, _whole_digits)),
        **dict.fromkeys(("round", "bround"), Function(1, 2, "ni", _rounded, digits)),
        **dict.fromkeys(("mod", "pmod"), Function(2, 2, "n", _arithmetic("%"))),
        "try_add": Function(2, 2, "n", _arithmetic("+")),
        "try_subtract": Function(2, 2, "n", _arithmetic("-")),
        "try_multiply": Function(2, 2, "n", _arithmetic("*")),
        "try_divide": Function(2, 2, "n", _arithmetic("/")),
        "try_mod": Function(2, 2, "n", _arithmetic("%")),
        "isnan": Function(1, 1, "n", BOOLEAN),
        "nanvl": Function(2, 2, "n", unknown),
        "nullifzero": Function(1, 1, "u", first),
        "zeroifnull": Function(1, 1, "n", _zero_if_null),
        "factorial": Function(1, 1, "i", BIGINT),
        "width_bucket": Function(4, 4, "nnni", BIGINT),
        "bit_count": Function(1, 1, "k", INT),
        **dict.fromkeys(
            ("bit_get", "getbit"),
            Function(2, 2, "Ii", unknown, _bit_place, spelling=bounded(1, integer_within(1, _last_bit)), fails=True),
        ),
        **dict.fromkeys(("shiftleft", "shiftright", "shiftrightunsigned"), Function(2, 2, "i", _shifted)),
        **dict.fromkeys(("bitmap_bit_position", "bitmap_bucket_number"), Function(1, 1, "i", BIGINT)),
        "bin": Function(1, 1, "i", STRING),
        "conv": Function(3, 3, "sii", STRING),
        "format_number": Function(2, 2, "Nf", STRING, _number_format, spelling=_formatted, fails=True),
    }


NUMBERS = _table()
