"""Functions of strings."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("lower()", "lower takes 1 argument, not 0"),
        ("lpad(s, 10001)", "must be a constant of -10000..10000"),
        (f"instr(s, '{'a' * 1001}')", "at most 1,000 characters"),
        (f"trim('{'a' * 1001}', s)", "at most 1,000 characters"),
        (f"replace(s, t, '{'a' * 101}')", "made longer"),
        ("sentences(s, t)", "language and country as constants"),
        ("sentences(s, 'th')", "language and country as constants"),
        ("split_part(s, ',', 0)", "other than 0"),
        (
            "levenshtein(s, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
            "at most 64 characters",
        ),
        ("mask(s, 'xx')", "one character"),
        ("repeat(s, 101)", "-10000..100"),
        ("repeat('ab', 5001)", "-10000..5000"),
        ("repeat(repeat(s, n), 2)", "made longer"),
        ("space(10001)", "-10000..10000"),
        ("space(flag)", "not an integer"),
        ("overlay(s, raw, 1)", "binary and other values"),
        ("hash(labels)", "can be compared"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("lower(n)", pa.string()),
        ("concat(s, n)", pa.string()),
        ("concat()", pa.string()),
        ("lpad(s, price)", pa.string()),
        ("repeat('-', n)", pa.string()),
        ("replace(s, t, 1)", pa.string()),
        ("contains(s, t)", pa.bool_()),
        ("overlay(n, flag, 2)", pa.string()),
        ("overlay(raw, raw, 2)", None),
        ("concat(raw, raw)", None),
        ("overlay(s, 'x', 2)", pa.string()),
        ("levenshtein(s, 'kitten', 3)", pa.int32()),
        ("substring(raw, 1, 2)", None),
        ("mask(s, NULL, 'x')", pa.string()),
        ("luhn_check(s)", pa.bool_()),
        ("btrim(raw, encode('ab', 'utf-8'))", pa.string()),
        ("trim(raw)", pa.string()),
        ("sentences(s, 'en', 'US')", pa.list_(pa.list_(pa.string()))),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result
