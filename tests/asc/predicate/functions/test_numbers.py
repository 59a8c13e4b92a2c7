"""Functions of numbers: calls that are refused, and the types of results."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("round(d, 1, 2)", "round takes 1 to 2 arguments, not 3"),
        ("sqrt(flag)", "argument 1 of sqrt is BOOLEAN, not a number"),
        ("round(d, n)", "must be a constant of -30..30"),
        ("abs(wide)", "can throw"),
        ("bit_get(n, 32)", "must be a constant of 0..31"),
        ("getbit(tiny, 8)", "0..7"),
        ("bit_get(n, big)", "position of the bit"),
        ("format_number(s, 2)", "is STRING, not a number"),
        ("format_number(d, 2147483647)", "must be a constant of 0..30"),
        ("try_add(s, 1)", "is STRING, not a number"),
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
        ("log(2)", pa.float64()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result
