"""Literals in a text: what they are, and errors that point at them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.syntax.literal import Literal
from asc.predicate.syntax.parser import parse


def literal(text: str, time_zone: str = "UTC") -> Literal:
    node, _ = parse(text, Limits(), time_zone)
    assert node.op == "literal"
    found: Literal = node.value
    return found


@pytest.mark.parametrize(
    ("text", "data_type", "value", "sql"),
    [
        ("-5", pa.int32(), -5, "-5"),
        ("'a' 'b'", pa.string(), "ab", "'ab'"),
        ("'it''s'", pa.string(), "its", "'its'"),
        ("'''x'''", pa.string(), "x", "'x'"),
        ('"a""b"', pa.string(), "ab", "'ab'"),
        ("r'a''b'", pa.string(), "ab", "'ab'"),
        ("X'abc'", pa.binary(), b"\x0a\xbc", "X'0ABC'"),
        ("DATE '1970-01-02'", pa.date32(), 1, "DATE '1970-01-02'"),
        ("TIMESTAMP_NTZ '1970-01-01 00:00:01'", pa.timestamp("us"), 10**6, "TIMESTAMP_NTZ '1970-01-01 00:00:01'"),
    ],
)
def test_literals(text: str, data_type: pa.DataType, value: object, sql: str) -> None:
    found = literal(text)
    assert (found.type, found.value, found.sql, found.known) == (data_type, value, sql, True)


def test_timestamps_are_local_to_the_session() -> None:
    assert literal("TIMESTAMP '2013-01-01 01:00:00'", "Europe/Oslo").value == literal("TIMESTAMP '2013-01-01'").value


def test_instants_that_only_spark_reads() -> None:
    assert not literal("DATE '2013-1-1'").known
    assert not literal("TIMESTAMP '2013-1-1 1:00'").known


@pytest.mark.parametrize(
    ("text", "part", "under"),
    [
        ("a = 300Y", "outside the range", "300Y"),
        ("d > DATE '2023-02-29'", "no calendar has that day", "DATE '2023-02-29'"),
        ("d > TIMESTAMP '2023-2-30 10:00:00'", "no calendar has that day", "TIMESTAMP '2023-2-30 10:00:00'"),
        ("DATE 'J0' IS NOT NULL", "write DATE 'yyyy-mm-dd'", "DATE 'J0'"),
        ("a = 1 OR TIMESTAMP 'foo' IS NULL", "write TIMESTAMP 'yyyy-mm-dd hh:mm:ss'", "TIMESTAMP 'foo'"),
        (r"a = '\ud800'", "half a surrogate pair", "'"),
        (r"a = '\UFFFFFFFF'", "no such character", r"'\UFFFFFFFF'"),
    ],
)
def test_errors_point_at_the_literal(text: str, part: str, under: str) -> None:
    with pytest.raises(PredicateError, match=part) as caught:
        literal(text)
    assert text[caught.value.start : caught.value.end] == under
