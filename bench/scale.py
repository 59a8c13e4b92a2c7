"""The performance of the executor with up to a million standing queries, of which few or many accept a tuple, over
generated and over recorded tuples.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from bench.brute_force import TUPLES_TOGETHER, bounds_of, dense_bounds, early_exit_lists
from bench.machine import machine
from bench.plot import plot_scale
from bench.result_file import write_result
from bench.timed import medians_in_turns
from workloads.drawn_predicates import CodedColumn, DrawnWorkload, coded, drawn_workload
from workloads.errors import MissingDataError
from workloads.mixed import MixedWorkload, mixed_workload
from workloads.real_data import REAL_DATA
from workloads.synthetic import Integers, Values, Workload, alerts_workload, hem_workload, uniform_tuples

SMALL_BATCH = 256


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement.

    ``queries``: the numbers of queries. ``batch``: the number of tuples of a batch. ``evaluations``: the number of
    evaluations (tuples x queries) of a rival. ``repetitions``: the number of runs of each contender. ``pairs``: the
    largest number of (tuple, query) pairs in a batch. A batch with more pairs is shortened, but not below a minimum
    length.
    """

    queries: tuple[int, ...]
    batch: int
    evaluations: int
    repetitions: int
    pairs: int


FULL = Size((1_000, 10_000, 100_000, 1_000_000), 8_192, 50_000_000, 5, 80_000_000)
QUICK = Size((300,), 500, 200_000, 1, 1_000_000)


@dataclass(frozen=True, slots=True, eq=False)
class _Contest:
    """A workload that all contenders evaluate: queries, and the same queries as ranges of codes. Predicate i belongs to
    query ``owner[i]``. The predicate has the ranges from ``first[i]`` to before ``first[i + 1]``, and holds if the code
    of its attribute lies in one of these ranges. ``tuples`` is a function that makes a number of tuples, and their
    codes int32[attributes, rows]. ``dense`` has two arrays int32[attributes, queries], the least and the greatest
    accepted codes, if each predicate is one range. Otherwise, ``dense`` is None.
    """

    queries: list[Query]
    tuples: Callable[[int], tuple[pa.Table, Values]]
    owner: Integers
    attribute: Integers
    first: Integers
    low: Integers
    high: Integers
    dense: tuple[Values, Values] | None


def _drawn(columns: Sequence[CodedColumn], queries: int) -> _Contest:
    return _coded(drawn_workload(columns, queries))


def _coded(workload: MixedWorkload | DrawnWorkload) -> _Contest:
    ranges = (workload.owner, workload.attribute, workload.first, workload.low, workload.high)
    return _Contest(workload.standing_queries(), workload.tuples, *ranges, None)


def _of_ranges(workload: Workload) -> _Contest:
    def tuples(rows: int) -> tuple[pa.Table, Values]:
        table = uniform_tuples(rows, attributes=workload.attributes, domain=workload.domain)
        return table, np.stack([column.to_numpy() for column in table.columns])

    first = np.arange(len(workload.owner) + 1)
    ranges = (workload.owner, workload.attribute, first, workload.low, workload.high)
    return _Contest(workload.standing_queries(), tuples, *ranges, bounds_of(workload))


Made = Callable[[int], _Contest]
"""A function that makes a workload from a number of queries."""

WORKLOADS: dict[str, Made] = {
    "HEM-like": lambda queries: _of_ranges(hem_workload(queries)),
    "mixed": lambda queries: _coded(mixed_workload(queries)),
    "alerts": lambda queries: _of_ranges(alerts_workload(queries)),
}


