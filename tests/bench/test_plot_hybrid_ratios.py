"""The heat map: a panel for each data set, kind of predicates and kind of sequence, with the figures of the table."""

from __future__ import annotations

from pathlib import Path

from bench.plot_hybrid_ratios import plot_hybrid_ratios


def test_every_cell_has_its_figure(tmp_path: Path) -> None:
    cells = [
        {
            "data_set": data_set,
            "predicates": "2 to 4",
            "queries": queries,
            "attributes": attributes,
            "seeds": 2,
            "ratios": {
                "Hybrid": {"mean": 0.9 + queries / 1_000, "low": 0.8, "high": 0.95 + queries / 1_000},
                "Hybrid, refined": {"mean": 0.5, "low": 0.4, "high": 0.6},
            },
        }
        for data_set in ("D1", "D2")
        for queries in (10, 100)
        for attributes in (5, 8)
    ]
    parameters = {"queries": [10, 100], "attributes": [5, 8]}
    assert plot_hybrid_ratios({"results": {"cells": cells}, "parameters": parameters}, tmp_path / "ratios")
    drawn = (tmp_path / "ratios.svg").read_text("utf-8")
    for text, times in (
        ("Hybrid / SEQ_best, D1, 2 to 4 predicates a query", 1),
        ("Hybrid, refined / SEQ_best, D2, 2 to 4 predicates a query", 1),
        ("0.910 ± 0.050", 4),
        ("1.000 ± 0.050", 4),
        ("0.500 ± 0.100", 8),
    ):
        assert drawn.count(f"<!-- {text} -->") == times
