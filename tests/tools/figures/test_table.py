"""Tables of columns: figures at paths, absent ones, and rows of several contenders."""

from __future__ import annotations

from tools.figures.table import Column, by_contender, listed, milliseconds, ratio, table

COLUMNS = (
    Column("queries", "queries", "{:,}"),
    Column("worst", milliseconds("spread/worst_s"), "{:.0f} ms"),
    Column("beside brute force", ratio("other", "own"), "{:.1f} x"),
)


def test_each_row_is_a_line() -> None:
    rows = [{"queries": 10, "spread": {"worst_s": 0.5}}, {"queries": 1_000, "other": 3.0, "own": 2.0}]
    assert table(COLUMNS, rows).splitlines() == [
        "| queries | worst | beside brute force |",
        "|---|---|---|",
        "| 10 | 500 ms | - |",
        "| 1,000 | - | 1.5 x |",
    ]


def test_a_column_without_any_figure_is_excluded() -> None:
    rows = [{"queries": 10, "spread": {"worst_s": 0.5}, "own": 2.0}, {"queries": 20, "spread": None}]
    assert table(COLUMNS, rows).splitlines() == [
        "| queries | worst |",
        "|---|---|",
        "| 10 | 500 ms |",
        "| 20 | - |",
    ]


def test_zero_is_a_figure() -> None:
    assert "| 0 |" in table(COLUMNS[:1], [{"queries": 0}])


def test_one_row_as_a_list_is_without_what_it_lacks() -> None:
    assert listed(COLUMNS, {"queries": 10, "other": 3.0}).splitlines() == [
        "| | measured |",
        "|---|---|",
        "| queries | 10 |",
    ]


def test_contenders_of_a_case_share_a_row() -> None:
    rows = [
        {"queries": 10, "contender": "asc", "us": 1.0},
        {"queries": 20, "contender": "asc", "us": 2.0},
        {"queries": 10, "contender": "scan", "us": 3.0},
    ]
    cases = by_contender(rows, ["queries"])
    assert [case["queries"] for case in cases] == [10, 20]
    assert Column("scan", "scan/us").cell(cases[0]) == "3.0"
    assert Column("scan", "scan/us").cell(cases[1]) == "-"
