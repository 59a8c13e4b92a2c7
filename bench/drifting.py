"""The time that the monitor saves in the evaluation of alerts over slowly changing streams. Only the executor runs, on
one thread, without Spark and Kafka.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from asc.plan.compiler import compile_plan
from bench.drifting_contest import (
    BEST,
    CONTESTANTS,
    HYBRID,
    MACRO,
    OFF,
    ON,
    MonitoredPlan,
    batch_of,
    contest,
    drawn_from,
    fixed_plans,
)
from bench.experiment import columns_text
from bench.interval import Interval
from bench.machine import machine
from bench.plot_drifting import plot_drifting
from broker.config.sections import MonitorConfig
from broker.runtime.warm_up import compile_kernels
from workloads.drifting_tuples import Drift, turning, wandering
from workloads.placed_alerts import MEASURES, PLACES, placed_alerts
from workloads.synthetic import Workload, alerts_workload

NAME = "monitor-drifting"

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of queries together with a kind of drift. ``queries``: a function that draws queries, given their number
    and a seed. ``drift``: a function that draws the drift of a stream, given the number of segments and a seed.
    """

    title: str
    queries: Callable[[int, int], Workload]
    drift: Callable[[int, int], Drift]


SCENARIOS = {
    "any": Scenario(
        "alerts on any attributes",
        lambda queries, seed: alerts_workload(queries, seed=seed),
        lambda segments, seed: wandering(segments, seed=seed),
    ),
    "placed": Scenario(
        "alerts on measures and places",
        lambda queries, seed: placed_alerts(queries, seed=seed),
        lambda segments, seed: turning(segments, measures=MEASURES, places=PLACES, seed=seed),
    ),
}
"""The scenarios by name. ``any``: alerts constrain any attributes. Nearly all constructs must then be evaluated in
every order, so no order can gain. ``placed``: a few attributes exclude most alerts, and the data determines which
attributes do.
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the comparison.

    ``cases``: by number of queries, the number of seeds and the number of tuples of a batch. ``segments``: the number
    of segments of a stream. ``batches``: the number of batches of a segment. ``runs``: the number of measured runs of a
    batch. ``period``: the number of batches between two measurements of the monitor. ``sample``: the number of tuples
    of a sample.
    """

    cases: Mapping[int, tuple[int, int]]
    segments: int
    batches: int
    runs: int
    period: int
    sample: int


