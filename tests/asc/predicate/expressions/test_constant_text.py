"""Texts that are made of constants, and what is not told of them here."""

from __future__ import annotations

import pytest

from asc.predicate.expressions.constant_text import ConstantText, constant_text
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ("5", "5"),
        ("TRUE", "true"),
        ("NULL", None),
        ("concat('a', 5, 'b')", "a5b"),
        ("'a' || NULL", None),
        ("concat_ws('-', 'a', NULL, 'b')", "a-b"),
        ("concat_ws(NULL, 'a')", None),
        ("coalesce(NULL, 'a', 'b')", "a"),
        ("upper(trim(' a '))", "A"),
        ("replace('abc', 'b')", "ac"),
        ("replace('abc', '', 'x')", "abc"),
        ("CAST('a' AS STRING)", "a"),
    ],
)
def test_what_is_told(text: str, value: str | None) -> None:
    assert constant_text(parse(text, Limits(), "UTC")[0]) == ConstantText(value)


@pytest.mark.parametrize(
    "text",
    [
        *("s", "concat('a', s)", "lower('\u0130')", "1.5", "DATE '2024-01-01'", "X'61'", "CAST('5' AS INT)"),
        *("trim('a', 'b')", "reverse('a')", "concat_ws()", "replace('a')"),
    ],
)
def test_what_is_not_told(text: str) -> None:
    assert constant_text(parse(text, Limits(), "UTC")[0]) is None
