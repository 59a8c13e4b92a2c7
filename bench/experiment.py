"""Functions that all experiments of the paper use: the choice of seeds, the decision of claims by confidence intervals,
and the writing of result files.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.interval import Interval
from bench.machine import machine
from bench.result_file import write_result

SEEDS = tuple(range(1, 21))
"""The seeds of a full run of an experiment. A seed determines tuples, predicates and the lottery's draws."""

FEW_SEEDS = 3
"""The number of seeds of a partial run, which is enough to show intervals."""

CLOSE = 1.1
"""The largest ratio to the cost of SEQ_best at which a sequence counts as close to SEQ_best."""

OURS = "not the paper's"
"""The text in place of the paper's figure if the paper does not make the claim."""

Result = dict[str, Any]
UNSTEADY = " (on the whole, not from every one to the next)"
Line = tuple[Sequence[float], Sequence[float]]
"""The x values and the y values of one seed."""


def seeds_of(scale: float) -> tuple[int, ...]:
    """Return the seeds of a run of the share ``scale`` of the full size. A full run has all seeds, a smaller run only a
    few.
    """
    return SEEDS if scale >= 1 else SEEDS[:FEW_SEEDS]


def seeds_in(cases: Iterable[Mapping[str, Any]]) -> list[int]:
    """Return the distinct seeds of the cases, in the order of the cases."""
    return list(dict.fromkeys(case["seed"] for case in cases))


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper compared with the measured result.

    ``claim``: the claim in words. ``paper``: the paper's figure. ``ours``: the measured figure. ``holds``: true if the
    claim holds for the means over the seeds. ``certain``: true if the claim has the same result in the whole confidence
    interval, so that other seeds would hardly change the result. ``seeds``: the number of seeds for which the claim
    holds. ``evidence``: other measured facts that explain why the claim does not hold.
    """

    claim: str
    paper: str
    ours: str
    holds: bool
    certain: bool
    seeds: str
    evidence: str = ""

    @property
    def verdict(self) -> str:
        return verdict(self.holds, self.certain)


def verdict(holds: bool, certain: bool) -> str:
    """Return the verdict on a claim.

    >>> verdict(holds=True, certain=True), verdict(holds=False, certain=True), verdict(holds=False, certain=False)
    ('confirmed', 'refuted', 'open')
    """
    if not certain:
        return "open"
    return "confirmed" if holds else "refuted"


def at_most(claim: str, paper: str, left: Sequence[float], right: Sequence[float], evidence: str = "") -> Claim:
    """Return the claim that the figure ``left`` is at most the figure ``right``. Both have one value per seed, and are
    compared seed by seed.
    """
    lower, upper = statistics.fmean(left), statistics.fmean(right)
    above = Interval.of([a - b for a, b in zip(left, right, strict=True)])
    held = sum(a <= b for a, b in zip(left, right, strict=True))
    ours = f"{lower:.3f} against {upper:.3f} ({(lower / upper - 1) * 100:+.1f} %; difference {above.rounded(3)})"
    holds = above.mean <= 0
    certain = len(left) > 1 and (above.high <= 0 if holds else above.low > 0)
    return Claim(claim, paper, ours, holds, certain, f"{held} of {len(left)}", "" if holds else evidence)


def close_to(claim: str, paper: str, left: Sequence[float], right: Sequence[float], evidence: str = "") -> Claim:
    """Return the claim that the cost ``left`` is at most ``CLOSE`` times SEQ_best's cost ``right``. Both have one value
    per seed, and are compared seed by seed.
    """
    decided = at_most(claim, paper, left, [CLOSE * cost for cost in right], evidence)
    own, best = statistics.fmean(left), statistics.fmean(right)
    percent = (own / best - 1) * 100
    beside = f"{percent:+.1f} % above" if percent >= 0 else f"{-percent:.1f} % below"
    ratio = Interval.of([cost / other for cost, other in zip(left, right, strict=True)])
    ours = f"{own:.3f} against {CLOSE:g} x {best:.3f} ({beside} SEQ_best; ratio {ratio.rounded(3)})"
    return replace(decided, ours=ours)


def trend(claim: str, paper: str, lines: Sequence[Line], sign: int, *, evidence: str = "") -> Claim:
    """Return the claim that a figure rises (``sign`` 1) or falls (-1), by the slope of a line fitted for each seed.

    If the claim holds, but the means change in the other direction between two neighbouring points, the claim's text
    says so.
    """
    slopes = [statistics.linear_regression(xs, ys).slope for xs, ys in lines]
    points = [(statistics.fmean(x), statistics.fmean(y)) for x, y in _places(lines)]
    rises = Interval.of([sign * slope for slope in slopes])
    holds = rises.mean > 0
    certain = len(slopes) > 1 and (rises.low > 0 if holds else rises.high <= 0)
    held = sum(sign * slope > 0 for slope in slopes)
    ours = ", ".join(f"{x:.3g}: {y:.3f}" for x, y in points)
    steady = all(sign * (after - before) >= 0 for (_, before), (_, after) in pairwise(points))
    ours += "" if steady or not holds else UNSTEADY
    return Claim(claim, paper, ours, holds, certain, f"{held} of {len(slopes)}", "" if holds else evidence)


def _places(lines: Sequence[Line]) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return, for each position along the lines, two tuples: the x values and the y values of the lines of all seeds at
    the position.
    """
    xs, ys = (zip(*series, strict=True) for series in zip(*lines, strict=True))
    return list(zip(xs, ys, strict=True))


def result_of(name: str, scale: float, parameters: dict[str, Any], results: Any, claims: Sequence[Claim]) -> Result:
    """Return the result of one figure with the keys of its JSON file."""
    return {
        "benchmark": name,
        "scale": scale,
        "machine": machine(),
        "parameters": {"seeds": list(seeds_of(scale)), **parameters},
        "results": results,
        "claims": [asdict(claim) for claim in claims],
    }


def write(result: Result, output_dir: Path, plot: Callable[[Result, Path], bool]) -> None:
    """Write ``<name>.json`` and, if matplotlib is installed, ``<name>.png`` and ``<name>.svg``."""
    path = write_result(output_dir, result["benchmark"], result)
    plot(result, path.with_suffix(""))


def claims_text(result: Result) -> str:
    """Return the claims as lines of text."""
    lines, before = ["", "claims of the paper, and of ours beside them"], ""
    for claim in result["claims"]:
        about = f"paper: {claim['paper']}; ours: {claim['ours']}; seeds: {claim['seeds']}"
        lines.append(f"  {verdict(claim['holds'], claim['certain']):<9}  {claim['claim']}")
        evidence = claim["evidence"] if claim["evidence"] != before else "why: as above" if before else ""
        before = claim["evidence"]
        for text in (about, evidence):
            lines += textwrap.wrap(text, 118, initial_indent=" " * 13, subsequent_indent=" " * 13)
    return "\n".join(lines)


def columns_text(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table as text, with columns as wide as their widest cell. The first column is aligned left, the others
    right.
    """
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]

    def line(cells: Sequence[str]) -> str:
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join([cells[0].ljust(widths[0]), *rest])

    return "\n".join([line(headings), "-" * len(line(headings)), *map(line, rows)])
