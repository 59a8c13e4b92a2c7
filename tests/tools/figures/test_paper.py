"""Tables of the paper's experiments: means over seeds, ratios, and verdicts."""

from __future__ import annotations

from typing import Any

from bench.comparison import CONTENDERS
from tools.figures.paper import ORDERS, TABLES, measured


def test_orders_are_those_of_the_benchmark() -> None:
    assert set(ORDERS) == set(CONTENDERS)


def case(seed: int, cost: float, least: float | None) -> dict[str, Any]:
    return {
        "data_set": "D1",
        "seed": seed,
        "costs": dict.fromkeys(ORDERS, cost),
        "times": {order: {"executor": cost * (2 if order == "Hybrid" else 1)} for order in ORDERS},
        "explained": {"least": least},
    }


def figures_6(*cases: dict[str, Any]) -> dict[str, Any]:
    return {"synthetic-figure-6": {"results": {"cases": cases}}, "census-figure-6": {"results": {"cases": []}}}


def test_a_cost_is_the_mean_over_the_seeds_with_its_interval() -> None:
    (line,) = TABLES["figure-6"](figures_6(case(1, 2.0, 1.0), case(2, 2.0, 2.0))).splitlines()[2:]
    assert line == "| D1 |" + " 2.00 ± 0.00 |" * 6 + " 1.50 |"
    assert "least" not in TABLES["figure-6"](figures_6(case(1, 2.0, None)))


def test_a_time_is_also_a_ratio_to_the_best_order_of_its_seed() -> None:
    (line,) = TABLES["figure-6-times"](figures_6(case(1, 100.0, 1.0), case(2, 300.0, 1.0))).splitlines()[2:]
    assert line.split(" | ")[-2:] == ["2.00 ± 0.00", "1.00 ± 0.00 |"]


def test_a_ratio_that_is_certainly_below_1_is_bold() -> None:
    cells = [
        {
            "data_set": "D1",
            "predicates": "2 to 4",
            "queries": 10,
            "attributes": attributes,
            "ratios": {"Hybrid": {"mean": mean, "low": mean - 0.02, "high": mean + 0.02}},
        }
        for attributes, mean in ((5, 0.97), (8, 0.99))
    ]
    (line,) = TABLES["hybrid-ratios"]({"synthetic-hybrid-ratios": {"results": {"cells": cells}}}).splitlines()[2:]
    assert line == "| D1 | 2 to 4 | 10 | **0.970 ± 0.020** | 0.990 ± 0.020 |"


def test_claims_are_without_lists_of_cases() -> None:
    ours = "mu 0: 18; rearranged at all: mu 0 for 20; over those alone that did for every seed: open, holds for 5"
    assert measured({"ours": ours}) == "mu 0: 18. Over the mus that rearranged for every seed: open, holds for 5"
    assert measured({"ours": "2 against 3 (-7.7 %; difference -1)"}) == "2 against 3 (-7.7 %; difference -1)"
