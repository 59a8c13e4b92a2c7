"""Functions of strings."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("lower()", "lower takes 1 argument, not 0"),
        ("lpad(s, 1001)", "must be a constant of 0..1000"),
        ("replace(s, t, 'x')", "replace needs constants"),
        ("replace(s, '', 'x')", "not empty"),
        ("instr(s, t)", "must be a constant of at most 1000 characters"),
        ("trim(TRAILING t FROM s)", "must be a constant of at most 1000 characters"),
        ("btrim(raw, encode(s, 'utf-8'))", "must be a constant of at most 1000 characters"),
        ("sentences(s, t)", "language and country as constants"),
        ("sentences(s, 'th')", "language and country as constants"),
        ("split_part(s, ',', 0)", "other than 0"),
        ("levenshtein(s, t)", "at most 64 characters"),
        (
            "levenshtein(s, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
            "at most 64 characters",
        ),
        ("levenshtein(s, 'a', n)", "threshold"),
        ("mask(s, 'xx')", "one character"),
        ("repeat(s, 101)", "0..100"),
        ("repeat(s, n)", "0..100"),
        ("space(n)", "0..1000"),
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
