"""Functions that read JSON and URLs."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("get_json_object(s, t)", "the path given to get_json_object must be a constant string"),
        ("parse_url(s, 'host')", "one of the parts HOST"),
        ("parse_url(s, 'QUERY', '(a+)+')", "a constant of letters"),
        ("parse_url(s, 'QUERY', t)", "a constant of letters"),
        ("from_json(s, t)", "must be a constant such as"),
        ("from_json(s, 'a DATE')", "must be a constant such as"),
        ("from_json(s, 'a MAP<STRING, INT>')", "must be a constant such as"),
        ("from_json(s, 'a INT NOT NULL')", "must be a constant such as"),
        ("from_json(s, 'what')", "must be a constant such as"),
        ("to_json(s)", "it takes structs and arrays of"),
        ("to_json(labels)", "it takes structs and arrays of"),
        ("json_array_length(tags)", "not a string"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("get_json_object(s, '$.a')", pa.string()),
        ("from_json(s, 'a INT, b STRUCT<c: DOUBLE>').b.c", pa.float64()),
        ("to_json(place)", pa.string()),
        ("json_object_keys(s)", pa.list_(pa.string())),
        ("parse_url(s, 'QUERY', 'x')", pa.string()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result
