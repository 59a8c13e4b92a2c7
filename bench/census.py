"""Figures 6 and 7 of the paper, measured on the census (data set D3): the costs of the methods of ordering
constructs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.costs import Subject, costs_text, figure_6, figure_7
from bench.datasets import D3, Q2, check_scale, with_queries

FIGURES = (6, 7)
ATTRIBUTES = (4, 6, 8, 10)


def run(*, scale: float, output_dir: Path, figure: int | None = None, queries: int | None = None) -> dict[str, Any]:
    """Measure one figure, or both, and return the results by the name of the figure. Each figure writes a JSON, a PNG
    and an SVG file.

    ``queries``: the number of queries in the block, each with one conjunct. By default it is the number in the
    predicate sets.
    """
    check_scale(scale)
    subject = Subject(D3, with_queries(Q2, queries))
    results = []
    for number in FIGURES if figure is None else (figure,):
        name = f"census-figure-{number}"
        if number == 6:
            results.append(figure_6(name, [subject], scale, output_dir))
        else:
            results.append(figure_7(name, subject, ATTRIBUTES, scale, output_dir))
    return {result["benchmark"]: result for result in results}


def table(results: dict[str, Any]) -> str:
    """Return the results as text."""
    return "\n\n".join(costs_text(result) for result in results.values())