FULL = Size({1_000: (10, 50_000), 10_000: (10, 20_000), 100_000: (5, 5_000)}, 4, 10, 1, 2, 10_000)
QUICK = Size({1_000: (2, 2_000)}, 2, 6, 1, 2, 2_000)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``monitor-drifting.json`` and its plot, and return the content of the file."""
    size = QUICK if quick else FULL
    # Compile the kernels in advance. Otherwise their compilation would count as time of the monitor's first
    # measurement.
    compile_kernels()
    wanted = [
        (name, queries, seed)
        for name in SCENARIOS
        for queries, (seeds, _) in size.cases.items()
        for seed in range(1, seeds + 1)
    ]
    cases = [
        {"scenario": name, "queries": queries, "seed": seed, **_case(SCENARIOS[name], queries, seed, size)}
        for name, queries, seed in tqdm(wanted, desc="drifting", leave=False, disable=None)
    ]
    result = {
        "benchmark": NAME,
        "quick": quick,
        "machine": machine(),
        "size": asdict(size),
        "settings": _settings(size, 1).model_dump(mode="json", exclude={"lambda_tuples"}),
        "scenarios": {name: scenario.title for name, scenario in SCENARIOS.items()},
        "summary": [_summary(cases, *group) for group in dict.fromkeys((name, queries) for name, queries, _ in wanted)],
        "cases": cases,
    }
    output_dir.mkdir(parents=True, exist_ok=True)
    # Parsed from the written text, because numbers of queries as keys become texts in JSON.
    text = json.dumps(result, indent=2)
    (output_dir / f"{NAME}.json").write_text(text + "\n")
    written: dict[str, Any] = json.loads(text)
    plot_drifting(written, output_dir / NAME)
    return written


def _settings(size: Size, rows: int) -> MonitorConfig:
    """Return the default settings of the monitor, adapted to a stream of few tuples. The monitor may use a whole core.

    The monitor measures as often as the stream changes. In a daemon such a slow change takes hours, so that the
    monitor's default share of a core suffices.
    """
    return MonitorConfig(lambda_tuples=size.period * rows, sample_tuples=size.sample, max_core_share=1.0)


def _case(scenario: Scenario, queries: int, seed: int, size: Size) -> dict[str, Any]:
    """Run all contestants over one stream, and return the time of each."""
    workload, drift = scenario.queries(queries, seed), scenario.drift(size.segments, seed)
    plan, rows = compile_plan(workload.standing_queries()), size.cases[queries][1]
    stream = drift.batches(size.batches, rows, domain=workload.domain, seed=seed)
    batches = [batch_of(plan, tuples) for tuples in stream]
    # Draw the tuples of the first sample from the distribution at the beginning of the stream, but not from the tuples
    # of the stream.
    initial = drift.beginning(size.sample, domain=workload.domain, seed=seed)
    first = [batch_of(plan, initial.slice(start, rows)) for start in range(0, size.sample, rows)]
    fixed = fixed_plans(plan, batch_of(plan, initial), drawn_from(batches, size.sample))
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as folder,
        MonitoredPlan(plan, _settings(size, rows), Path(folder)) as monitored,
    ):
        course = contest(fixed, monitored, first, batches, size.runs)
    return {"blocks": len(plan.blocks), "rows": rows, **course.as_json()}


def _summary(cases: Sequence[Case], scenario: str, queries: int) -> dict[str, Any]:
    """Compute means over the seeds with their intervals. Ratios are computed for each seed.

    ``gain``: the matching time with the monitor off divided by the matching time with it on. ``net``: the same ratio if
    the time with the monitor on includes all work for the monitor. ``share``: the share of this work in the total time
    with the monitor on.

    ``times_slower``: how many times slower the stream has to change until the gain pays for the search; None if there
    is no gain. Drawing a few tuples (``steady_us``) costs time permanently, however slow the changes are. Drawing more
    tuples and searching costs time once per change. Workers also count with the monitor off.
    """
    scenario_cases = [case for case in cases if (case["scenario"], case["queries"]) == (scenario, queries)]
    spent = [case["us"][ON] + case["drawing_us"] + case["own_us"] for case in scenario_cases]
    off, on, drawing, steady, finding = (
        statistics.fmean(_figure(case, name) for case in scenario_cases)
        for name in (OFF, ON, "drawing_us", "steady_us", "own_us")
    )
    saved = off - on - steady
    return {
        "scenario": scenario,
        "queries": queries,
        "seeds": len(scenario_cases),
        "rows": scenario_cases[0]["rows"],
        "us": {name: _interval([case["us"][name] for case in scenario_cases]) for name in CONTESTANTS},
        "ratios": {
            name: _interval([case["us"][OFF] / case["us"][name] for case in scenario_cases])
            for name in (MACRO, HYBRID, BEST)
        },
        "gain": _interval([case["us"][OFF] / case["us"][ON] for case in scenario_cases]),
        "over_best": _interval([case["us"][BEST] / case["us"][ON] for case in scenario_cases]),
        "net": _interval([case["us"][OFF] / total for case, total in zip(scenario_cases, spent, strict=True)]),
        "share": _interval([1 - case["us"][ON] / total for case, total in zip(scenario_cases, spent, strict=True)]),
        "drawing_us": drawing,
        "steady_us": steady,
        "own_us": finding,
        "times_slower": (finding + max(0.0, drawing - steady)) / saved if saved > 0 else None,
        "rearrangements": _interval([float(case["rearrangements"]) for case in scenario_cases]),
        "dropped": Interval.of([case["dropped"] for case in scenario_cases]).mean,
        "matches_a_tuple": Interval.of([case["matches_a_tuple"] for case in scenario_cases]).mean,
    }


def _figure(case: Case, name: str) -> float:
    found: float = case["us"][name] if name in CONTESTANTS else case[name]
    return found


def _interval(values: Sequence[float]) -> dict[str, float]:
    return asdict(Interval.of(values))


def table(result: Mapping[str, Any]) -> str:
    """Return the result as lines of text, followed by the conclusions."""
    size = result["size"]
    rows, gains = [], []
    for summary in result["summary"]:
        tuples = size["segments"] * size["batches"] * summary["rows"]
        head = [summary["scenario"], f"{summary['queries']:,}", f"{tuples:,}", str(summary["seeds"])]
        rows.append([*head, *(_shown(summary["us"][name], 3) for name in CONTESTANTS)])
        slower = "-" if summary["times_slower"] is None else f"{summary['times_slower']:.1f}"
        figures = [_shown(summary[name], 3) for name in ("gain", "over_best", "net")]
        more = [f"{summary['share']['mean']:.1%}", f"{summary['rearrangements']['mean']:.1f}", slower]
        gains.append([*head[:2], *figures, *more])
    titles = [f"  {name}: {title}" for name, title in result["scenarios"].items()]
    return "\n".join(
        [
            f"{NAME}: {size['segments']} segments; microseconds a tuple, one thread, mean and 95 % "
            "interval over the seeds",
            *titles,
            columns_text(["alerts", "queries", "tuples", "seeds", *CONTESTANTS], rows),
            "static is also what runs with the monitor off: it is run once",
            "",
            "the monitor on against off (static), and against the best fixed order; net of all its own time, of which "
            "the share;\nand how many times as slowly the stream would have to change for it to pay",
            columns_text(["alerts", "queries", "gain", "over best", "net", "share", "rearranged", "slower"], gains),
            "",
            *(wrapped for line in verdicts(result["summary"]) for wrapped in _wrapped(line)),
        ]
    )


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, 118, subsequent_indent="  ")


def verdicts(summary: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line of text about the gain for each kind of alerts and number of queries. A line says faster or slower
    only if this holds for the whole interval.
    """
    return [
        f"{own['scenario']}, {own['queries']:,} queries: the monitor on is "
        f"{_verdict(own['gain'], own['seeds'])} than off, {_verdict(own['over_best'], own['seeds'])} than the best "
        f"fixed order; its own time counted in, {_verdict(own['net'], own['seeds'])} than off"
        for own in summary
    ]


def _verdict(ratio: Mapping[str, float], seeds: int) -> str:
    if seeds > 1 and ratio["low"] > 1:
        return f"faster ({ratio['low']:.3f} to {ratio['high']:.3f} times)"
    if seeds > 1 and ratio["high"] < 1:
        return f"slower ({ratio['low']:.3f} to {ratio['high']:.3f} times)"
    return "not certainly faster or slower"


def _shown(interval: Mapping[str, float], digits: int) -> str:
    return Interval(**interval).rounded(digits)
