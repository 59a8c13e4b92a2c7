"""Functions of CSV."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.csv_records import _MAX_CSV_CHARS


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("from_csv(s, t)", "must be a constant such as"),
        ("from_csv(s, 'a ARRAY<INT>')", "must be a constant such as"),
        ("from_csv(s, 'array<int>')", "must be a constant such as"),
        ("from_csv(s, 'a DECIMAL(10,2)')", "must be a constant such as"),
        ("from_csv(n, 'a INT')", "not a string"),
        ("to_csv(tags)", "it takes structs"),
        ("to_csv(place)", "neither a text nor NULL"),
        ("to_csv(named_struct('a', tags))", "it takes structs"),
        ("schema_of_csv(s)", "must be a constant string"),
        ("schema_of_csv('')", "must begin with a record"),
        ("schema_of_csv('\\n1,2')", "must begin with a record"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


def test_an_example_of_csv_is_as_long_as_the_limit_and_no_longer(
    expression_of: Callable[[str], Expression], trouble_of: Callable[[str], str]
) -> None:
    assert expression_of(f"schema_of_csv('{'x' * _MAX_CSV_CHARS}')")
    assert "must be a constant" in trouble_of(f"schema_of_csv('{'x' * (_MAX_CSV_CHARS + 1)}')")


def test_no_more_columns_are_read_than_spark_takes(expression_of: Callable[[str], Expression]) -> None:
    found = expression_of("from_csv(s, 'a INT, b DATE', map('sep', '|'))")
    assert found.sql == "from_csv(substring_index(s, '|', 20000), 'a INT, b DATE', map('sep', '|'))"
    assert found.type == pa.struct([("a", pa.int32()), ("b", pa.date32())])
    assert expression_of("from_csv(s, 'a INT')").sql == "from_csv(substring_index(s, ',', 20000), 'a INT')"
