"""Functions that read JSON and URLs."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.documents import _MAX_JSON_CHARS


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("get_json_object(s, t)", "the path given to get_json_object must be a constant string"),
        ("parse_url(s, 'host')", "one of the parts HOST"),
        ("parse_url(s, 'QUERY', '(a+)+')", "a constant of letters"),
        ("parse_url(s, 'QUERY', t)", "a constant of letters"),
        ("from_json(s, t)", "must be a constant such as"),
        ("from_json(s, 'a DECIMAL(3,1)')", "must be a constant such as"),
        ("from_json(s, 'a MAP<INT, INT>')", "must be a constant such as"),
        ("from_json(s, 'variant')", "use try_parse_json"),
        ("from_json(s, 'int')", "must be a constant such as"),
        ("from_json(s, schema_of_json(t))", "must be a constant string"),
        ("from_json(s, schema_of_json('1'))", "must be a constant such as"),
        (f"from_json(s, 'array<struct<{', '.join(f'f{i} int' for i in range(40))}>>')", "a value made longer"),
        ("from_json(s, 'what')", "must be a constant such as"),
        ("to_json(s)", "it takes structs, arrays, maps and variants of"),
        ("to_json(NULL)", "it takes structs, arrays, maps and variants of"),
        ("json_array_length(tags)", "not a string"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


def test_an_example_of_json_is_as_long_as_the_limit_and_no_longer(
    expression_of: Callable[[str], Expression], trouble_of: Callable[[str], str]
) -> None:
    assert expression_of(f"schema_of_json('{'1' * _MAX_JSON_CHARS}')")
    assert "must be a constant" in trouble_of(f"schema_of_json('{'1' * (_MAX_JSON_CHARS + 1)}')")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("get_json_object(s, '$.a')", pa.string()),
        ("from_json(s, 'a INT, b STRUCT<c: DOUBLE>').b.c", pa.float64()),
        ("from_json(s, 'ARRAY<STRUCT<a: DATE>>')[0].a", pa.date32()),
        ("from_json(s, 'map<string, int>')['k']", pa.int32()),
        ("from_json(s, schema_of_json('{\"b\": [1]}')).b[0]", pa.int64()),
        ("schema_of_json('{}')", pa.string()),
        ("to_json(place)", pa.string()),
        ("to_json(maps)", pa.string()),
        ("json_object_keys(s)", pa.list_(pa.string())),
        ("parse_url(s, 'QUERY', 'x')", pa.string()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


def test_a_constants_schema_is_spelled_out(expression_of: Callable[[str], Expression]) -> None:
    found = expression_of("from_json(s, schema_of_json('[{\"a b\": 1}]'))")
    assert found.sql == "from_json(s, 'ARRAY<STRUCT<`a b`: BIGINT>>')"


def test_what_is_written_with_options_is_caught(expression_of: Callable[[str], Expression]) -> None:
    assert expression_of("to_json(place)").sql == "to_json(place)"
    text = "to_json(place, map('dateFormat', 'HH'))"
    assert expression_of(text).sql == f"CAST(try_to_binary({text}, 'utf-8') AS STRING)"
