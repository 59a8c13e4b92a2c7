"""Functions of XML."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.xml_documents import _MAX_PATH_CHARS


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("xpath_int(s, 'a')", "must be a constant of at most 2,000 characters"),
        ("xpath_int('<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>', 'a')", "without <!"),
        ("xpath_int('<a>', '//a')", "not well-formed"),
        ("xpath_int('<a/>', t)", "must be a constant XPath"),
        ("xpath_int('<a/>', 'java:lang.Runtime.exec(1)')", "without names of spaces"),
        ("xpath_int('<a/>', '$x')", "without names of spaces"),
        ("xpath_int('<a/>', 'system-property (\"a\")')", "calls system-property: use what XPath 1.0 itself has"),
        ("xpath_int('<a/>', '//*//*')", "more than 2 of"),
        ("xpath_int('<a/>', 'a[b[c[d]]]')", "more than 2 of"),
        ("from_xml(s, 'a INT')", "reading that of a record is unbounded work"),
        ("from_xml('<a/>', 'a DECIMAL(10,2)')", "must be a constant such as"),
        ("from_xml('<a/>', 'array<int>')", "must be a constant such as"),
        ("schema_of_xml(s)", "must be a constant"),
        ("to_xml(tags)", "it takes structs"),
        ("to_xml(named_struct('a', parse_json(s)))", "it takes structs"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


def test_an_xpath_is_as_long_as_the_limit_and_no_longer(
    expression_of: Callable[[str], Expression], trouble_of: Callable[[str], str]
) -> None:
    assert expression_of(f"xpath_int('<a/>', '{'a' * _MAX_PATH_CHARS}')")
    assert "must be a constant XPath" in trouble_of(f"xpath_int('<a/>', '{'a' * (_MAX_PATH_CHARS + 1)}')")


@pytest.mark.parametrize(
    ("text", "sql", "result"),
    [
        (
            "xpath_short('<a/>', 'a')",
            "CAST(CAST(try_to_binary(CAST(xpath_short('<a/>', 'a') AS STRING), 'utf-8') AS STRING) AS SMALLINT)",
            pa.int16(),
        ),
        (
            "xpath('<a/>', 'a')",
            "from_json(CAST(try_to_binary(to_json(xpath('<a/>', 'a')), 'utf-8') AS STRING), 'ARRAY<STRING>')",
            pa.list_(pa.string()),
        ),
        (
            "xpath_int('<a/>', 'count(a[not(b) and (c)]) + string-length(concat(\"key(\", text()))')",
            "CAST(CAST(try_to_binary(CAST(xpath_int('<a/>', 'count(a[not(b) and (c)]) + string-length(concat(\"key(\", "
            "text()))') AS STRING), 'utf-8') AS STRING) AS INT)",
            pa.int32(),
        ),
        ("to_xml(place)", "CAST(try_to_binary(to_xml(place), 'utf-8') AS STRING)", pa.string()),
    ],
)
def test_what_can_throw_is_caught(
    text: str, sql: str, result: pa.DataType, expression_of: Callable[[str], Expression]
) -> None:
    found = expression_of(text)
    assert (found.sql, found.type) == (sql, result)
