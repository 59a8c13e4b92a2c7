"""Checks that several families of functions share."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.checks import constant_integer, constant_string, every, integer_or_bounded, sought
from asc.predicate.functions.function import Call
from asc.predicate.syntax.literal import Literal, number
from asc.predicate.syntax.nodes import Node


def call(*literals: Literal | None) -> Call:
    node = Node("column", (), 0, 1, ("a",))
    return Call("f", [Expression("a", x.type if x else None, node, literal=x) for x in literals])


def text(value: str) -> Literal:
    return Literal(repr(value), pa.string(), value)


@pytest.mark.parametrize(
    ("literal", "fits"),
    [
        (number("1"), True),
        (number("5"), True),
        (number("6"), False),
        (number("0"), False),
        (number("5.99"), True),
        (number("6.0"), False),
        (text(" 5"), True),
        (text("6"), False),
        (text("5.5"), False),
        (text("five"), True),
        (Literal("NULL", pa.null(), None), True),
        (None, False),
    ],
)
def test_constant_integers(literal: Literal | None, fits: bool) -> None:
    check = constant_integer(0, "count", -1, 5, but=0)
    trouble = check(call(literal))
    assert (trouble is None) is fits
    assert fits or trouble == "the count given to f must be a constant of -1..5 other than 0"
    assert check(call(Literal("TRUE", pa.bool_(), True))) is not None
    assert check(call()) is None


def test_constant_strings() -> None:
    check = constant_string(0, "path", 3)
    assert check(call(text("abc"))) is None
    assert check(call()) is None
    for wrong in (text("abcd"), number("1"), None):
        assert check(call(wrong)) == "the path given to f must be a constant string of at most 3 characters"


def test_the_first_trouble_is_told() -> None:
    checks = every(lambda call: None, lambda call: "one", lambda call: "two")
    assert checks(call()) == "one"
    assert every()(call()) is None


def test_what_is_no_constant_is_bounded_elsewhere() -> None:
    check = integer_or_bounded(0, "count", 0, 5)
    assert check(call(None)) is None
    assert check(call(number("6"))) == "the count given to f must be a constant of 0..5"
    assert check(call()) is None


def test_a_constant_that_is_sought_is_short() -> None:
    check = sought(1, 0)
    assert check(call(None, text("a" * 1_000))) is None
    assert check(call(None, text("a" * 1_001))) == "what f seeks is a constant of at most 1,000 characters"
    assert check(call(text("a"), text("a" * 1_001))) is None
    assert check(call(None, None)) is None
    assert check(call(None)) is None
