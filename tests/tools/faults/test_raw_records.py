"""Raw records by DuckDB: what becomes of each, and groups of those that a cube has to have."""

from __future__ import annotations

from tools.faults.counted_cubes import FUTURE_US, LATE, RESTED
from tools.faults.feed import COLUMNS, record_of
from tools.faults.raw_records import RawRecords

COUNT = 3_000


def records(count: int = COUNT) -> RawRecords:
    found = RawRecords(COLUMNS)
    for first in (0, count // 3):
        end = count // 3 if first == 0 else count
        found.add((number % 2, number // 2, record_of(number)[1]) for number in range(first, end))
    return found


ALL = {0: [(0, COUNT // 2)], 1: [(0, COUNT // 2)]}


def test_each_outcome_occurs_and_all_add_up() -> None:
    own = records()
    assert own.ends == {0: COUNT // 2, 1: COUNT // 2}
    outcomes = own.outcomes(LATE, ALL)
    assert outcomes.keys() == {"counted", "time", "future_timestamp", "too_large"}
    assert min(outcomes.values()) > 10
    # One record in a hundred and one is no JSON.
    assert own.outcomes(RESTED, ALL) == {"counted": COUNT - 1 - (COUNT - 1) // 101}
    assert sum(row["n"] for row in own.groups(LATE, ["g"], ALL, None, None).values()) == outcomes["counted"]


def test_records_that_are_not_covered_are_missed() -> None:
    own = records()
    covered = {0: [(0, COUNT // 2)], 1: [(0, 100), (200, COUNT // 2)]}
    missed = own.missed_us(RESTED, covered)
    assert (missed[0], missed[-1]) == (201 * 10_000, 399 * 10_000)
    assert own.missed_us(RESTED, ALL) == []
    assert own.span_us(RESTED, ALL) == (10_000, (COUNT - 1) * 10_000)
    assert own.span_us(RESTED, {}) is None
    span = own.span_us(LATE, ALL)
    assert span is not None
    assert span[0] < 0 < span[1] < FUTURE_US


def test_an_interval_has_its_beginning_and_not_its_end() -> None:
    (row,) = records().groups(RESTED, [], ALL, 1_000_000, 2_000_000).values()
    # Record 101 is no JSON.
    assert row == {"n": 99, "total": sum(range(100, 200)) - 101}
    (nothing,) = records().groups(RESTED, [], ALL, 0, 0).values()
    assert nothing == {"n": 0, "total": None}
    assert records().groups(RESTED, ["g"], ALL, 0, 0) == {}


def test_a_record_is_in_each_window_that_holds_it() -> None:
    windows = records().windows(LATE, [], ALL, until_us=20_000_000)
    ends = sorted(end for end, _ in windows)
    assert ends[-1] == 20_000_000
    assert {end % 10_000_000 for end in ends} == {0}
    whole = {end: row["n"] for (end, _), row in windows.items()}
    parts = records().groups(LATE, [], ALL, 0, 20_000_000)
    assert whole[20_000_000] == parts["{}"]["n"]
