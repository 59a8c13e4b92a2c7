"""The table of machines: results of one machine share a row."""

from __future__ import annotations

from tools.figures.machines import TABLES


def test_results_of_one_machine_share_a_row() -> None:
    first = {"processor": "a", "cores": 2, "memory_gib": 23.5, "python": "3.11.7", "java": 17}
    other = {**first, "cores": 4}
    results = {"match": {"machine": first}, "cube": {"machine": other}, "near": {"machine": {**first, "java": None}}}
    assert TABLES["machines"](results).splitlines()[2:] == [
        "| a | 2 | 24 GiB | 3.11.7 | `match`, `near` |",
        "| a | 4 | 24 GiB | 3.11.7 | `cube` |",
    ]
