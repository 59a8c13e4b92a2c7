"""Sequences: how long they may be, and how they are spelled."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("sequence(1, 5, -1)", "a step towards its end"),
        ("sequence(1, 1001)", "at most 1,000 entries"),
        ("sequence(1, 5, 0)", "a step towards its end"),
        ("sequence(1, NULL)", "CAST both"),
        ("sequence(1, n, d)", "not an integer or INTERVAL"),
        ("sequence(DATE '2020-01-01', ts)", "CAST both to one type"),
        ("sequence(day, day)", "ends that are constant"),
        ("sequence(s, n)", "not an integer, date or timestamp"),
        (
            "sequence(to_timestamp('2020-01-01'), to_timestamp('2020-01-02'), INTERVAL 1 HOUR)",
            "whole days, months or years",
        ),
        ("sequence(to_date('2020-01-01'), to_date('2021-01-01'), 1)", "whole days, months or years"),
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
        ("sequence(to_date('2020-01-01'), to_date('2021-01-01'))", "<= 10000,", pa.date32()),
        ("sequence(to_date('2020-01-01'), to_date('2021-01-01'), - INTERVAL 1 MONTH)", "<= 280000,", pa.date32()),
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
