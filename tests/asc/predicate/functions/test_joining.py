"""Texts joined with a separator: arrays among them, and what the record may put between their elements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("concat_ws(',', labels)", "not a string or an array of strings"),
        ("concat_ws(',', array(tags))", "not a string or an array of strings"),
        ("concat_ws(tags, s)", "argument 1 of concat_ws is ARRAY<STRING>, not a string"),
        ("concat_ws(s, arrays_zip(tags))", "CAST it to STRING or ARRAY<STRING>"),
        ("concat_ws('12345678901234567890', tags, tags, tags, tags, tags)", "longer"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("concat_ws(',', s, tags, ns)", "concat_ws(',', s, tags, ns)"),
        ("concat_ws(s, t, n)", "concat_ws(s, t, n)"),
        ("concat_ws(NULL, tags)", "concat_ws(NULL, tags)"),
        (
            "concat_ws(s, tags, t)",
            "transform(array(struct(s AS a, tags AS b, t AS c)), p -> if((CAST(greatest(size(p.b), 0) AS BIGINT))"
            " * octet_length(p.a) <= 50000, concat_ws(p.a, p.b, p.c), NULL))[0]",
        ),
    ],
)
def test_what_the_record_puts_between_is_bounded(
    text: str, sql: str, expression_of: Callable[[str], Expression]
) -> None:
    assert expression_of(text).sql == sql
