"""The heat map of the ratio of Hybrid's cost to SEQ_best's cost, by number of queries and of p-attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.interval import Interval
from bench.plot import saved

_RANGE = 0.1
"""The colours of the heat map cover ratios from 1 minus this value to 1 plus this value."""


def plot_hybrid_ratios(result: dict[str, Any], path: Path) -> bool:
    """Draw a panel for each data set, kind of predicates and kind of sequence.

    The cells are as in the table: means with 95 % intervals over the seeds. A frame marks a cell whose whole interval
    is below 1.
    """
    cells, parameters = result["results"]["cells"], result["parameters"]
    kinds = list(cells[0]["ratios"])
    groups = list(dict.fromkeys((cell["data_set"], cell["predicates"]) for cell in cells))

    def draw(figure: Any) -> None:
        panels = figure.subplots(len(groups), len(kinds), squeeze=False)
        for row, (data_set, predicates) in zip(panels, groups, strict=True):
            own = [cell for cell in cells if (cell["data_set"], cell["predicates"]) == (data_set, predicates)]
            for axes, kind in zip(row, kinds, strict=True):
                drawn = _panel(axes, own, kind, parameters)
                axes.set_title(f"{kind} / SEQ_best, {data_set}, {predicates} predicates a query")
        figure.colorbar(drawn, ax=panels, label="times the cost of SEQ_best", shrink=0.5, extend="both")

    return saved(path, (7 * len(kinds), 2.8 * len(groups)), draw)


def _panel(axes: Any, cells: list[dict[str, Any]], kind: str, parameters: dict[str, Any]) -> Any:
    from matplotlib.patches import Rectangle

    queries, attributes = parameters["queries"], parameters["attributes"]
    found = {(cell["queries"], cell["attributes"]): Interval(**cell["ratios"][kind]) for cell in cells}
    means = [[found[count, across].mean for across in attributes] for count in queries]
    drawn = axes.imshow(means, cmap="RdBu_r", vmin=1 - _RANGE, vmax=1 + _RANGE, aspect="auto")
    for cell in cells:
        x, y = attributes.index(cell["attributes"]), queries.index(cell["queries"])
        ratio = found[cell["queries"], cell["attributes"]]
        is_below = cell["seeds"] > 1 and ratio.high < 1
        is_dark = abs(ratio.mean - 1) > 0.7 * _RANGE
        axes.text(x, y, ratio.rounded(3), ha="center", va="center", color="white" if is_dark else "black", fontsize=8)
        if is_below:
            axes.add_patch(Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, fill=False, edgecolor="black", linewidth=2))
    axes.set(xlabel="p-attributes", ylabel="queries")
    axes.set_xticks(range(len(attributes)), attributes)
    axes.set_yticks(range(len(queries)), queries)
    return drawn
