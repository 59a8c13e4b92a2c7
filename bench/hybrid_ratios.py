"""The ratio of Hybrid's cost to SEQ_best's cost, by number of queries and of p-attributes. The ratio shows where the
paper's claim holds.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.adaptive import HYBRID, MACRO, REFINED, Kind, figures, warm_runs
from bench.comparison import BEST
from bench.costs import scaled
from bench.datasets import D1, D2, DataSet
from bench.experiment import (
    OURS,
    Claim,
    Result,
    claims_text,
    columns_text,
    result_of,
    seeds_of,
    write,
)
from bench.fixed_sequences import fixed_sequences
from bench.interval import CONFIDENCE, Interval
from bench.plot_hybrid_ratios import plot_hybrid_ratios
from monitor.adaptation import Thresholds
from workloads.predicate_sets import PredicateShape

NAME = "synthetic-hybrid-ratios"
DATA_SETS = (D1, D2)
QUERIES = (10, 30, 100)
ATTRIBUTES = (5, 8, 10, 12, 20)
FEW, MANY = "2 to 4", "half to all"
"""The two choices for the number of predicates of a query. ``FEW``: 2 to 4, as in Figure 7, for any number of
p-attributes. ``MANY``: from half of the p-attributes to all p-attributes.
"""
PREDICATES = (FEW, MANY)
KINDS: tuple[Kind, ...] = (HYBRID, REFINED)
WIDEST = 0.4

_TUPLES = 24_000
_EXACT_SHARE = 0.4
"""The share of a sample's tuples on which SEQ_best is found. The search over all subsets of 20 constructs takes a
second for so many tuples.
"""

Cell = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a cell in the table of ratios. ``data_set``: the name of the data set. ``predicates``: FEW or
    MANY. ``queries`` and ``attributes``: the numbers of queries and of p-attributes.
    """

    data_set: str
    predicates: str
    queries: int
    attributes: int


def hybrid_ratios(scale: float, output_dir: Path) -> Result:
    """Return the result of the experiment: the table, its heat map and the verdict."""
    wanted = [
        (data, Place(data.name, predicates, queries, attributes), seed)
        for data in DATA_SETS
        for predicates in PREDICATES
        for queries in QUERIES
        for attributes in ATTRIBUTES
        for seed in seeds_of(scale)
    ]
    cases = [_case(scale, *one) for one in tqdm(wanted, desc="Hybrid / SEQ_best", leave=False, disable=None)]
    cells = cells_of(cases)
    measuring = scaled(scale)
    parameters = {
        "tuples": _tuples(scale),
        "period_tuples": measuring.period_tuples,
        "exact_tuples": _exact_tuples(scale),
        "mu": 0,
        "queries": list(QUERIES),
        "attributes": list(ATTRIBUTES),
        "predicates": list(PREDICATES),
        "widest": WIDEST,
    }
    result = result_of(NAME, scale, parameters, {"cells": cells, "cases": cases}, _claims(cells, cases))
    write(result, output_dir, plot_hybrid_ratios)
    return result


def _tuples(scale: float) -> int:
    return max(3_000, round(_TUPLES * scale))


def _exact_tuples(scale: float) -> int:
    return max(256, round(_EXACT_SHARE * scaled(scale).exact_tuples))


