"""The time of the monitor's search for a sequence of constructs, in seconds on one core, by number of queries."""

from __future__ import annotations

import statistics
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.adaptive import HYBRID, MACRO, REFINED, Kind, found_on
from bench.datasets import D1, Q1, with_queries
from bench.experiment import Claim, Result, claims_text, columns_text, result_of, seeds_of, write
from bench.interval import Interval
from bench.plot_adaptation import plot_search
from bench.timed import timed

KINDS: tuple[Kind, ...] = (MACRO, HYBRID, REFINED)
QUERIES = (100, 1_000, 4_096)
TUPLES = 10_000
REPETITIONS = 5
"""The number of measured runs of each kind of sequence for each seed. One unmeasured run precedes the measured runs."""

LIMIT_QUERIES = 1_000
LIMIT_S = 1.0


def search(scale: float, output_dir: Path) -> Result:
    """Measure the seconds to find a macro-, a hybrid- and a refined hybrid-sequence from a sample.

    The time of a hybrid-sequence includes the time of its macro-sequence. The tuples are uniform (D1). The search is
    slowest for uniform tuples, because the first constructs drop few of them.
    """
    tuples = max(500, round(TUPLES * scale))
    wanted = [(queries, seed) for queries in QUERIES for seed in seeds_of(scale)]
    cases = [_case(queries, tuples, seed) for queries, seed in tqdm(wanted, desc="search", leave=False, disable=None)]
    parameters = {
        "sample_tuples": tuples,
        "p_attributes": D1.attributes,
        "queries": list(QUERIES),
        "repetitions": REPETITIONS,
        "predicates": asdict(Q1),
    }
    result = result_of("adaptation-search", scale, parameters, {"cases": cases}, _claims(cases, tuples))
    write(result, output_dir, plot_search)
    return result


def _case(queries: int, tuples: int, seed: int) -> dict[str, Any]:
    stream, came_out = D1.stream(with_queries(Q1, queries), rows=tuples, attributes=D1.attributes, seed=seed)
    runs: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for repetition in range(REPETITIONS + 1):
        for kind in KINDS:
            seconds = timed(partial(found_on, stream, stream.whole, kind))
            if repetition > 0:
                runs[kind].append(seconds)
    medians = {kind: statistics.median(own) for kind, own in runs.items()}
    return {"queries": queries, "seed": seed, "realised": came_out, "median_s": medians, "runs_s": runs}


def _claims(cases: list[dict[str, Any]], tuples: int) -> list[Claim]:
    claims = []
    for kind in (HYBRID, REFINED):
        seconds = [case["median_s"][kind] for case in cases if case["queries"] == LIMIT_QUERIES]
        interval = Interval.of(seconds)
        holds = interval.mean <= LIMIT_S
        claims.append(
            Claim(
                f"{kind}: found within {LIMIT_S:g} s from {tuples:,} tuples at {LIMIT_QUERIES:,} queries, on one core",
                "not in the paper; what a sequence may cost beside a stream",
                f"{interval.rounded(3)} s",
                holds,
                len(seconds) > 1 and (interval.high <= LIMIT_S if holds else interval.low > LIMIT_S),
                f"{sum(own <= LIMIT_S for own in seconds)} of {len(seconds)}",
            )
        )
    return claims


def search_text(result: Result) -> str:
    """Return the result as text."""
    parameters = result["parameters"]
    rows = []
    for queries in parameters["queries"]:
        own = [case["median_s"] for case in result["results"]["cases"] if case["queries"] == queries]
        rows.append([f"{queries:,}", *(Interval.of([medians[kind] for medians in own]).rounded(3) for kind in KINDS)])
    title = (
        f"{result['benchmark']}: seconds to find a sequence from {parameters['sample_tuples']:,} tuples x "
        f"{parameters['p_attributes']} p-attributes, on one core;\n"
        f"median of {parameters['repetitions']} runs, mean ± 95 % interval over {len(parameters['seeds'])} seeds"
    )
    return "\n".join([title, columns_text(["queries", *KINDS], rows), claims_text(result)])
