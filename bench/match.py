"""The performance of the executor on one thread, without Spark and Kafka: time per tuple, bytes per query and build
time, compared with brute force.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from asc.evaluation.executor import match
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from bench.brute_force import TUPLES_TOGETHER, bounds_of, dense_bounds, early_exit_scan
from bench.machine import machine
from bench.plot import plot_match
from bench.result_file import write_result
from bench.timed import medians_in_turns, timed
from workloads.synthetic import Workload, d1_workload, hem_workload, uniform_tuples

Contender = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement. ``tuples``: the number of tuples for the engine. ``evaluations``: the number of
    evaluations (tuples x queries) for each rival. ``queries``: the numbers of queries. ``repetitions``: the number of
    runs of each contender.
    """

    tuples: int
    evaluations: int
    queries: tuple[int, ...]
    repetitions: int


FULL = Size(400_000, 20_000_000, (10, 100, 1_000, 10_000), 5)
QUICK = Size(20_000, 1_000_000, (10, 100, 1_000), 1)

WORKLOADS: dict[str, Callable[[int], Workload]] = {"D1": d1_workload, "HEM-like": hem_workload}


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``match.json`` and its plot into the folder, and return the content of the JSON file.

    The contenders run alternately, so that a slow moment of the machine affects all contenders. Raises RuntimeError if
    two contenders disagree on the number of matches.
    """
    size = QUICK if quick else FULL
    cases = [(name, queries) for name in WORKLOADS for queries in size.queries]
    results = [_measured(name, WORKLOADS[name](queries), size) for name, queries in tqdm(cases, leave=False)]
    result = {"benchmark": "match", "quick": quick, "machine": machine(), "results": results}
    write_result(output_dir, "match", result)
    plot_match(result, output_dir / "match")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as text: milliseconds per tuple of each contender, and the cost of the index."""
    head = f"{'workload':<10}{'queries':>8}{'tuples/s':>12}" + "".join(
        f"{title:>12}"
        for title in ("ms/tuple", "brute", "scan", "matches", "bytes/query", "build ms", "text ms", "add ms")
    )
    lines = [head, "-" * len(head)]
    for row in result["results"]:
        lines.append(
            f"{row['workload']:<10}{row['queries']:>8,}{row['tuples_per_s']:>12,.0f}{row['engine_ms']:>12.5f}"
            f"{row['brute_force_ms']:>12.5f}{row['scan_ms']:>12.5f}{row['matches_per_tuple']:>12.3f}"
            f"{row['bytes_per_query']:>12.0f}{row['build_ms']:>12.1f}{row['text_ms']:>12.1f}{row['add_ms']:>12.2f}"
        )
    return "\n".join(lines)


def _measured(name: str, workload: Workload, size: Size) -> dict[str, Any]:
    queries = workload.standing_queries()
    plan = compile_plan(queries)
    tuples = uniform_tuples(size.tuples, attributes=workload.attributes, domain=workload.domain)
    few = tuples.slice(0, max(TUPLES_TOGETHER, min(size.tuples, size.evaluations // len(queries))))
    contenders: dict[str, tuple[Contender, int]] = {
        "engine": (_engine(plan, tuples), size.tuples),
        "brute_force": (_brute_force(workload, few), few.num_rows),
        "scan": (_scan(workload, few), few.num_rows),
    }
    counts = {contender: work() for contender, (work, _) in contenders.items()}
    expected = _engine(plan, few)()
    if {counts["brute_force"], counts["scan"]} != {expected}:
        raise RuntimeError(f"{name}, {len(queries)} queries: matches differ: {counts}, {expected} expected")
    medians = medians_in_turns({contender: work for contender, (work, _) in contenders.items()}, size.repetitions)
    ms = {f"{contender}_ms": medians[contender] / rows * 1e3 for contender, (_, rows) in contenders.items()}
    return {
        "workload": name,
        "queries": len(queries),
        "tuples_per_s": 1e3 / ms["engine_ms"],
        **ms,
        "matches_per_tuple": counts["engine"] / size.tuples,
        "bytes_per_query": plan.nbytes / len(queries),
        "blocks": len(plan.blocks),
        **_build_times(workload, queries, plan, size.repetitions),
    }


def _build_times(workload: Workload, queries: list[Query], plan: Plan, repetitions: int) -> dict[str, float]:
    """Measure three times in milliseconds: to compile all queries from normal form, to compile all queries from text,
    and to add one query to the plan.
    """
    schema = Schema.from_arrow(workload.schema())
    texts = workload.texts()

    def from_text() -> None:
        compile_plan([replace(q, predicate=normalise(t, schema)) for q, t in zip(queries, texts, strict=True)])

    more = replace(queries[0], id="one more")
    return {
        "build_ms": statistics.median(timed(lambda: compile_plan(queries)) for _ in range(repetitions)) * 1e3,
        "text_ms": timed(from_text) * 1e3,
        "add_ms": statistics.median(timed(lambda: change_plan(plan, add=[more])) for _ in range(repetitions)) * 1e3,
    }


def _engine(plan: Plan, tuples: pa.Table) -> Contender:
    columns = [tuples[attribute.sql] for attribute in plan.p_attributes]
    return lambda: len(match(plan, columns, tuples.num_rows))


def _brute_force(workload: Workload, tuples: pa.Table) -> Contender:
    low, high = bounds_of(workload)
    values = _dense(tuples)
    alive = np.empty((TUPLES_TOGETHER, workload.queries), dtype=np.uint8)
    return lambda: dense_bounds(values, low, high, alive)


def _scan(workload: Workload, tuples: pa.Table) -> Contender:
    first = np.searchsorted(workload.owner, np.arange(workload.queries + 1))
    values = _dense(tuples)
    return lambda: early_exit_scan(values, first, workload.attribute, workload.low, workload.high)


def _dense(tuples: pa.Table) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.stack([column.to_numpy() for column in tuples.columns])
