"""Figure 8 once, small: what a result holds, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.micro_arrows import figure_8, micro_arrows_text
from workloads.predicate_sets import PredicateShape

Written = Callable[[Path, str], dict[str, Any]]


@pytest.mark.usefixtures("two_seeds")
def test_figure_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Written) -> None:
    monkeypatch.setattr("bench.micro_arrows.CONCENTRATIONS", (0.0, 0.6, 1.0))
    shape = PredicateShape(queries=30, predicates=(3, 6), widest=0.4)
    result = figure_8("figure-8", shape, 0.01, tmp_path)
    assert written(tmp_path, "figure-8") == json.loads(json.dumps(result))
    cases = result["results"]["cases"]
    assert [(case["concentration"], case["seed"]) for case in cases] == [(c, s) for c in (0, 0.6, 1) for s in (1, 2)]
    for case in cases:
        assert 0 <= case["refined_micro_ratio"] <= case["micro_ratio"] <= 1
        assert case["relative_cost"] == pytest.approx(case["hybrid_cost"] / case["macro_cost"])
        assert case["refined_relative_cost"] == pytest.approx(case["refined_cost"] / case["macro_cost"])
    for seed in (1, 2):
        deviations = [case["realised"]["deviation"] for case in cases if case["seed"] == seed]
        assert deviations == sorted(deviations)
    lines = micro_arrows_text(result).splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["0", "0.6", "1"]
    assert all(line.count("±") == 8 for line in lines[3:6])
