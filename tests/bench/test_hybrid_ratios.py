"""The table of Hybrid / SEQ_best, once and small; and its verdict, from made-up figures alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.adaptive import HYBRID, REFINED
from bench.comparison import BEST
from bench.hybrid_ratios import (
    FEW,
    KINDS,
    MANY,
    NAME,
    cells_of,
    hybrid_ratios,
    hybrid_ratios_text,
    is_above,
    is_below,
    predicates_of,
    verdict,
)

Written = Callable[[Path, str], dict[str, Any]]


@pytest.mark.nightly
@pytest.mark.usefixtures("two_seeds")
def test_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Written) -> None:
    monkeypatch.setattr("bench.hybrid_ratios.QUERIES", (10, 30))
    monkeypatch.setattr("bench.hybrid_ratios.ATTRIBUTES", (4, 5))
    result = hybrid_ratios(0.01, tmp_path)
    assert written(tmp_path, NAME) == json.loads(json.dumps(result))
    cells, cases = result["results"]["cells"], result["results"]["cases"]
    assert len(cells) == 2 * 2 * 2 * 2
    assert len(cases) == 2 * len(cells)
    for case in cases:
        assert case["exact"]
        assert 1 <= min(case["costs"].values()) <= max(case["costs"].values()) <= case["attributes"]
    for cell in cells:
        own = [case for case in cases if all(case[key] == cell[key] for key in ("data_set", "predicates", "queries"))]
        ratios = [c["costs"][HYBRID] / c["costs"][BEST] for c in own if c["attributes"] == cell["attributes"]]
        assert cell["ratios"][HYBRID]["mean"] == pytest.approx(sum(ratios) / 2)
    text = hybrid_ratios_text(result)
    assert text.count("costs less than SEQ_best, the whole interval below 1, in") >= len(KINDS)
    assert sum(line.startswith("D1") for line in text.splitlines()) == len(KINDS) * 4


def test_predicates_grow_with_the_p_attributes_or_do_not() -> None:
    assert [predicates_of(FEW, count) for count in (5, 20)] == [(2, 4), (2, 4)]
    assert [predicates_of(MANY, count) for count in (5, 20)] == [(3, 5), (10, 20)]


def cases(queries: int, attributes: int, *costs: float) -> list[dict[str, Any]]:
    """A cell whose SEQ_best costs 10, and both kinds in each seed this."""
    return [
        {
            "data_set": "D1",
            "predicates": MANY,
            "queries": queries,
            "attributes": attributes,
            "seed": seed,
            "dropped": 1.0,
            "costs": {BEST: 10.0, HYBRID: cost, REFINED: cost},
        }
        for seed, cost in enumerate(costs)
    ]


def test_the_verdict_names_the_cells_whose_whole_interval_is_below_1() -> None:
    cells = cells_of(
        [
            *cases(10, 5, 9.0, 9.1, 9.2),
            *cases(10, 20, 8.0, 8.1, 8.2),
            *cases(30, 5, 9.0, 11.0, 9.5),
            *cases(100, 5, 10.2, 10.3, 10.4),
        ]
    )
    assert [is_below(cell, HYBRID) for cell in cells] == [True, True, False, False]
    assert [is_above(cell, HYBRID) for cell in cells] == [False, False, False, True]
    said = verdict(cells, HYBRID)
    assert "in 2 of 4 cells, more in 1; 1 are open" in said
    assert "at 100 queries in 0 of 1" in said
    assert said.endswith("below 1 in: D1, half to all predicates, 10 queries x 5, 20 p-attributes")


def test_one_seed_says_nothing_for_certain() -> None:
    cells = cells_of(cases(10, 5, 5.0))
    assert not is_below(cells[0], HYBRID)
    assert "in 0 of 1 cells, more in 0; 1 are open" in verdict(cells, HYBRID)
