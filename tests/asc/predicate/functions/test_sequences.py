"""Sequences: how long they may be, and how they are spelled."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("sequence(1, 5, -1)", "a step towards its end"),
        ("sequence(1, 1001)", "at most 1,000 entries"),
        ("sequence(1, 5, 0)", "a step towards its end"),
        ("sequence(1, NULL)", "CAST both"),
        ("sequence(1, n, d)", "not an integer or INTERVAL"),
        ("sequence(DATE '2020-01-01', ts)", "CAST both to one type"),
        ("sequence(s, n)", "not an integer, date or timestamp"),
        ("sequence(day, DATE '2024-01-01', day - day)", "a constant INTERVAL other than 0"),
        ("sequence(day, day, INTERVAL 0 DAY)", "a constant INTERVAL other than 0"),
        ("sequence(day, day, INTERVAL 24 HOURS)", "a step of days"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', day - day)", "a constant INTERVAL other than 0"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', 1)", "a constant INTERVAL other than 0"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 24 HOURS)", "a step of days"),
        ("sequence(DATE '2024-01-01', DATE '2023-01-01', INTERVAL 1 DAY)", "a step towards its end"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', -INTERVAL 1 MONTH)", "a step towards its end"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 0 DAY)", "a constant INTERVAL other than 0"),
        ("sequence(DATE '0001-01-01', DATE '9999-12-31', INTERVAL 1 MONTH)", "at most 1,000 entries"),
        ("sequence(DATE '2024-01-01', DATE '2027-01-01')", "at most 1,000 entries"),
        (
            "sequence(TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-01 01:00:00', INTERVAL '0.5' SECOND)",
            "at most 1,000 entries",
        ),
        ("sequence(DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00')", "CAST both to one type"),
        ("sequence('2024-01-01', '2024-01-02', INTERVAL 1 DAY)", "not an integer, date or timestamp"),
        ("sequence(1, 5, INTERVAL 1 DAY)", "takes a step that is one"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


def test_constant_ends_stand_as_they_are(expression_of: Callable[[str], Expression]) -> None:
    found = expression_of("sequence(1, 5L, 2)")
    assert (found.sql, found.type) == ("sequence(1, 5L, 2)", pa.list_(pa.int64()))


@pytest.mark.parametrize(
    ("text", "near", "result"),
    [
        ("sequence(n, 5)", "<= 10000D * 1", pa.int32()),
        ("sequence(n, big, 2)", "10000D * abs(CAST(p.c AS DOUBLE))", pa.int64()),
        ("sequence(day, DATE '2024-01-01')", "CAST(unix_date(p.a) AS DOUBLE)) <= 10000D * 1D", pa.date32()),
        ("sequence(to_date(s), day, -INTERVAL 1 YEAR)", "10000D * 336D", pa.date32()),
        ("sequence(ts, ts, INTERVAL 1 HOUR)", "10000D * 3600000000D", pa.timestamp("us", tz="UTC")),
        ("sequence(ntz, ntz)", "unix_micros(TRY_CAST(p.b AS TIMESTAMP))", pa.timestamp("us")),
    ],
)
def test_ends_of_the_record_are_bounded(
    text: str, near: str, result: pa.DataType, expression_of: Callable[[str], Expression]
) -> None:
    found = expression_of(text)
    assert near in found.sql
    assert found.type == pa.list_(result)


def test_a_predicate_makes_few_sequences(trouble_of: Callable[[str], str]) -> None:
    assert "longer" in trouble_of(" || ".join(["sequence(n, 5)"] * 11))


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("sequence(1Y, 5L)", pa.int64()),
        ("sequence(DATE '2024-01-01', DATE '2024-03-01', INTERVAL 1 MONTH)", pa.date32()),
        ("sequence(to_date('2024-03-01'), CAST('2024-01-01' AS DATE), - INTERVAL 1 WEEK)", pa.date32()),
        (
            "sequence(TIMESTAMP_NTZ '2024-01-01 00:00:00', TIMESTAMP_NTZ '2024-01-01 03:00:00', INTERVAL 1 HOUR)",
            pa.timestamp("us"),
        ),
    ],
)
def test_types_of_results(text: str, element: pa.DataType, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == pa.list_(element)
