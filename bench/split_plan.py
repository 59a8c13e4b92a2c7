"""Predicates divided over two executors: each executor has a plan with half of the queries, and evaluates
every tuple.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from bench.timed import medians_in_turns
from workloads.mixed import mixed_workload
from workloads.synthetic import Integers, alerts_workload, hem_workload, uniform_tuples

PARTS = 2
_COMPARED = 256
"""The number of tuples for which the matches of the parts are compared with the matches of the whole plan."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement. ``queries``: the numbers of queries. ``batch``: the number of tuples of a batch.
    ``repetitions``: the number of runs of each contender. ``pairs``: the largest number of (tuple, query) pairs of a
    batch.

    A batch that would have more pairs has fewer tuples.
    """

    queries: tuple[int, ...]
    batch: int
    repetitions: int
    pairs: int


FULL = Size((100_000, 1_000_000), 8_192, 5, 20_000_000)
QUICK = Size((400,), 512, 1, 1_000_000)

Made = tuple[list[Query], pa.Table]


def _hem(queries: int, rows: int) -> Made:
    workload = hem_workload(queries)
    return workload.standing_queries(), uniform_tuples(rows, attributes=workload.attributes, domain=workload.domain)


def _mixed(queries: int, rows: int) -> Made:
    workload = mixed_workload(queries)
    return workload.standing_queries(), workload.tuples(rows)[0]


def _alerts(queries: int, rows: int) -> Made:
    workload = alerts_workload(queries)
    return workload.standing_queries(), uniform_tuples(rows, attributes=workload.attributes, domain=workload.domain)


WORKLOADS: dict[str, Callable[[int, int], Made]] = {"HEM-like": _hem, "mixed": _mixed, "alerts": _alerts}


def measured(name: str, queries: int, size: Size) -> dict[str, Any]:
    """Measure the plan of a workload with ``queries`` queries, and two plans that each have every second query.

    The figures of each plan are its bytes, the seconds to compile it, and the microseconds of processor time per tuple.
    Elapsed times compare two divisions of the work between two threads. In the division by records, each thread
    evaluates half of the records with the whole plan. In the division by predicates, each thread evaluates all records
    with one of the two plans.

    Raises RuntimeError if the matches of the two parts together differ from those of the whole plan.
    """
    standing, tuples = WORKLOADS[name](queries, size.batch)
    plan, build_s = _compiled(standing)
    parts = [_compiled(standing[number::PARTS]) for number in range(PARTS)]
    compared = min(size.batch, _COMPARED)
    pairs = _pairs(plan, tuples.slice(0, compared))
    together = np.sort(np.concatenate([_pairs(part, tuples.slice(0, compared)) for part, _ in parts]))
    if not np.array_equal(pairs, together):
        raise RuntimeError(f"{name}, {queries} queries: the parts find {len(together)} pairs, the plan {len(pairs)}")
    rows = min(size.batch, max(compared, size.pairs * compared // max(1, len(pairs))))
    halves = (_work(plan, tuples.slice(0, rows // 2)), _work(plan, tuples.slice(rows // 2, rows - rows // 2)))
    part_works = [_work(part, tuples.slice(0, rows)) for part, _ in parts]
    alone = {
        "whole": _work(plan, tuples.slice(0, rows)),
        **{f"part {number}": part_work for number, part_work in enumerate(part_works)},
    }
    with ThreadPoolExecutor(PARTS) as threads:
        on_two: dict[str, Callable[[], int]] = {
            "by records": lambda: sum(threads.map(_done, halves)),
            "by predicates": lambda: sum(threads.map(_done, part_works)),
        }
        counts = {contender: work() for contender, work in (alone | on_two).items()}
        medians = medians_in_turns(alone, size.repetitions, time.process_time)
        medians |= medians_in_turns(on_two, size.repetitions)
    if {counts["by records"], counts["by predicates"]} != {counts["whole"]}:
        raise RuntimeError(f"{name}, {queries} queries: numbers of pairs differ: {counts}")
    us = {contender: round(seconds / rows * 1e6, 3) for contender, seconds in medians.items()}
    return {
        "workload": name,
        "queries": queries,
        "rows": rows,
        "matches_a_tuple": round(counts["whole"] / rows, 2),
        "pairs_compared": len(pairs),
        "whole": {"bytes": plan.nbytes, "build_s": round(build_s, 2), "us": us["whole"]},
        "parts": [
            {"bytes": part.nbytes, "build_s": round(seconds, 2), "us": us[f"part {number}"]}
            for number, (part, seconds) in enumerate(parts)
        ],
        "two_threads_us": {contender: us[contender] for contender in ("by records", "by predicates")},
    }


def table(results: Sequence[dict[str, Any]]) -> str:
    """Format the results of :func:`measured` as lines of text."""
    titles = ("queries", "matches", "MB", "MB a part", "us", "us a part", "parts/whole", "by records", "by pred.")
    lines = [f"{'workload':<10}" + "".join(f"{title:>12}" for title in titles)]
    for each in results:
        whole, parts, both = each["whole"], each["parts"], each["two_threads_us"]
        lines.append(
            f"{each['workload']:<10}{each['queries']:>12,}{each['matches_a_tuple']:>12,.2f}"
            f"{whole['bytes'] / 1e6:>12.1f}{max(part['bytes'] for part in parts) / 1e6:>12.1f}{whole['us']:>12.2f}"
            f"{max(part['us'] for part in parts):>12.2f}{sum(part['us'] for part in parts) / whole['us']:>12.2f}"
            f"{both['by records']:>12.2f}{both['by predicates']:>12.2f}"
        )
    return "\n".join(lines)


def _compiled(queries: Sequence[Query]) -> tuple[Plan, float]:
    start_s = time.perf_counter()
    return compile_plan(queries), time.perf_counter() - start_s


def _columns(plan: Plan, tuples: pa.Table) -> list[pa.Array]:
    return [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]


def _work(plan: Plan, tuples: pa.Table) -> Callable[[], int]:
    columns = _columns(plan, tuples)
    return lambda: len(match(plan, columns, tuples.num_rows))


def _done(work: Callable[[], int]) -> int:
    return work()


def _pairs(plan: Plan, tuples: pa.Table) -> Integers:
    """Return the sorted matches, each as one integer made of the row and the number in the query's id. These integers
    are independent of the division into plans.
    """
    found = match(plan, _columns(plan, tuples), tuples.num_rows)
    numbers = np.array([int(query_id[1:]) for query_id in plan.query_ids.to_pylist()], dtype=np.int64)
    return np.sort((found.rows.astype(np.int64) << 32) | numbers[found.queries])
