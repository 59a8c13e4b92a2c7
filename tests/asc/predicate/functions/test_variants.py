"""Functions of VARIANT."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.variants import _MAX_PATH_CHARS
from asc.spark_types import VARIANT


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("parse_json(n)", "not a string"),
        ("variant_get(s, '$', 'int')", "not a VARIANT"),
        ("variant_get(parse_json(s), t, 'int')", "must be a constant such as '$.key[0]'"),
        ("variant_get(parse_json(s), 'a', 'int')", "must be a constant such as '$.key[0]'"),
        ("variant_get(parse_json(s), '$.a[99999999999]', 'int')", "must be a constant such as '$.key[0]'"),
        ("variant_get(parse_json(s), '$.a', t)", "must be a constant such as 'string'"),
        ("variant_get(parse_json(s), '$.a', 'decimal(10,2)')", "no decimal"),
        ("variant_get(parse_json(s), '$.a', 'what')", "must be a constant such as 'string'"),
        ("schema_of_variant(parse_json(s))", "unbounded work"),
        ("to_variant_object(n)", "it takes structs"),
        ("to_variant_object(map(1, 2))", "it takes structs"),
        ("parse_json(s) = parse_json(t)", "VARIANT compared with VARIANT"),
        ("parse_json(s) = 'x'", "variant_get"),
        ("parse_json(s) IN (1)", "VARIANT IN INT"),
        ("parse_json(s) LIKE 'a'", "patterns match strings"),
        ("parse_json(s) || 'a'", "join arrays, or strings"),
        ("lower(parse_json(s))", "not a string"),
        ("hash(parse_json(s))", "can be compared"),
        ("coalesce(parse_json(s), s)", "CAST them to one type"),
        ("parse_json(s).a", "only a struct has fields"),
        ("parse_json(s)[0]", "index an array or a map"),
        ("parse_json(s) + 1", "arithmetic needs numbers"),
        ("CAST(parse_json(s) AS DECIMAL(10,2))", "Spark has no such cast"),
    ],
)
def test_what_is_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


def test_a_path_is_as_long_as_the_limit_and_no_longer(
    expression_of: Callable[[str], Expression], trouble_of: Callable[[str], str]
) -> None:
    assert expression_of(f"variant_get(parse_json(s), '$.{'a' * (_MAX_PATH_CHARS - 2)}', 'int')")
    assert "must be a constant such as '$.key[0]'" in trouble_of(
        f"variant_get(parse_json(s), '$.{'a' * (_MAX_PATH_CHARS - 1)}', 'int')"
    )


@pytest.mark.parametrize(
    ("text", "sql", "result"),
    [
        ("parse_json(s)", "try_parse_json(s)", VARIANT),
        ("variant_get(parse_json(s), '$.a', 'int')", "try_variant_get(try_parse_json(s), '$.a', 'int')", pa.int32()),
        ("variant_get(try_parse_json(s), '$[\"a b\"]')", "try_variant_get(try_parse_json(s), '$[\"a b\"]')", VARIANT),
        ("CAST(parse_json(s) AS DATE)", "TRY_CAST(try_parse_json(s) AS DATE)", pa.date32()),
        ("coalesce(parse_json(s), parse_json(t))", "coalesce(try_parse_json(s), try_parse_json(t))", VARIANT),
        ("array(parse_json(s))", "array(try_parse_json(s))", pa.list_(VARIANT)),
    ],
)
def test_types_and_guards(text: str, sql: str, result: pa.DataType, expression_of: Callable[[str], Expression]) -> None:
    found = expression_of(text)
    assert (found.sql, found.type) == (sql, result)
