"""Functions that take a regular expression."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rlike(s, t)", "must be a constant string"),
        ("rlike(s, '(a+)+$')", "a repeated group"),
        ("regexp_extract(s, 'a')", "takes group 1: the regular expression has 0"),
        ("regexp_extract(s, '(a)[(](?:b)\\\\(', 2)", "has 1"),
        ("regexp_instr(s, '(a)', n)", "takes group None"),
        ("regexp_replace(s, 'a', t)", "must be a constant string"),
        ("regexp_replace(s, 'a', '$1')", "the groups $0..$9"),
        ("regexp_replace(s, 'a', 'x$')", "no other $"),
        ("regexp_replace(s, 'a', '\\\\\\\\')", "no other $ or"),
        ("regexp_replace(s, 'a', 'b', 0)", "position"),
        ("split(s, t)", "must be a constant string"),
        ("split(s, ',', n)", "limit"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("split(s, ',')", pa.list_(pa.string())),
        ("split(s, ',')[0]", pa.string()),
        ("regexp_extract(s, '(a)(b)', 2)", pa.string()),
        ("regexp_extract(s, 'a', 0)", pa.string()),
        ("regexp_count(s, 'a')", pa.int32()),
        ("regexp_extract_all(s, '(a)')", pa.list_(pa.string())),
        ("regexp_replace(s, '(a)b', '$1-$0')", pa.string()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result
