"""Tables of changes: computed columns."""

from __future__ import annotations

from tools.figures.changes import TABLES


def test_a_change_has_its_runs() -> None:
    change = {"median_s": 0.0277, "worst_s": 1.5, "runs_s": [0.0277, 1.5]}
    table = TABLES["registration"]({"registration": {"results": {"replace": change}}})
    assert table.splitlines()[2:] == ["| replace a query | 2 | 28 ms | 1,500 ms |"]


def test_the_warm_up_of_validation_is_a_row() -> None:
    row = {"count": 4_775, "median_s": 0.049, "p99_s": 0.21, "worst_s": 0.348}
    table = TABLES["validation"]({"validation": {"results": {"accepted": row}, "first_worst_s": 0.64}})
    assert table.splitlines()[2:] == [
        "| accepted | 4,775 | 49 ms | 210 ms | 348 ms |",
        "| the first fifty requests, which no other row counts | - | - | - | 640 ms |",
    ]


def test_a_start_is_beside_one_without_queries() -> None:
    row = {"queries": 10_000, "empty_ready_s": 18.24, "ready_s": 19.39, "ready_without_s": 19.19}
    assert TABLES["standing"]({"standing": {"results": [row]}}).splitlines() == [
        "| queries | start without queries | start with the snapshot | start without the snapshot |",
        "|---|---|---|---|",
        "| 10,000 | 18.2 s | 19.4 s | 19.2 s |",
    ]
