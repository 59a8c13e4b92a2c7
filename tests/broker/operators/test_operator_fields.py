"""Fields of operators: what is taken, and in which words others are refused."""

from __future__ import annotations

import pytest

from broker.errors import QueryError
from broker.operators.operator_fields import check_known, expression_of, key_of, kinds_of, number_of, shown


def test_numbers_are_taken_to_a_millionth_and_within_range() -> None:
    assert [number_of("x", given, least=0, most=9) for given in (0, 9, 1.5, 2.0, 0.1234567)] == [0, 9, 1.5, 2, 0.123457]
    with pytest.raises(QueryError, match=r"operator\.x: is missing: give seconds"):
        number_of("x", None, least=0, most=9)
    with pytest.raises(QueryError, match=r"operator\.x '3': give seconds, from 0 to 9, as a number"):
        number_of("x", "3", least=0, most=9)
    for wrong in (True, "3", -0.1, 9.1, float("nan"), float("inf"), [1]):
        with pytest.raises(QueryError, match=r"operator\.x .*: give metres, from 0 to 9"):
            number_of("x", wrong, least=0, most=9, what="metres")


def test_kinds_are_some_of_those_known_in_their_order() -> None:
    assert kinds_of(["b", "a"], ("a", "b", "c")) == ("a", "b")
    for wrong in ([], "a", ["a", "d"], None, [["a"]], {"a": 1, "d": 2}):
        with pytest.raises(QueryError, match="give a list of some of a, b, c"):
            kinds_of(wrong, ("a", "b", "c"))


def test_expressions_have_a_text_of_some_length() -> None:
    assert expression_of("key", " k ") == " k "
    for wrong in (None, "", "  ", 7, "k" * 10_001, "a \ud800"):
        with pytest.raises(QueryError, match=r"operator\.key"):
            expression_of("key", wrong)
    with pytest.raises(QueryError, match="operator 'near': has no key"):
        key_of("near", {"key": None})


def test_a_field_that_is_not_known_is_named() -> None:
    check_known({"a": 1}, ("a", "b"))
    with pytest.raises(QueryError, match="field operator 'c': is not known: known are a, b"):
        check_known({"a": 1, "c": 2}, ("a", "b"))
    assert shown("\ud800") == "?"
