"""Counts by reason: numbers that differ are one, names and types are whole."""

from __future__ import annotations

import pytest

from cli.reason_counts import ReasonCounts


def counted(*reasons: str) -> dict[str, int]:
    counts = ReasonCounts()
    for reason in reasons:
        counts.add(reason)
    return counts.by_reason()


@pytest.mark.parametrize(
    "reason",
    [
        "value is not UTF-8 text",
        "value is not a JSON record of the stream's schema: column 'price' holds no DECIMAL(10,2)",
        "value is not a JSON record of the stream's schema: column 'a1' holds no ARRAY<DECIMAL(10, 2)>",
        "value holds a number of more than 10,000 digits",
        "value is not a CSV record: column '7' holds no INT, or '8'",
        "value has fewer than the 5 bytes that name a schema",
        "a 2nd of version 1.25",
        "12",
        "",
    ],
)
def test_a_number_that_all_have_stays(reason: str) -> None:
    assert counted(reason, reason) == {reason: 2}


def test_a_number_that_differs_is_replaced() -> None:
    said = "record for topic late-2 takes {} bytes with its headers, over the limit of 1,048,576"
    assert counted(*(said.format(size) for size in ("2000000", "1,048,577", "2000000"))) == {said.format("N"): 3}
    assert counted("at 1.5 of 7", "at 2 of 8", "at 1.5 of 7") == {"at N of N": 3}


def test_names_and_types_that_differ_are_other_reasons() -> None:
    said = "the stream's schema: column {} holds no {}"
    reasons = [
        said.format(*each) for each in (("'1'", "DECIMAL(10,2)"), ("'2'", "DECIMAL(10,2)"), ("'1'", "DECIMAL(5,1)"))
    ]
    assert counted(reasons[0], *reasons) == {reasons[0]: 2, reasons[1]: 1, reasons[2]: 1}


def test_the_most_frequent_reason_is_the_first() -> None:
    assert list(counted("a", "b 1", "b 2", "c")) == ["b N", "a", "c"]
