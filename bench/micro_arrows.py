"""Figure 8 of the paper: the micro ratio xi and the relative cost omega, by the standard deviation of the number of
ones per region. The micro ratio is the share of micro-arrows among the arrows followed.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.adaptive import HYBRID, MACRO, REFINED, Kind, warm_runs
from bench.costs import scaled
from bench.datasets import D1, with_concentration
from bench.experiment import (
    OURS,
    Claim,
    Line,
    Result,
    claims_text,
    columns_text,
    result_of,
    seeds_in,
    seeds_of,
    trend,
    write,
)
from bench.interval import Interval
from bench.plot_micro_arrows import plot_micro_arrows
from monitor.adaptation import Thresholds
from workloads.predicate_sets import PredicateShape

CONCENTRATIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

_SHOWN = {
    "micro_ratio": "xi",
    "relative_cost": "omega",
    "refined_micro_ratio": "xi, refined",
    "refined_relative_cost": "omega, refined",
    "macro_cost": "Macro",
    "hybrid_cost": "Hybrid",
    "dropped": "dropped",
}


def figure_8(name: str, shape: PredicateShape, scale: float, output_dir: Path) -> Result:
    """Measure the micro ratio and the relative cost over data set D1. The predicate sets have the same parameters,
    except for different concentrations around hot values.
    """
    wanted = [(concentration, seed) for concentration in CONCENTRATIONS for seed in seeds_of(scale)]
    cases = [
        _case(with_concentration(shape, concentration), seed, scale)
        for concentration, seed in tqdm(wanted, "figure 8", leave=False, disable=None)
    ]
    measuring = scaled(scale)
    parameters = {
        "period_tuples": measuring.period_tuples,
        "sample_tuples": measuring.sample_tuples,
        "mu": 0,
        "queries": shape.queries,
        "predicates": {"D1": asdict(shape)},
        "concentrations": list(CONCENTRATIONS),
    }
    result = result_of(name, scale, parameters, {"cases": cases}, _claims(cases))
    write(result, output_dir, plot_micro_arrows)
    return result


def _case(shape: PredicateShape, seed: int, scale: float) -> dict[str, Any]:
    stream, came_out = D1.stream(shape, rows=D1.rows_of(scale), attributes=D1.attributes, seed=seed)
    measuring = scaled(scale)
    kinds: tuple[Kind, ...] = (MACRO, HYBRID, REFINED)
    thresholds = Thresholds(measuring.period_tuples, 0.0)
    rest, runs = warm_runs(stream, thresholds, kinds, sample_tuples=measuring.sample_tuples, seed=seed)
    macro, hybrid, refining = (runs[kind] for kind in kinds)
    return {
        "concentration": shape.concentration,
        "seed": seed,
        "realised": came_out,
        "macro_cost": macro.cost,
        "hybrid_cost": hybrid.cost,
        "micro_ratio": hybrid.micro_ratio,
        "relative_cost": hybrid.cost / macro.cost,
        "refined_cost": refining.cost,
        "refined_micro_ratio": refining.micro_ratio,
        "refined_relative_cost": refining.cost / macro.cost,
        "dropped": macro.dropped / len(rest),
    }


def _claims(cases: list[dict[str, Any]]) -> list[Claim]:
    paper = "Fig. 8, no figure survives"
    dearer = sum(case["relative_cost"] > 1 for case in cases)
    evidence = f"the micro-arrows cost more than they save in {dearer} of {len(cases)} cases: more of them cost more"
    return [
        trend("the micro ratio xi rises with the deviation of ones a region", paper, _lines(cases, "micro_ratio"), 1),
        trend(
            "the relative cost omega = Hybrid / Macro falls with it",
            paper,
            _lines(cases, "relative_cost"),
            -1,
            evidence=evidence,
        ),
        trend("omega of the refined Hybrid falls with it", OURS, _lines(cases, "refined_relative_cost"), -1),
    ]


def _lines(cases: list[dict[str, Any]], key: str) -> list[Line]:
    """Return a line of the plot for each seed. Its x values are the measured standard deviations of the cases, and its
    y values are the figures ``key``.
    """
    own = [[case for case in cases if case["seed"] == seed] for seed in seeds_in(cases)]
    return [([case["realised"]["deviation"] for case in line], [case[key] for case in line]) for line in own]


def micro_arrows_text(result: Result) -> str:
    """Return the result and its claims as text."""
    rows = []
    for concentration in result["parameters"]["concentrations"]:
        own = [case for case in result["results"]["cases"] if case["concentration"] == concentration]
        deviation = Interval.of([case["realised"]["deviation"] for case in own])
        figures = [Interval.of([case[key] for case in own]) for key in _SHOWN]
        rows.append([f"{concentration:g}", str(deviation), *(own.rounded(3) for own in figures)])
    headings = ["concentration", "std dev of ones", *_SHOWN.values()]
    title = f"{result['benchmark']}: D1, mean ± 95 % interval over {len(result['parameters']['seeds'])} seeds"
    return "\n".join([title, columns_text(headings, rows), claims_text(result)])
