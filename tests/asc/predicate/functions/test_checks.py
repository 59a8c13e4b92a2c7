"""Checks that several families of functions share."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression
from asc.predicate.functions.checks import constant_integer, constant_string, every, searched
from asc.predicate.functions.function import Call
from asc.predicate.literal import Literal, number
from asc.predicate.syntax import Node


def call(*literals: Literal | None) -> Call:
    node = Node("column", (), 0, 1, ("a",))
    return Call("f", [Expression("a", x.type if x else None, node, literal=x) for x in literals])


def text(value: str) -> Literal:
    return Literal(repr(value), pa.string(), value)


@pytest.mark.parametrize(
    ("literal", "fits"),
    [(number("1"), True), (number("5"), True), (number("6"), False), (number("0"), False), (None, False)],
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


def test_one_of_two_strings_is_short() -> None:
    assert searched(call(None, text("a" * 1_000))) is None
    assert "at most 1000" in (searched(call(None, text("a" * 1_001))) or "")
    assert "at most 1000" in (searched(call(None, None)) or "")
    assert searched(call(None)) is None
