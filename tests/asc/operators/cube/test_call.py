"""Calls of functions, as measures and questions have them."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.call import Argument, Call, Constant, call_of, constant_text, spelling

FORM = "write f(x)"


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("400", 400),
        (".5", 0.5),
        ("- 7", -7),
        ("+7", 7),
        ("1e3", 1000.0),
        ("2.50", 2.5),
        ("5L", 5),
        ("99999999999999999999", 99999999999999999999),
        ("'/a'", "/a"),
        (r"'it\'s'", "it's"),
        ("TRUE", True),
        ("false", False),
        ("x", None),
        ("1 + 1", None),
        ("f(1)", None),
        ("'a' || 'b'", None),
        ("NULL", None),
    ],
)
def test_a_literal_is_a_constant(text: str, constant: Constant | None) -> None:
    (argument,) = call_of(f"f( {text} )", FORM).arguments
    assert argument == Argument(text, constant)
    assert type(argument.constant) is type(constant)
    if constant is not None:
        assert call_of(f"f({constant_text(constant)})", FORM).arguments[0].constant == constant


def test_a_call_has_all_its_parts() -> None:
    text = "F(a[1, 2], (b), 3) FILTER (WHERE x IN (1, 2)) AS `the ``name`"
    expected = (Argument("a[1, 2]"), Argument("(b)"), Argument("3", 3))
    assert call_of(text, FORM) == Call(text, "f", expected, "x IN (1, 2)", "the `name")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "measure: write f(x)"),
        ("x", "measure 'x': is no call of a function: write f(x)"),
        ("f(1e999)", "has the number 1e999, outside the range of double: write a smaller one"),
        ("f(1) 2", "has '2' where it should end"),
        ("f('a)", "is a quote or a comment left open?"),
    ],
)
def test_what_is_no_call_is_refused_in_one_line(text: Any, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        call_of(text, FORM)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_spellings_of_one_expression_are_equal() -> None:
    assert spelling("a+ B -- of it\n") == spelling("A +b")
    assert spelling("`A`") == spelling("`a`")
    assert spelling("a || 'B'") != spelling("a || 'b'")
    assert spelling("ab") != spelling("a b")
