"""The paper's claims: each judged by what was measured."""

from __future__ import annotations

from typing import Any

import pytest

from bench.dbscan_claims import claims, figures_of
from bench.dbscan_goals import ALONE, EXTRA_N_SHARED, INCDBSCAN
from bench.dbscan_paper import OWN, OWN_LABELS


def entry(queries: int, own: float, labels: float, alone: float, shared: float) -> dict[str, Any]:
    cpu_us = {OWN: own, OWN_LABELS: labels, ALONE: alone, EXTRA_N_SHARED: shared}
    searches = {OWN_LABELS: 100.0, INCDBSCAN: 100.0 * queries}
    return {
        "queries": queries,
        "cpu_us": cpu_us,
        "bytes": dict(cpu_us),
        "held_bytes": dict(cpu_us),
        "searches": searches,
    }


def results(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"results": list(entries)}


def held(cases: dict[str, Any]) -> dict[str, bool]:
    return {own["claim"].partition(",")[0]: own["holds"] for own in claims(cases)}


def test_the_general_case_is_the_mean_of_its_groups_and_its_worst_one() -> None:
    cases = {"general": results(entry(20, 10, 8, 9, 40), entry(20, 30, 8, 6, 60))}
    assert dict(figures_of(cases)) == pytest.approx(
        {"general-20": 2.5, "general-20-bytes": 0.4, "general-20-alone": 0.75, "general-20-saved": -100 / 15}
    )
    saved, labels, never, alone, searches = claims(cases)
    assert (saved["paper"], saved["ours"], saved["holds"]) == ("70 %", "60 %", False)
    assert (labels["ours"], labels["holds"]) == ("84 %", True)
    assert (never["ours"], never["holds"]) == ("50 % saved at least", True)
    assert not alone["holds"]
    assert (searches["ours"], searches["holds"]) == ("5.0 % at most", True)


def test_scaling_is_from_the_fewest_to_the_most_queries() -> None:
    cases = {"scale": results(entry(10, 5, 4, 4, 9), entry(100, 20, 4, 4, 9), entry(1_000, 170, 4, 4, 9))}
    found = dict(figures_of(cases))
    assert found["scale-100"] == 20
    assert found["scale-cpu"] == found["scale-bytes"] == 34
    assert held(cases)["processor time"] is False


def test_sharing_is_compared_over_all_cases() -> None:
    labels = {"count": 5, "range": 8, "window": 1, "slide": 2, "pattern": 7, "windows": 3}
    cases = {name: results(entry(20, 9, own, 9, 10)) for name, own in labels.items()}
    verdicts = held(cases)
    assert verdicts["most is saved for different windows"]
    assert verdicts["least is saved for different eps"]
    assert verdicts["more is saved for two window parameters than for two pattern parameters"]
    assert not held({**cases, "window": results(entry(20, 9, 6, 9, 10))})["most is saved for different windows"]
    assert "least is saved for different eps" not in held({"range": cases["range"]})