def predicates_of(predicates: str, attributes: int) -> tuple[int, int]:
    """Return the smallest and the largest number of comparisons in a query. ``predicates``: FEW or MANY."""
    return (2, 4) if predicates == FEW else ((attributes + 1) // 2, attributes)


def _case(scale: float, data: DataSet, place: Place, seed: int) -> dict[str, Any]:
    shape = PredicateShape(place.queries, predicates_of(place.predicates, place.attributes), WIDEST)
    stream, _ = data.stream(shape, rows=_tuples(scale), attributes=place.attributes, seed=seed)
    measuring = scaled(scale)
    thresholds, tuples = Thresholds(measuring.period_tuples, 0.0), measuring.sample_tuples
    rest, runs = warm_runs(stream, thresholds, (MACRO, *KINDS), sample_tuples=tuples, seed=seed)
    fixed = fixed_sequences(rest.block, rest.drawn(_exact_tuples(scale), np.random.default_rng(seed)))
    best = figures(rest, rest.whole, rest.block.order_of(fixed.best)).cost
    return {
        **asdict(place),
        "seed": seed,
        "exact": fixed.exact,
        "dropped": runs[MACRO].dropped / len(rest),
        "costs": {BEST: best, **{kind: run.cost for kind, run in runs.items()}},
    }


def cells_of(cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells of the table. The ``ratios`` of a cell have, for each kind of sequence, the mean over the seeds
    of the ratio to SEQ_best's cost, with its interval.
    """
    groups: dict[Place, list[Mapping[str, Any]]] = {}
    for case in cases:
        place = Place(case["data_set"], case["predicates"], case["queries"], case["attributes"])
        groups.setdefault(place, []).append(case)
    return [
        {
            **asdict(place),
            "seeds": len(own),
            "dropped": Interval.of([case["dropped"] for case in own]).mean,
            "ratios": {
                kind: asdict(Interval.of([case["costs"][kind] / case["costs"][BEST] for case in own])) for kind in KINDS
            },
        }
        for place, own in groups.items()
    ]


def is_below(cell: Cell, kind: str) -> bool:
    """Return True if the whole interval of a cell is below 1. Return False if the cell has a single seed, and so no
    interval.
    """
    return bool(cell["seeds"] > 1 and cell["ratios"][kind]["high"] < 1)


def is_above(cell: Cell, kind: str) -> bool:
    """Return True if the whole interval of a cell is above 1. Return False if the cell has a single seed."""
    return bool(cell["seeds"] > 1 and cell["ratios"][kind]["low"] > 1)


def verdict(cells: Sequence[Cell], kind: str) -> str:
    """Return a text that lists the cells in which a kind of sequence costs less than SEQ_best with 95 % confidence. The
    text also says in how many cells with the largest number of queries this holds.
    """
    below = [cell for cell in cells if is_below(cell, kind)]
    above = sum(is_above(cell, kind) for cell in cells)
    chance = (1 - CONFIDENCE) / 2 * len(cells)
    most = max(cell["queries"] for cell in cells)
    at_most = [cell for cell in cells if cell["queries"] == most]
    parts = [
        f"{kind} costs less than SEQ_best, the whole interval below 1, in {len(below)} of {len(cells)} cells, more in "
        f"{above}; {len(cells) - len(below) - above} are open ({chance:.1f} would be below by chance if all cost the "
        "same)",
        f"at {most} queries in {sum(is_below(cell, kind) for cell in at_most)} of {len(at_most)}",
    ]
    if below:
        parts.append(f"below 1 in: {'; '.join(_grouped(below))}")
    return "; ".join(parts)


def _grouped(cells: Sequence[Cell]) -> list[str]:
    """Return cells as lines of text. Cells that differ only in the number of p-attributes share one line."""
    groups: dict[tuple[str, str, int], list[int]] = {}
    for cell in cells:
        groups.setdefault((cell["data_set"], cell["predicates"], cell["queries"]), []).append(cell["attributes"])
    return [
        f"{data}, {predicates} predicates, {queries} queries x {', '.join(map(str, attributes))} p-attributes"
        for (data, predicates, queries), attributes in groups.items()
    ]


def _claims(cells: Sequence[Cell], cases: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """Return one claim for each kind of sequence: it costs less than SEQ_best in all cells. One cell whose whole
    interval is above 1 refutes the claim.
    """
    claims = []
    for kind, paper in ((HYBRID, "Fig. 7: 'Hybrid performs better than SEQ best'"), (REFINED, OURS)):
        holds = all(cell["ratios"][kind]["mean"] < 1 for cell in cells)
        certain = all(is_below(cell, kind) for cell in cells) or any(is_above(cell, kind) for cell in cells)
        held = sum(case["costs"][kind] < case["costs"][BEST] for case in cases)
        claims.append(
            Claim(
                f"{kind} < SEQ_best for every number of queries and of p-attributes",
                paper,
                verdict(cells, kind),
                holds,
                certain,
                f"{held} of {len(cases)}, all cells together",
            )
        )
    return claims


def hybrid_ratios_text(result: Result) -> str:
    """Return the table, its verdict and the claims."""
    cells, attributes = result["results"]["cells"], result["parameters"]["attributes"]
    seeds = len(result["parameters"]["seeds"])
    parts = [
        f"{result['benchmark']}: cost by that of SEQ_best, seed by seed, mean ± 95 % interval over {seeds} seeds, by "
        "p-attributes;\n< where the whole interval is below 1, > where it is above"
    ]
    for kind in KINDS:
        rows: dict[tuple[str, str, str], list[str]] = {}
        for cell in cells:
            head = (cell["data_set"], cell["predicates"], str(cell["queries"]))
            rows.setdefault(head, []).append(_shown(cell, kind))
        headings = ["data", "predicates", "queries", *map(str, attributes)]
        said = textwrap.wrap(verdict(cells, kind), 118)
        parts += ["", kind, columns_text(headings, [[*head, *own] for head, own in rows.items()]), *said]
    return "\n".join([*parts, claims_text(result)])


def _shown(cell: Cell, kind: str) -> str:
    mark = "<" if is_below(cell, kind) else ">" if is_above(cell, kind) else " "
    return f"{Interval(**cell['ratios'][kind]).rounded(3)} {mark}"
