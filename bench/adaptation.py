"""Figure 9 of the paper: the mean cost of a tuple over time on a changing stream, by the threshold mu from which the
monitor rearranges constructs.

The benchmark also compares two triggers of a rearrangement on a stream with a constant dropping ratio, and measures the
time of the search for a sequence.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.adaptive import HYBRID, MACRO, AdaptiveRun, Kind, adaptive_run, figures, found_on
from bench.datasets import D1, D2, DOMAIN, Q1, check_scale
from bench.experiment import (
    UNSTEADY,
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
from bench.plot_adaptation import plot_thresholds, plot_triggers
from bench.recorded_stream import RecordedStream
from bench.search import search, search_text
from monitor.adaptation import Thresholds
from workloads.mirrored import lopsided_tuples, mirror_image, mirrored_workload
from workloads.predicate_sets import evenly, predicate_set
from workloads.streams import alternating

NEVER = "never"
KINDS: tuple[Kind, ...] = (MACRO, HYBRID)
NUMBERS = (0.0, 0.02, 0.05, 0.1, 0.2)
MUS: tuple[float | str, ...] = (*NUMBERS, NEVER)
TRIGGERS = {
    "dropping ratio": (True, False),
    "cost": (False, True),
    "both": (True, True),
    "none": (False, False),
}
TRIGGER_MU = 0.1
TRIGGER_PAIRS = 20
RECOVERED = 0.1
"""After a change of the stream, the cost counts as recovered if at most this share of its jump is left."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a changing stream.

    ``length``: the number of tuples of a sub-stream. ``sub_streams``: the number of sub-streams. ``period_tuples``:
    lambda, the number of tuples between two checks of the monitor. ``sample_tuples``: the number of tuples of the
    sample from which the monitor finds a sequence. ``point_tuples``: the number of tuples whose mean cost is a point of
    the plot.
    """

    length: int
    sub_streams: int
    period_tuples: int
    sample_tuples: int
    point_tuples: int

    def scaled(self, scale: float) -> Shape:
        """Return the sizes multiplied by ``scale``, except the number of sub-streams. The ratios of the sizes stay the
        same.
        """
        point = max(200, round(self.point_tuples * scale))
        times = point / self.point_tuples
        length, period = (round(count * times) for count in (self.length, self.period_tuples))
        return Shape(length, self.sub_streams, period, max(500, round(self.sample_tuples * times)), point)


THRESHOLDS_SHAPE = Shape(100_000, 4, 16_000, 10_000, 2_000)
TRIGGERS_SHAPE = Shape(100_000, 4, 16_000, 10_000, 2_000)


def run(*, scale: float, output_dir: Path) -> dict[str, Any]:
    """Run all three parts, and return their results by name. Each part writes a JSON, a PNG and an SVG file into the
    folder.
    """
    check_scale(scale)
    results = [_thresholds(scale, output_dir), _triggers(scale, output_dir), search(scale, output_dir)]
    return {result["benchmark"]: result for result in results}


def _thresholds(scale: float, output_dir: Path) -> Result:
    """Measure Figure 9: the cost over a stream that alternates between D1 and D2, with the paper's trigger and several
    values of mu.
    """
    shape = THRESHOLDS_SHAPE.scaled(scale)
    runs = []
    for seed in tqdm(seeds_of(scale), "figure 9", leave=False, disable=None):
        stream, settled = _alternating(shape, seed)
        for kind in KINDS:
            for mu in tqdm(MUS, f"seed {seed}, {kind}", leave=False, disable=None):
                thresholds = _thresholds_of(shape, 0.0 if isinstance(mu, str) else mu, (mu != NEVER, False))
                found = _run(stream, shape, thresholds, kind, seed)
                runs.append({"sequence": kind, "mu": mu, "seed": seed, **_summary(found, shape, settled[kind])})
    parameters = {**asdict(shape), "mus": list(MUS), "trigger": "dropping ratio", "predicates": asdict(Q1)}
    result = result_of("adaptation-figure-9", scale, parameters, {"runs": runs}, threshold_claims(runs))
    write(result, output_dir, plot_thresholds)
    return result


def _triggers(scale: float, output_dir: Path) -> Result:
    """Compare runs with the trigger "dropping ratio", with the trigger "cost", with both and with neither. The best
    order of the stream reverses, while the share of unmatched tuples stays constant.
    """
    shape = TRIGGERS_SHAPE.scaled(scale)
    runs = []
    for seed in tqdm(seeds_of(scale), "triggers", leave=False, disable=None):
        stream, settled = _turning(shape, seed)
        for trigger, which in TRIGGERS.items():
            found = _run(stream, shape, _thresholds_of(shape, TRIGGER_MU, which), MACRO, seed)
            runs.append({"trigger": trigger, "seed": seed, **_summary(found, shape, settled)})
    parameters = {**asdict(shape), "mu": TRIGGER_MU, "sequence": MACRO, "query_pairs": TRIGGER_PAIRS}
    result = result_of("adaptation-triggers", scale, parameters, {"runs": runs}, _trigger_claims(runs))
    write(result, output_dir, plot_triggers)
    return result


def _thresholds_of(shape: Shape, mu: float, which: tuple[bool, bool]) -> Thresholds:
    return Thresholds(shape.period_tuples, mu, dropping_trigger=which[0], cost_trigger=which[1])


def _alternating(shape: Shape, seed: int) -> tuple[RecordedStream, dict[str, list[float]]]:
    """Return a stream that alternates between D1 and D2, and the settled cost in each sub-stream by kind of sequence.

    The settled cost is the cost of a sequence found from a sample of the whole sub-stream.
    """
    parts = [data.tuples(shape.length, data.attributes, seed) for data in (D1, D2)]
    workload = predicate_set(Q1, parts[0].schema.names, evenly(D1.attributes, DOMAIN), seed=seed)
    stream = RecordedStream.of(workload, alternating(parts, shape.length, shape.sub_streams))
    return stream, {kind: _settled(stream, shape, kind, seed) for kind in KINDS}


def _turning(shape: Shape, seed: int) -> tuple[RecordedStream, list[float]]:
    """Return a stream that alternates between tuples and their mirror images, and the settled cost in each
    sub-stream.
    """
    tuples = lopsided_tuples(shape.length, seed=seed)
    workload = mirrored_workload(TRIGGER_PAIRS, seed=seed)
    stream = RecordedStream.of(workload, alternating([tuples, mirror_image(tuples)], shape.length, shape.sub_streams))
    return stream, _settled(stream, shape, MACRO, seed)


def _settled(stream: RecordedStream, shape: Shape, kind: Kind, seed: int) -> list[float]:
    """Return the cost, in each sub-stream, of a sequence found from a sample of that sub-stream."""
    rng = np.random.default_rng(seed)
    costs = []
    for number in range(shape.sub_streams):
        start, stop = number * shape.length, (number + 1) * shape.length
        order = found_on(stream, stream.drawn(shape.sample_tuples, rng, start, stop), kind)
        costs.append(figures(stream, stream.part(start, stop), order).cost)
    return costs


def _run(stream: RecordedStream, shape: Shape, thresholds: Thresholds, kind: Kind, seed: int) -> AdaptiveRun:
    """Evaluate a stream with sequences that the monitor's search replaces, and return the result. As in the paper, the
    first sequence is found from tuples at the beginning of the stream.
    """
    beginning = stream.drawn(shape.sample_tuples, np.random.default_rng(seed), 0, shape.period_tuples)
    first = found_on(stream, beginning, kind)
    return adaptive_run(
        stream,
        thresholds,
        kind=kind,
        sample_tuples=shape.sample_tuples,
        first=first,
        seed=seed,
    )


def _summary(run: AdaptiveRun, shape: Shape, settled: Sequence[float]) -> dict[str, Any]:
    """Return the figures of a run as JSON: the mean cost at each point of the plot, and the tuples until the cost
    recovered after each change of the stream.

    ``excess``: the mean number of constructs per tuple above the settled cost, from the first change on.
    ``recovery_tuples``: the tuples from each change to the end of the first point at which at most a tenth of the jump
    in cost is left. If there is no such point, it is the length of the sub-stream. It is None if the cost did not jump.
    """
    points = [
        float(point.mean())
        for point in np.split(run.costs, range(shape.point_tuples, len(run.costs), shape.point_tuples))
    ]
    a_sub_stream = shape.length // shape.point_tuples
    excesses, recoveries = [], []
    for number in range(1, shape.sub_streams):
        own = points[number * a_sub_stream : (number + 1) * a_sub_stream]
        above = [cost - settled[number] for cost in own]
        excesses.append(statistics.fmean(above))
        back = next((i + 1 for i, excess in enumerate(above) if excess <= RECOVERED * above[0]), len(above))
        jumped = above[0] > 0.01 * settled[number]
        recoveries.append(back * shape.point_tuples if jumped else None)
    return {
        "cost": run.cost,
        "points": [round(cost, 4) for cost in points],
        "settled": list(settled),
        "excess": statistics.fmean(excesses),
        "recovery_tuples": recoveries,
        "overhead_s": run.search_s,
        "rearrangements": [own.as_json() for own in run.rearrangements],
    }


def _recovery(run: Mapping[str, Any]) -> float:
    """Return the mean number of tuples until the cost recovered, over the changes at which the cost jumped. Return 0 if
    the cost never jumped.
    """
    found = [tuples for tuples in run["recovery_tuples"] if tuples is not None]
    return statistics.fmean(found) if found else 0.0


def threshold_claims(runs: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """Return the claims about mu. Only the runs with numeric values of mu decide the claims. The runs with the value
    "never" are only shown.
    """
    claims = []
    for kind in KINDS:
        own = [run for run in runs if run["sequence"] == kind]
        claims += [
            _over_mu(f"{kind}: smaller mu recovers faster", own, _recovery, "tuples to recover", 1),
            _over_mu(
                f"{kind}: smaller mu rearranges more often",
                own,
                lambda run: float(len(run["rearrangements"])),
                "rearrangements",
                -1,
            ),
        ]
    return claims


def _over_mu(
    claim: str, runs: Sequence[Mapping[str, Any]], figure: Callable[[Mapping[str, Any]], float], unit: str, sign: int
) -> Claim:
    """Return a claim decided by the trend of ``figure`` over all values of mu. The claim's text also lists the values
    of mu at which a sequence was rearranged. If some values but not all led to a rearrangement for every seed, the text
    also gives the trend over these values.
    """
    by_case, seeds = {(run["seed"], run["mu"]): run for run in runs}, seeds_in(runs)

    def over(mus: Sequence[float]) -> Claim:
        lines: list[Line] = [(mus, [figure(by_case[seed, mu]) for mu in mus]) for seed in seeds]
        return trend(claim, "Fig. 9, no figure survives", lines, sign, evidence=_largest_change(runs))

    over_all = over(NUMBERS)
    found = [Interval.of([figure(by_case[seed, mu]) for seed in seeds]) for mu in NUMBERS]
    shown = [f"mu {mu:g}: {_counted(own)}" for mu, own in zip(NUMBERS, found, strict=True)]
    ours = f"{', '.join(shown)} {unit}{UNSTEADY if over_all.ours.endswith(UNSTEADY) else ''}"
    fired = {mu: sum(bool(by_case[seed, mu]["rearrangements"]) for seed in seeds) for mu in NUMBERS}
    at_all = [f"mu {mu:g} for {count} of {len(seeds)} seeds" for mu, count in fired.items() if count]
    ours += f"; rearranged at all: {', '.join(at_all) or 'none'}"
    always = [mu for mu, count in fired.items() if count == len(seeds)]
    if 1 < len(always) < len(NUMBERS):
        among = over(always)
        ours += f"; over those alone that did for every seed: {among.verdict}, holds for {among.seeds}"
    return replace(over_all, ours=ours)


def _counted(found: Interval) -> str:
    digits = 0 if found.mean >= 100 else 1
    return f"{found.mean:,.{digits}f} ± {found.half:,.{digits}f}"


def _largest_change(runs: Sequence[Mapping[str, Any]]) -> str:
    changes = [
        abs(own["current"]["dropping_ratio"] / own["initial"]["dropping_ratio"] - 1)
        for run in runs
        if run["mu"] == 0
        for own in run["rearrangements"]
        if own["initial"] and own["initial"]["dropping_ratio"]
    ]
    if not changes:
        return "no sequence was rearranged"
    largest = f"from one look to the next the dropping ratio changed by {max(changes):.1%} at most"
    return f"{largest}: a larger mu than that never rearranges"


def _trigger_claims(runs: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """Return claims about which trigger is better, a question that section 5.2 of the paper leaves open. The paper does
    not make these claims.
    """

    def noticed(trigger: str, seed: int | None = None) -> float:
        own = [run for run in runs if run["trigger"] == trigger and seed in (None, run["seed"])]
        return statistics.fmean(len(run["rearrangements"]) for run in own)

    def excess(trigger: str) -> float:
        return statistics.fmean(run["excess"] for run in runs if run["trigger"] == trigger)

    claims, seeds = [], seeds_in(runs)
    for trigger, expected in (("dropping ratio", False), ("cost", True)):
        holds = (noticed(trigger) > 0) == expected
        held = sum((noticed(trigger, seed) > 0) == expected for seed in seeds)
        ours = f"{noticed(trigger):.1f} rearrangements, {excess(trigger):.2f} constructs a tuple above the settled cost"
        verb = "notices" if expected else "does not notice"
        claims.append(
            Claim(
                f"the {trigger} trigger {verb} a change of order at an equal share of unmatched tuples",
                "not in the paper; follows from Definition 4",
                ours,
                holds,
                len(seeds) > 1 and held == (len(seeds) if holds else 0),
                f"{held} of {len(seeds)}",
            )
        )
    return claims


def table(results: dict[str, Any]) -> str:
    """Return the results as text."""
    thresholds, triggers, searches = results.values()
    return "\n\n".join([_text(thresholds, ["sequence", "mu"]), _text(triggers, ["trigger"]), search_text(searches)])


def _text(result: Result, keys: Sequence[str]) -> str:
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run in result["results"]["runs"]:
        groups.setdefault(tuple(str(run[key]) for key in keys), []).append(run)
    rows = []
    for head, runs in groups.items():
        rows.append(
            [
                *head,
                *(str(Interval.of([run[key] for run in runs])) for key in ("cost", "excess")),
                _counted(Interval.of([_recovery(run) for run in runs])),
                Interval.of([float(len(run["rearrangements"])) for run in runs]).rounded(1),
                Interval.of([run["overhead_s"] for run in runs]).rounded(3),
            ]
        )
    headings = [*keys, "cost", "above settled", "tuples to recover", "rearrangements", "overhead s"]
    parameters = result["parameters"]
    title = (
        f"{result['benchmark']}: {parameters['sub_streams']} sub-streams of {parameters['length']:,} tuples, lambda "
        f"{parameters['period_tuples']:,}, mean ± 95 % interval over {len(parameters['seeds'])} seeds"
    )
    return "\n".join([title, columns_text(headings, rows), claims_text(result)])
