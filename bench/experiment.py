"""Common parts of all experiments: seeds, claims decided by confidence intervals, and result files."""

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
"""A full run of an experiment has each: they make tuples, predicates and the lottery's draws."""

FEW_SEEDS = 3
"""Of a run that is not the full one: enough to see that there are intervals."""

CLOSE = 1.1
"""A sequence that costs at most so many times as much as SEQ_best comes close to it."""

OURS = "not the paper's"
"""It replaces the paper's figure where a claim is our own."""

Result = dict[str, Any]
UNSTEADY = " (on the whole, not from every one to the next)"
Line = tuple[Sequence[float], Sequence[float]]
"""The xs and the ys of one seed."""


def seeds_of(scale: float) -> tuple[int, ...]:
    """Return the seeds of a run of a share of the full size: all of them where it is the full one."""
    return SEEDS if scale >= 1 else SEEDS[:FEW_SEEDS]


def seeds_in(cases: Iterable[Mapping[str, Any]]) -> list[int]:
    """Return the seeds of some cases, in their order."""
    return list(dict.fromkeys(case["seed"] for case in cases))


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper beside what was measured.

    ``holds``: it holds for the means over the seeds. ``certain``: the whole interval says the same, so that other seeds
    would hardly turn it. ``seeds``: and in so many of them. ``evidence``: what was measured besides that bears on why
    it does not.
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
    """Return the claim that one figure is at most another; seed by seed."""
    lower, upper = statistics.fmean(left), statistics.fmean(right)
    above = Interval.of([a - b for a, b in zip(left, right, strict=True)])
    held = sum(a <= b for a, b in zip(left, right, strict=True))
    ours = f"{lower:.3f} against {upper:.3f} ({(lower / upper - 1) * 100:+.1f} %; difference {above.rounded(3)})"
    holds = above.mean <= 0
    certain = len(left) > 1 and (above.high <= 0 if holds else above.low > 0)
    return Claim(claim, paper, ours, holds, certain, f"{held} of {len(left)}", "" if holds else evidence)


def close_to(claim: str, paper: str, left: Sequence[float], right: Sequence[float], evidence: str = "") -> Claim:
    """Return the claim that a figure is close to that of SEQ_best: at most ``CLOSE`` times as much; seed by seed."""
    decided = at_most(claim, paper, left, [CLOSE * cost for cost in right], evidence)
    own, best = statistics.fmean(left), statistics.fmean(right)
    percent = (own / best - 1) * 100
    beside = f"{percent:+.1f} % above" if percent >= 0 else f"{-percent:.1f} % below"
    ratio = Interval.of([cost / other for cost, other in zip(left, right, strict=True)])
    ours = f"{own:.3f} against {CLOSE:g} x {best:.3f} ({beside} SEQ_best; ratio {ratio.rounded(3)})"
    return replace(decided, ours=ours)


def trend(claim: str, paper: str, lines: Sequence[Line], sign: int, *, evidence: str = "") -> Claim:
    """Return the claim that a figure rises (``sign`` 1) or falls (-1): by the slope of the line through it; one a seed.

    Where the means do not do so from every place to the next, that is said too.
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
    """Return the x and the y of all seeds, place by place."""
    xs, ys = (zip(*series, strict=True) for series in zip(*lines, strict=True))
    return list(zip(xs, ys, strict=True))


def result_of(name: str, scale: float, parameters: dict[str, Any], results: Any, claims: Sequence[Claim]) -> Result:
    """Return the result of one figure as its JSON holds it."""
    return {
        "benchmark": name,
        "scale": scale,
        "machine": machine(),
        "parameters": {"seeds": list(seeds_of(scale)), **parameters},
        "results": results,
        "claims": [asdict(claim) for claim in claims],
    }


def write(result: Result, output_dir: Path, plot: Callable[[Result, Path], bool]) -> None:
    """Write ``<name>.json`` and, where matplotlib is installed, ``<name>.png`` and ``<name>.svg``."""
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
    """Format columns as wide as their widest cell, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]

    def line(cells: Sequence[str]) -> str:
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join([cells[0].ljust(widths[0]), *rest])

    return "\n".join([line(headings), "-" * len(line(headings)), *map(line, rows)])