def run(*, quick: bool, output_dir: Path, data: Path | None = None) -> dict[str, Any]:
    """Measure everything, write ``scale.json`` and its plot into the folder, and return the content of the JSON file.

    ``data``: the folder of recorded tuples (:mod:`workloads.real_data`). The result names the recorded tuples that the
    folder lacks and that are not packaged. The contenders run alternately, so that a slow moment of the machine affects
    all contenders. Raises RuntimeError if two contenders disagree on the number of matches, and WorkloadError for a
    damaged file.
    """
    size = QUICK if quick else FULL
    results: list[dict[str, Any]] = []
    excluded: list[str] = []
    recorded: dict[str, dict[str, int]] = {}
    steps = tqdm(total=(len(WORKLOADS) + len(REAL_DATA)) * len(size.queries), leave=False, disable=None)
    for name, made in WORKLOADS.items():
        results += _of_sizes(name, made, size, steps)
    for name in REAL_DATA:
        try:
            tuples = REAL_DATA[name](data)
        except MissingDataError as missing:
            excluded.append(str(missing))
            continue
        recorded[name] = {"tuples": tuples.num_rows, "columns": tuples.num_columns}
        results += _of_sizes(name, partial(_drawn, coded(tuples)), size, steps)
    steps.close()
    result = {
        "benchmark": "scale",
        "quick": quick,
        "machine": machine(),
        "batch": size.batch,
        "recorded": recorded,
        "left_out": excluded,
        "results": results,
    }
    write_result(output_dir, "scale", result)
    plot_scale(result, output_dir / "scale")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as text: microseconds per tuple of each contender, the cost of the index, and the recorded
    tuples used and missing.
    """
    titles = (
        "rows",
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
            f"{row['workload']:<10}{row['queries']:>10,}{row['rows']:>10,}{pairs:>10.2f}{row['small_batch_us']:>10.2f}{ids:>10.2f}{brute}"
            f"{scan / pairs:>10.1f}{scan / ids:>10.1f}{row['matches_a_tuple']:>10.2f}{row['tuples_a_s']:>10,.0f}"
            f"{row['bytes_a_query']:>10.0f}{row['build_s']:>10.2f}"
        )
    shapes = (f"{name} {own['tuples']:,} x {own['columns']}" for name, own in result["recorded"].items())
    lines += ["", f"recorded tuples: {', '.join(shapes)}", *(f"left out: {missing}" for missing in result["left_out"])]
    return "\n".join(lines)


def _of_sizes(name: str, made: Made, size: Size, steps: tqdm[NoReturn]) -> Iterator[dict[str, Any]]:
    for queries in size.queries:
        yield _measured(name, made(queries), size)
        steps.update()


def _measured(name: str, contest: _Contest, size: Size) -> dict[str, Any]:
    queries = len(contest.queries)
    start_s = time.perf_counter()
    plan = compile_plan(contest.queries)
    build_s = time.perf_counter() - start_s
    tuples, codes = contest.tuples(size.batch)
    columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    rows = _rows_within(plan, columns, size)
    columns = [column.slice(0, rows) for column in columns]
    few = min(rows, max(TUPLES_TOGETHER, size.evaluations // queries))
    contenders = dict(_contenders(plan, columns, contest, np.ascontiguousarray(codes[:, :few])))
    counts = {contender: work() for contender, (work, _) in contenders.items()}
    expected = len(match(plan, [column.slice(0, few) for column in columns], few))
    rivals = {contender: count for contender, count in counts.items() if contender in ("scan", "brute_force")}
    if {*rivals.values()} != {expected} or len({counts["pairs"], counts["ids"]}) != 1:
        raise RuntimeError(f"{name}, {queries} queries: matches differ: {counts}, {expected} expected of the rivals")
    medians = medians_in_turns({contender: work for contender, (work, _) in contenders.items()}, size.repetitions)
    us = {f"{contender}_us": medians[contender] / own * 1e6 for contender, (_, own) in contenders.items()}
    all_cores_us = us.pop("all_cores_us")
    return {
        "workload": name,
        "queries": queries,
        **us,
        "tuples_a_s": 1e6 / all_cores_us,
        "rows": rows,
        "matches_a_tuple": counts["pairs"] / rows,
        "bytes_a_query": plan.nbytes / queries,
        "blocks": len(plan.blocks),
        "build_s": build_s,
    }


def _rows_within(plan: Plan, columns: list[pa.Array], size: Size) -> int:
    """Return the number of tuples for a batch with at most ``size.pairs`` pairs. The number is estimated from the
    matches of a small batch.
    """
    small = min(size.batch, SMALL_BATCH)
    found = len(match(plan, [column.slice(0, small) for column in columns], small))
    return min(size.batch, max(small, size.pairs * small // max(1, found)))


def _contenders(
    plan: Plan, columns: list[pa.Array], contest: _Contest, codes: Values
) -> Iterator[tuple[str, tuple[Callable[[], int], int]]]:
    """Yield each contender: its name, a function that returns the number of matches, and the number of tuples that the
    function evaluates.
    """
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
