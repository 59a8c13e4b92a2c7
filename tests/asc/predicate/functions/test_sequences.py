"""Sequences whose ends are constants."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("sequence(day, DATE '2024-01-01')", "takes constants"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', day - day)", "a constant INTERVAL as its step"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', 1)", "a constant INTERVAL as its step"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 24 HOURS)", "a step of days"),
        ("sequence(DATE '2024-01-01', DATE '2023-01-01', INTERVAL 1 DAY)", "a step towards its end"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', -INTERVAL 1 MONTH)", "a step towards its end"),
        ("sequence(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 0 DAY)", "a step towards its end"),
        ("sequence(DATE '0001-01-01', DATE '9999-12-31', INTERVAL 1 MONTH)", "at most 1,000 entries"),
        ("sequence(DATE '2024-01-01', DATE '2027-01-01')", "at most 1,000 entries"),
        (
            "sequence(TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-01 01:00:00', INTERVAL '0.5' SECOND)",
            "at most 1,000 entries",
        ),
        ("sequence(DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00')", "CAST them to one type"),
        ("sequence(to_date(s), DATE '2024-01-01')", "takes constants"),
        ("sequence('2024-01-01', '2024-01-02', INTERVAL 1 DAY)", "not an integer, date or timestamp"),
        ("sequence(1, 5, INTERVAL 1 DAY)", "CAST them to one type"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


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
