"""How much longer than the record a result may be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("hex(hex(hex(hex(hex(hex(s))))))", "at most 100 times longer than the record"),
        ("repeat(repeat(s, 11), 10)", "at most 100 times"),
        ("concat(repeat(s, 50), repeat(s, 51))", "at most 100 times"),
        ("repeat(s, 60) || repeat(s, 30) || hex(repeat(t, 10))", "at most 100 times"),
        (
            "regexp_replace(s, 'a', '" + "x" * 100 + "')",
            "at most 100 times",
        ),
        (
            "replace(s, 'a', '" + "x" * 101 + "')",
            "at most 100 times",
        ),
        (
            "array_join(split(s, ''), 'xxxxxxxxxxxxxxxxxxxx') || array_join(split(s, ''), 'xxxxxxxxxxxxxxxxxxxx')",
            "at most 100 times",
        ),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "growth"),
    [
        ("s", 1),
        ("lower(s)", 1),
        ("hex(hex(s))", 4),
        ("length(hex(s))", 1),
        ("concat(s, t, 'x')", 2),
        ("hex(concat(s, t))", 4),
        ("s || hex(t)", 3),
        ("repeat('x', 3)", 1),
        ("repeat(s, n)", 100),
        ("replace(s, n, 'abc')", 3),
        ("replace(s, 'ab', t)", 50),
        ("replace(s, t)", 1),
        ("coalesce(hex(s), s)", 2),
        ("CASE WHEN flag THEN repeat(s, 5) ELSE s END", 5),
        ("replace(s, 'ab', 'x')", 1),
        ("replace(s, 'ab', 'xyz')", 1.5),
        ("regexp_replace(s, '(a)', '$1$1xx')", 5),
        ("array_join(tags, ', ')", 3),
    ],
)
def test_growth(text: str, growth: float, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).growth == growth
