"""Functions of numbers: calls that are refused, and the types of results."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("round(d, 1, 2)", "round takes 1 to 2 arguments, not 3"),
        ("sqrt(flag)", "argument 1 of sqrt is BOOLEAN, not a number"),
        ("round(d, n)", "must be a constant of -30..30"),
        ("abs(wide)", "can throw"),
        ("bit_get(n, 32)", "must be a constant of 0..31"),
        ("getbit(tiny, 8)", "0..7"),
        ("bit_get(n, '32')", "position of the bit"),
        ("ceil(d, NULL)", "must be a constant integer"),
        ("bit_count(d)", "not an integer or condition"),
        ("format_number(d, s)", "takes a constant pattern"),
        ("format_number(d, '0#')", "takes a constant pattern"),
        ("format_number(d, '%')", "takes a constant pattern"),
        ("format_number(s, 2)", "is STRING, not a number"),
        ("format_number(d, 2147483647)", "must be a constant of -30..30"),
        ("try_add(flag, 1)", "is BOOLEAN, not a number"),
        ("e(1)", "e takes 0 arguments, not 1"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("abs(tiny)", pa.int8()),
        ("abs(s)", None),
        ("ceil(d)", pa.int64()),
        ("ceil(price)", None),
        ("round(price, 1)", pa.decimal128(5, 1)),
        ("mod(n, big)", pa.int64()),
        ("shiftleft(tiny, 1)", pa.int32()),
        ("pi()", pa.float64()),
        ("try_divide(n, n)", pa.float64()),
        ("try_add(price, n)", pa.decimal128(13, 2)),
        ("zeroifnull(tiny)", pa.int32()),
        ("nullifzero(f)", pa.float32()),
        ("bit_get(n, 31)", None),
        ("factorial(n)", pa.int64()),
        ("factorial(price)", pa.int64()),
        ("round(price, '1')", pa.decimal128(5, 1)),
        ("round(price, NULL)", None),
        ("try_add(s, 1)", None),
        ("shiftleft(s, '1')", pa.int32()),
        ("shiftleft(big, d)", pa.int64()),
        ("nullifzero(flag)", pa.bool_()),
        ("zeroifnull(s)", None),
        ("bit_count(flag)", pa.int32()),
        ("bin(d)", pa.string()),
        ("bit_get(n, big)", None),
        ("format_number(d, n)", pa.string()),
        ("log(2)", pa.float64()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result
