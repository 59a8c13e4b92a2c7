"""The allowed functions: how many arguments of which sorts they take, and what they give."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.functions import FUNCTIONS, Call
from asc.predicate.literal import Literal, number
from asc.predicate.refusals import refusal


def call(name: str, *args: pa.DataType | Literal | None) -> Call:
    return Call(name, [(arg.type, arg) if isinstance(arg, Literal) else (arg, None) for arg in args])


def text(value: str) -> Literal:
    return Literal(repr(value), pa.string(), value)


def trouble(made: Call) -> str | None:
    return FUNCTIONS[made.name].trouble(made)


@pytest.mark.parametrize(
    ("made", "part"),
    [
        (call("lower"), "lower takes 1 argument, not 0"),
        (call("round", pa.float64(), number("1"), number("2")), "round takes 1 to 2 arguments, not 3"),
        (call("sqrt", pa.bool_()), "argument 1 of sqrt is BOOLEAN, not a number"),
        (call("year", pa.int32()), "not a date or timestamp"),
        (call("size", pa.string()), "not an array or map"),
        (call("round", pa.float64(), pa.int32()), "must be a constant of -30..30"),
        (call("lpad", pa.string(), number("1001")), "must be a constant of 0..1000"),
        (call("replace", pa.string(), text("a"), text("bb")), "the replacement no longer than what it replaces"),
        (call("rlike", pa.string(), pa.string()), "must be a constant string"),
        (call("rlike", pa.string(), text("(a+)+$")), "a repeated group"),
        (call("instr", pa.string(), pa.string()), "must be a constant of at most 1000 characters"),
        (call("sha2", pa.string(), number("1")), "sha2 takes 0, 224, 256, 384 or 512 bits"),
        (call("abs", pa.decimal128(38, 0)), "can throw"),
        (call("coalesce", pa.bool_(), pa.int32()), "CAST them to one type"),
        (call("greatest", pa.string(), pa.int32()), "CAST them to one type"),
        (call("split_part", pa.string(), text(","), number("0")), "other than 0"),
    ],
)
def test_calls_that_are_refused(made: Call, part: str) -> None:
    assert part in (trouble(made) or "")


@pytest.mark.parametrize(
    ("made", "result"),
    [
        (call("lower", pa.int32()), pa.string()),
        (call("abs", pa.int16()), pa.int16()),
        (call("abs", pa.string()), None),
        (call("ceil", pa.float64()), pa.int64()),
        (call("ceil", pa.decimal128(5, 2)), None),
        (call("round", pa.decimal128(5, 2), number("1")), pa.decimal128(5, 1)),
        (call("mod", pa.int32(), pa.int64()), pa.int64()),
        (call("coalesce", pa.null(), pa.int32(), pa.int64()), pa.int64()),
        (call("if", pa.bool_(), pa.date32(), pa.null()), pa.date32()),
        (call("nullif", pa.string(), pa.string()), pa.string()),
        (call("concat", pa.string(), pa.int32()), pa.string()),
        (call("concat", pa.binary(), pa.binary()), None),
        (call("shiftleft", pa.int8(), number("1")), pa.int32()),
        (call("year", None), pa.int32()),
    ],
)
def test_results(made: Call, result: pa.DataType | None) -> None:
    assert trouble(made) is None
    assert FUNCTIONS[made.name].result(made) == result


def test_nothing_is_both_allowed_and_refused() -> None:
    assert [name for name in FUNCTIONS if refusal(name)] == []
    assert all(name == name.lower() and 1 <= own.least <= own.most for name, own in FUNCTIONS.items())
