"""Figures 6 and 7 on small data sets: what a result holds, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.adaptive import HYBRID, MACRO, REFINED
from bench.comparison import BEST, CONTENDERS, ROUTING, WORST, Measuring
from bench.costs import SENSITIVITY_QUERIES, SENSITIVITY_WIDEST, Subject, costs_text, figure_6, figure_7, scaled
from bench.datasets import D1, D2
from workloads.predicate_sets import PredicateShape

Written = Callable[[Path, str], dict[str, Any]]
Check = Callable[[dict[str, Any]], None]
SHAPE = PredicateShape(queries=30, predicates=(2, 4), widest=0.4)


@pytest.mark.usefixtures("two_seeds")
def test_figure_6(tmp_path: Path, written: Written, check_costs: Check) -> None:
    subjects = [Subject(replace(data, attributes=10), SHAPE) for data in (D1, D2)]
    result = figure_6("figure-6", subjects, 0.01, tmp_path)
    assert written(tmp_path, "figure-6") == json.loads(json.dumps(result))
    cases, sensitivity = result["results"]["cases"], result["results"]["sensitivity"]
    assert [(case["data_set"], case["seed"]) for case in cases] == [(name, s) for name in ("D1", "D2") for s in (1, 2)]
    for case in [*cases, *sensitivity]:
        check_costs(case)
    asked = [(case["data_set"], case["asked"]["queries"], case["asked"]["widest"]) for case in sensitivity]
    wanted = [(name, n, w) for name in ("D1", "D2") for n in SENSITIVITY_QUERIES for w in SENSITIVITY_WIDEST]
    assert asked == [one for one in wanted for _ in (1, 2)]
    close = {f"{data}: {name} <= 1.1 x SEQ_best" for data in ("D1", "D2") for name in (MACRO, HYBRID)}
    assert close <= {claim["claim"] for claim in result["claims"]}
    for case in cases:
        assert set(case["times"]) == {WORST, BEST, MACRO, HYBRID, REFINED}
    text = costs_text(result)
    assert "other predicates, a tenth of the tuples, mean ± 95 % interval over 2 seeds" in text
    rows = [line for line in text.splitlines() if line.startswith("D1") and "±" in line]
    # Costs, times and those of SEQ_best's in two ways of running, and the other predicates.
    assert [row.count("±") for row in rows[:5]] == [len(CONTENDERS), *[len(CONTENDERS) - 1] * 4]
    assert len(rows) == 5 + len(SENSITIVITY_QUERIES) * len(SENSITIVITY_WIDEST)
    held, _ = (line for line in text.splitlines() if "of SEQ_best's" in line and line.startswith("D1"))
    assert "1.000 ± 0.000" in held


@pytest.mark.nightly
@pytest.mark.usefixtures("one_seed")
def test_figure_7(tmp_path: Path, written: Written, check_costs: Check) -> None:
    result = figure_7("figure-7", Subject(D2, SHAPE), (4, 6), 0.01, tmp_path)
    assert written(tmp_path, "figure-7") == json.loads(json.dumps(result))
    cases = result["results"]["cases"]
    assert [case["realised"]["p_attributes"] for case in cases] == [case["attributes"] for case in cases] == [4, 6]
    for case in cases:
        check_costs(case)
    gap, *_ = [claim for claim in result["claims"] if claim["claim"].startswith(f"the gap {ROUTING} - {MACRO}")]
    gaps = [case["costs"][ROUTING] - case["costs"][MACRO] for case in cases]
    assert gap["holds"] == (gaps[1] > gaps[0])


def test_scaling_stops_where_a_period_would_say_nothing() -> None:
    assert scaled(1) == Measuring()
    assert scaled(0.5) == Measuring(5_000, 5_000, 5_000)
    assert scaled(1e-6) == Measuring(1_000, 1_000, 256)
