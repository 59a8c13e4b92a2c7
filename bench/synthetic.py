"""Figures 6, 7 and 8 of the paper on the synthetic data sets D1 and D2, and the table of the cases in which Hybrid
costs less than SEQ_best.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.costs import Subject, costs_text, figure_6, figure_7
from bench.datasets import D1, D2, Q1, Q3, Q4, check_scale, with_queries
from bench.experiment import Result
from bench.hybrid_ratios import NAME, hybrid_ratios, hybrid_ratios_text
from bench.micro_arrows import figure_8, micro_arrows_text

FIGURES = (6, 7, 8)
ATTRIBUTES = (4, 8, 12, 16, 20)


def run(
    *, scale: float, output_dir: Path, figure: int | None = None, ratios: bool = False, queries: int | None = None
) -> dict[str, Any]:
    """Measure one figure, only the table of ratios (``ratios``), or all figures and the table. Return the results by
    name. Each result is also written as JSON, PNG and SVG into the folder.

    ``queries``: the number of queries, each with one conjunct. For None, the predicate sets have their default number.
    The table ignores ``queries``, because it varies the number of queries.
    """
    check_scale(scale)
    results = []
    for number in (() if ratios else FIGURES) if figure is None else (figure,):
        name = f"synthetic-figure-{number}"
        if number == 6:
            subjects = [Subject(data, with_queries(Q1, queries)) for data in (D1, D2)]
            results.append(figure_6(name, subjects, scale, output_dir))
        elif number == 7:
            results.append(figure_7(name, Subject(D2, with_queries(Q3, queries)), ATTRIBUTES, scale, output_dir))
        else:
            results.append(figure_8(name, with_queries(Q4, queries), scale, output_dir))
    if ratios or figure is None:
        results.append(hybrid_ratios(scale, output_dir))
    return {result["benchmark"]: result for result in results}


def table(results: dict[str, Any]) -> str:
    """Return the results as text."""
    return "\n\n".join(_text(name, result) for name, result in results.items())


def _text(name: str, result: Result) -> str:
    if name == NAME:
        return hybrid_ratios_text(result)
    return micro_arrows_text(result) if name.endswith("8") else costs_text(result)
