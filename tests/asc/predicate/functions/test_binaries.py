"""Functions of bytes."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("md5(n)", "not a string or binary"),
        ("encode(s, 'latin9')", "one of the character sets"),
        ("decode(raw, s)", "one of the character sets"),
        ("decode(n, 'UTF-8')", "argument 1 of decode is INT"),
        ("decode(n, tags, 1)", "cannot be compared"),
        ("decode(n, 1, 'a', flag)", "decode to"),
        ("decode(ts, day, 1)", "several types"),
        ("to_binary(s, 'rot13')", "one of the formats"),
        ("try_to_binary(s, 'rot13')", "one of the formats"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("hex(n)", pa.string()),
        ("sha2(s, n)", pa.string()),
        ("encode(s, NULL)", pa.binary()),
        ("unhex(s)", pa.binary()),
        ("encode(s, 'utf-16')", pa.binary()),
        ("decode(n, 1, 'a', 2, 'b')", pa.string()),
        ("decode(n, 1, n, big)", pa.int64()),
        ("decode(n, 1, n)", None),
        ("crc32(raw)", pa.int64()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("decode(raw, 'UTF-8')", "CAST(try_to_binary(decode(raw, 'UTF-8'), 'utf-8') AS STRING)"),
        ("to_binary(s, 'hex')", "try_to_binary(s, 'hex')"),
        ("decode(n, 1, 'a')", "decode(n, 1, 'a')"),
        ("unbase64(s)", "try_to_binary(hex(unbase64(s)), 'hex')"),
    ],
)
def test_what_can_throw_is_caught(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql
