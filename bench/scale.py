"""The executor with up to a million standing queries, where few and where many of them accept a tuple."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from bench.brute_force import TUPLES_TOGETHER, bounds_of, dense_bounds, early_exit_lists
from bench.machine import machine
from bench.plot import plot_scale
from bench.timed import medians_in_turns
from workloads.mixed import mixed_workload
from workloads.synthetic import Integers, Values, Workload, alerts_workload, hem_workload, uniform_tuples

SMALL_BATCH = 256


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of queries, tuples of a batch, evaluations (tuples x queries) for the rivals, runs of each."""

    queries: tuple[int, ...]
    batch: int
    evaluations: int
    repetitions: int


FULL = Size((1_000, 10_000, 100_000, 1_000_000), 10_000, 50_000_000, 5)
QUICK = Size((300,), 500, 200_000, 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Contest:
    """Queries, and the same in codes: predicate i of query ``owner[i]`` holds where the code of its attribute lies in
    one of the ranges ``first[i]`` to ``first[i + 1]``. ``tuples`` makes so many, with their codes int32[attributes,
    rows]. ``dense`` has the bounds int32[attributes, queries] where each predicate is one range.
    """

    queries: list[Query]
    tuples: Callable[[int], tuple[pa.Table, Values]]
    owner: Integers
    attribute: Integers
    first: Integers
    low: Integers
    high: Integers
    dense: tuple[Values, Values] | None


def _mixed(queries: int) -> _Contest:
    workload = mixed_workload(queries)
    ranges = (workload.owner, workload.attribute, workload.first, workload.low, workload.high)
    return _Contest(workload.standing_queries(), workload.tuples, *ranges, None)


def _of_ranges(workload: Workload) -> _Contest:
    def tuples(rows: int) -> tuple[pa.Table, Values]:
        table = uniform_tuples(rows, attributes=workload.attributes, domain=workload.domain)
        return table, np.stack([column.to_numpy() for column in table.columns])

    first = np.arange(len(workload.owner) + 1)
    ranges = (workload.owner, workload.attribute, first, workload.low, workload.high)
    return _Contest(workload.standing_queries(), tuples, *ranges, bounds_of(workload))


WORKLOADS: dict[str, Callable[[int], _Contest]] = {
    "HEM-like": lambda queries: _of_ranges(hem_workload(queries)),
    "mixed": _mixed,
    "alerts": lambda queries: _of_ranges(alerts_workload(queries)),
}


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything and write ``scale.json`` and its plot into the folder; the result is what the JSON holds.

    The contenders take turns, so that a slow moment of the machine hits all of them. Raises RuntimeError where two of
    them disagree on the number of matches.
    """
    size = QUICK if quick else FULL
    cases = [(name, queries) for name in WORKLOADS for queries in size.queries]
    results = [_measured(name, queries, size) for name, queries in tqdm(cases, leave=False)]
    result = {"benchmark": "scale", "quick": quick, "machine": machine(), "batch": size.batch, "results": results}
    output_dir.mkdir(parents=True, exist_ok=True)
    (output_dir / "scale.json").write_text(json.dumps(result, indent=2) + "\n")
    plot_scale(result, output_dir / "scale")
    return result


def table(result: dict[str, Any]) -> str:
    """The result as text: microseconds a tuple of each contender, and what the index costs."""
    titles = (
        "pairs us",
        f"in {SMALL_BATCH}s",
        "ids us",
        "x brute",
        "x scan",
        "ids x",
        "matches",
        "tuples/s",
        "B/query",
    )
    head = f"{'workload':<10}{'queries':>10}" + "".join(f"{title:>10}" for title in (*titles, "build s"))
    lines = [head, "-" * len(head)]
    for row in result["results"]:
        pairs, ids, scan = row["pairs_us"], row["ids_us"], row["scan_us"]
        brute = f"{row['brute_force_us'] / pairs:>10.1f}" if "brute_force_us" in row else f"{'-':>10}"
        lines.append(
            f"{row['workload']:<10}{row['queries']:>10,}{pairs:>10.2f}{row['small_batch_us']:>10.2f}{ids:>10.2f}{brute}"
            f"{scan / pairs:>10.1f}{scan / ids:>10.1f}{row['matches_a_tuple']:>10.2f}{row['tuples_a_s']:>10,.0f}"
            f"{row['bytes_a_query']:>10.0f}{row['build_s']:>10.2f}"
        )
    return "\n".join(lines)


def _measured(name: str, queries: int, size: Size) -> dict[str, Any]:
    contest = WORKLOADS[name](queries)
    begun = time.perf_counter()
    plan = compile_plan(contest.queries)
    build_s = time.perf_counter() - begun
    tuples, codes = contest.tuples(size.batch)
    few = min(size.batch, max(TUPLES_TOGETHER, size.evaluations // queries))
    columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    contenders = dict(_contenders(plan, columns, contest, np.ascontiguousarray(codes[:, :few])))
    found = {contender: work() for contender, (work, _) in contenders.items()}
    expected = len(match(plan, [column.slice(0, few) for column in columns], few))
    rivals = {contender: count for contender, count in found.items() if contender in ("scan", "brute_force")}
    if {*rivals.values()} != {expected} or len({found["pairs"], found["ids"]}) != 1:
        raise RuntimeError(f"{name}, {queries} queries: matches differ: {found}, {expected} expected of the rivals")
    medians = medians_in_turns({contender: work for contender, (work, _) in contenders.items()}, size.repetitions)
    us = {f"{contender}_us": medians[contender] / rows * 1e6 for contender, (_, rows) in contenders.items()}
    all_cores_us = us.pop("all_cores_us")
    return {
        "workload": name,
        "queries": queries,
        **us,
        "tuples_a_s": 1e6 / all_cores_us,
        "matches_a_tuple": found["pairs"] / size.batch,
        "bytes_a_query": plan.nbytes / queries,
        "blocks": len(plan.blocks),
        "build_s": build_s,
    }


def _contenders(
    plan: Plan, columns: list[pa.Array], contest: _Contest, codes: Values
) -> Iterator[tuple[str, tuple[Callable[[], int], int]]]:
    """Each by name: what it does, returning the number of matches, and of how many tuples."""
    rows, few = len(columns[0]), codes.shape[1]
    small = [column.slice(0, min(rows, SMALL_BATCH)) for column in columns]
    cores = os.cpu_count() or 1

    def ids() -> int:
        found = match(plan, columns, rows)
        return len(plan.query_ids.take(pa.array(found.queries)))

    def on_all_cores() -> int:
        with ThreadPoolExecutor(cores) as threads:
            return sum(threads.map(lambda _: len(match(plan, columns, rows)), range(cores)))

    yield "pairs", (lambda: len(match(plan, columns, rows)), rows)
    yield "ids", (ids, rows)
    yield "small_batch", (lambda: len(match(plan, small, len(small[0]))), len(small[0]))
    yield "all_cores", (on_all_cores, rows * cores)
    starts = np.searchsorted(contest.owner, np.arange(len(contest.queries) + 1))
    ranges = (contest.attribute, contest.first, contest.low, contest.high)
    yield "scan", (lambda: early_exit_lists(codes, starts, ranges), few)
    if contest.dense is not None:
        low, high = contest.dense
        alive = np.empty((TUPLES_TOGETHER, len(contest.queries)), dtype=np.uint8)
        yield "brute_force", (lambda: dense_bounds(codes, low, high, alive), few)
