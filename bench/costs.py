"""Figures 6 and 7: the costs of the methods of ordering the constructs by data set, and by number of p-attributes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.adaptive import HYBRID, MACRO, REFINED
from bench.comparison import (
    BEST,
    BY_DROPPING,
    CONTENDERS,
    OWN_LEVEL,
    ROUTING,
    WORST,
    Measuring,
    compared,
)
from bench.datasets import DataSet
from bench.experiment import (
    CLOSE,
    OURS,
    Claim,
    Result,
    at_most,
    claims_text,
    close_to,
    columns_text,
    result_of,
    seeds_in,
    seeds_of,
    trend,
    write,
)
from bench.interval import Interval
from bench.plot_costs import plot_by_attributes, plot_by_data_set
from workloads.predicate_sets import PredicateShape

Cases = Sequence[dict[str, Any]]

_TIMED = tuple(name for name in CONTENDERS if name != ROUTING)

SENSITIVITY_QUERIES = (10, 100, 1_000)
SENSITIVITY_WIDEST = (0.2, 0.6)
SENSITIVITY_SCALE = 0.1
SENSITIVITY_SEEDS = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """A data set, and the parameters of the predicate set that is drawn over its columns."""

    data: DataSet
    shape: PredicateShape


def figure_6(name: str, subjects: Sequence[Subject], scale: float, output_dir: Path) -> Result:
    """Measure the cost of each method by data set. The result also contains costs with other predicate sets, at a tenth
    of the size and with few seeds.
    """
    measuring = scaled(scale)
    wanted = [(subject, seed) for subject in subjects for seed in seeds_of(scale)]
    cases = [
        _case(subject, scale, subject.data.attributes, measuring, seed)
        for subject, seed in tqdm(wanted, desc="figure 6", leave=False, disable=None)
    ]
    others = [
        Subject(subject.data, replace(subject.shape, queries=queries, widest=widest))
        for subject in subjects
        for queries in SENSITIVITY_QUERIES
        for widest in SENSITIVITY_WIDEST
    ]
    smaller = scale * SENSITIVITY_SCALE
    untimed = replace(scaled(smaller), repetitions=0)
    sensitivity = [
        _case(subject, smaller, subject.data.attributes, untimed, seed)
        for subject in tqdm(others, desc="sensitivity", leave=False, disable=None)
        for seed in seeds_of(scale)[:SENSITIVITY_SEEDS]
    ]
    parameters = _parameters(subjects, measuring)
    claims = [claim for subject in subjects for claim in _claims_6(subject.data.name, _of(cases, subject.data.name))]
    result = result_of(name, scale, parameters, {"cases": cases, "sensitivity": sensitivity}, claims)
    write(result, output_dir, plot_by_data_set)
    return result


def figure_7(name: str, subject: Subject, attributes: Sequence[int], scale: float, output_dir: Path) -> Result:
    """Measure costs by number of p-attributes."""
    measuring = scaled(scale)
    wanted = [(count, seed) for count in attributes for seed in seeds_of(scale)]
    cases = [
        _case(subject, scale, count, measuring, seed)
        for count, seed in tqdm(wanted, desc="figure 7", leave=False, disable=None)
    ]
    result = result_of(name, scale, _parameters([subject], measuring), {"cases": cases}, _claims_7(cases))
    write(result, output_dir, plot_by_attributes)
    return result


def scaled(scale: float) -> Measuring:
    """Return the parameters of a full run with scaled numbers of tuples: at least 1,000 for a period and for a sample,
    and at least 256 for SEQ_best.
    """
    full = Measuring()
    return replace(
        full,
        period_tuples=max(1_000, round(full.period_tuples * scale)),
        sample_tuples=max(1_000, round(full.sample_tuples * scale)),
        exact_tuples=max(256, round(full.exact_tuples * scale)),
    )


def _case(subject: Subject, scale: float, attributes: int, measuring: Measuring, seed: int) -> dict[str, Any]:
    rows = subject.data.rows_of(scale)
    stream, came_out = subject.data.stream(subject.shape, rows=rows, attributes=attributes, seed=seed)
    return {
        "data_set": subject.data.name,
        "attributes": attributes,
        "asked": asdict(subject.shape),
        "seed": seed,
        "realised": came_out,
        **compared(stream, measuring, seed=seed),
    }


def _parameters(subjects: Sequence[Subject], measuring: Measuring) -> dict[str, Any]:
    return {
        **asdict(measuring),
        "mu": 0,
        "queries": subjects[0].shape.queries,
        "predicates": {subject.data.name: asdict(subject.shape) for subject in subjects},
    }


def _of(cases: Cases, data_set: str) -> Cases:
    return [case for case in cases if case["data_set"] == data_set]


def _costs(cases: Cases, contender: str) -> list[float]:
    return [case["costs"][contender] for case in cases]


def _claims_6(data_set: str, cases: Cases) -> list[Claim]:
    macro, hybrid, best, routing = (_costs(cases, name) for name in (MACRO, HYBRID, BEST, ROUTING))
    refining = _costs(cases, REFINED)
    about_macro, about_hybrid = _about_macro(cases), _about_hybrid(cases)
    below, near = "Fig. 6, no figure survives", "Fig. 6: 'approximate SEQ best'"
    claims = [
        at_most(f"{data_set}: Macro <= Ticket Routing", below, macro, routing, about_macro),
        at_most(f"{data_set}: Hybrid <= Ticket Routing", below, hybrid, routing, about_hybrid),
    ]
    for name, costs, evidence in ((MACRO, macro, about_macro), (HYBRID, hybrid, about_hybrid)):
        claims.append(close_to(f"{data_set}: {name} <= {CLOSE:g} x SEQ_best", near, costs, best, evidence))
    if data_set != "D1":
        claims.append(at_most(f"{data_set}: Hybrid <= Macro", below, hybrid, macro, about_hybrid))
        claims.append(at_most(f"{data_set}: Hybrid <= SEQ_best", below, hybrid, best, about_hybrid))
        claims.append(at_most(f"{data_set}: {REFINED} <= SEQ_best", OURS, refining, best, about_hybrid))
    claims.append(at_most(f"{data_set}: {REFINED} <= Macro", OURS, refining, macro, about_hybrid))
    return claims


def _about_macro(cases: Cases) -> str:
    held = statistics.fmean(case["explained"]["fixed_costs"][MACRO] for case in cases)
    best, adapting = statistics.fmean(_costs(cases, BEST)), statistics.fmean(_costs(cases, MACRO))
    return (
        f"found once and held, the macro-sequence costs {held:.3f}: the greedy search loses {held - best:+.3f} to "
        f"SEQ_best, finding it anew every period {adapting - held:+.3f}"
    )


def _about_hybrid(cases: Cases) -> str:
    """Return a text that explains why Hybrid is no better than Macro. It cites the costs on the same tuples from which
    the two sequences were found.
    """
    explained = [case["explained"] for case in cases]

    def mean(costs: str, name: str) -> float:
        return statistics.fmean(own[costs][name] for own in explained)

    best, macro, hybrid, own_level, by_dropping, refining = (
        mean("sample_costs", name) for name in (BEST, MACRO, HYBRID, OWN_LEVEL, BY_DROPPING, REFINED)
    )
    parts = [
        f"on the very tuples they were found on SEQ_best costs {best:.3f}, Macro {macro:.3f}, Hybrid {hybrid:.3f}; "
        f"with its micro-arrows followed only at the level they were measured at {own_level:.3f}, only those chosen by "
        f"dropping ratio {by_dropping:.3f}, only those that lower the cost {refining:.3f}",
        f"held for all tuples Macro {mean('fixed_costs', MACRO):.3f}, Hybrid {mean('fixed_costs', HYBRID):.3f}, only "
        f"those that lower the cost {mean('fixed_costs', REFINED):.3f}",
    ]
    if hybrid > macro:
        parts.append(f"so the micro-arrows lose {hybrid - macro:.3f} to Macro, and not for want of tuples")
        if hybrid > own_level:
            parts.append(
                f"{hybrid - own_level:.3f} is lost by tuples that reach a region at another level than those its "
                "micro-arrow was measured on"
            )
        if own_level > macro:
            parts.append(f"{own_level - macro:.3f} by the measure, which looks one step ahead and does not count cost")
    if macro > best:
        parts.append(f"the greedy search loses {macro - best:.3f} to SEQ_best")
    least = [own["least"] for own in explained if own["least"] is not None]
    if least:
        parts.append(f"an order for each tuple by itself would cost {statistics.fmean(least):.3f}")
    return "; ".join(parts)


def _claims_7(cases: Cases) -> list[Claim]:
    paper = "Fig. 7: 'the performance gaps among the four schemes are also comparatively enlarged'"
    claims = []
    for upper, lower in ((ROUTING, MACRO), (ROUTING, HYBRID), (WORST, BEST)):
        lines = [_gaps([case for case in cases if case["seed"] == seed], upper, lower) for seed in seeds_in(cases)]
        claims.append(trend(f"the gap {upper} - {lower} grows with the p-attributes", paper, lines, 1))
    hybrid, refining, best = (
        [statistics.fmean(_costs([case for case in cases if case["seed"] == seed], name)) for seed in seeds_in(cases)]
        for name in (HYBRID, REFINED, BEST)
    )
    over, evidence = "mean over the numbers of p-attributes", _about_hybrid(cases)
    performs = "Fig. 7: 'Hybrid performs better than SEQ best'"
    claims.append(at_most(f"Hybrid <= SEQ_best, {over}", performs, hybrid, best, evidence))
    return [*claims, at_most(f"{REFINED} <= SEQ_best, {over}", OURS, refining, best, evidence)]


def _gaps(cases: Cases, upper: str, lower: str) -> tuple[list[float], list[float]]:
    gaps = [case["costs"][upper] - case["costs"][lower] for case in cases]
    return [float(case["attributes"]) for case in cases], gaps


def costs_text(result: Result) -> str:
    """Format a result of Figure 6 or 7: costs, times, costs with other predicates if measured, and the claims. Figures
    are means over the seeds with 95 % intervals, as in the plots.
    """
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for case in result["results"]["cases"]:
        groups.setdefault((case["data_set"], case["attributes"]), []).append(case)
    seeds = len(result["parameters"]["seeds"])
    rows, times = [], []
    for (data_set, attributes), cases in groups.items():
        head = [data_set, str(attributes)]
        rows.append([*head, *(str(Interval.of(_costs(cases, name))) for name in CONTENDERS), *_shares(cases)])
        if all(case["times"] for case in cases):
            times += [[*head, *row] for row in _times_rows(cases)]
    parts = [
        f"{result['benchmark']}: constructs evaluated a tuple, mean ± 95 % interval over {seeds} seeds",
        columns_text(["data", "p-attr.", *CONTENDERS, "dropped", "least"], rows),
        "",
        f"nanoseconds a tuple in the batch executor, one thread, mean ± 95 % interval over {seeds} seeds,",
        "and how many times as many as SEQ_best's, seed by seed",
        columns_text(["data", "p-attr.", "constructs", *_TIMED], times),
    ]
    if sensitivity := result["results"].get("sensitivity"):
        few = len(seeds_in(sensitivity))
        title = f"other predicates, a tenth of the tuples, mean ± 95 % interval over {few} seeds"
        parts += ["", title, _sensitivity_text(sensitivity)]
    return "\n".join([*parts, claims_text(result)])


def _times_rows(cases: Cases) -> list[list[str]]:
    """Return table rows with the time of each contender in the executor, and the ratio to SEQ_best in the same runs."""
    rows = []
    for key, title in (("executor", "as it runs"), ("one_at_a_time", "one at a time")):
        ns = {name: [case["times"][name][key] for case in cases] for name in _TIMED}
        rows.append([title, *(Interval.of(own).rounded(0) for own in ns.values())])
        pairs = [list(zip(own, ns[BEST], strict=True)) for own in ns.values()]
        rows.append(["of SEQ_best's", *(Interval.of([own / best for own, best in pair]).rounded(3) for pair in pairs)])
    return rows


def _shares(cases: Cases) -> list[str]:
    least = [case["explained"]["least"] for case in cases]
    dropped = statistics.fmean(case["explained"]["dropped"] for case in cases)
    return [f"{dropped:.1%}", "-" if None in least else f"{statistics.fmean(least):.2f}"]


def _sensitivity_text(cases: Cases) -> str:
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for case in cases:
        head = (case["data_set"], f"{case['asked']['queries']:,}", f"{case['asked']['widest']:g}")
        groups.setdefault(head, []).append(case)
    rows = [
        [*head, *(str(Interval.of(_costs(own, name))) for name in CONTENDERS), *_shares(own)]
        for head, own in groups.items()
    ]
    return columns_text(["data", "queries", "widest", *CONTENDERS, "dropped", "least"], rows)
