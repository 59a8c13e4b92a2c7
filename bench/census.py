"""Figures 6 and 7 of the paper on the census (D3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.costs import Subject, costs_text, figure_6, figure_7
from bench.datasets import D3, Q2, check_scale

FIGURES = (6, 7)
ATTRIBUTES = (4, 6, 8, 10)


def run(*, scale: float, output_dir: Path, figure: int | None = None) -> dict[str, Any]:
    """One figure, or both; each writes its JSON, PNG and SVG into the folder. The results by name of the figure."""
    check_scale(scale)
    results = []
    for number in FIGURES if figure is None else (figure,):
        name = f"census-figure-{number}"
        if number == 6:
            results.append(figure_6(name, [Subject(D3, Q2)], scale, output_dir))
        else:
            results.append(figure_7(name, Subject(D3, Q2), ATTRIBUTES, scale, output_dir))
    return {result["benchmark"]: result for result in results}


def table(results: dict[str, Any]) -> str:
    """The results as text."""
    return "\n\n".join(costs_text(result) for result in results.values())
