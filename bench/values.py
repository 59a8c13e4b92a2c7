"""The time to match queries that each compare a column with one value. The benchmark compares two layouts, posting
lists by value and bitmaps, and reports which layout the compiler chooses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tqdm import tqdm

from asc.evaluation.executor import match
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.plan.posting_block import ListedBlock
from asc.predicate.normal_form.disjunctive_form import Conjunct, Predicate
from bench.machine import machine
from bench.plot import plot_peers
from bench.result_file import write_result
from bench.timed import medians_in_turns, timed

BITMAPS, LISTS = "bitmaps", "lists"
_NEVER = CompileOptions(listed_conjuncts=1 << 40)
_ALTITUDES = 40_000

Values = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Case:
    """A workload in which each value of a column is accepted by ``a_value`` queries. With ``has_range``, each query
    also constrains another column to a range.

    ``asked``: the share of the records whose value some query accepts.
    """

    column: PAttribute
    a_value: int
    has_range: bool
    asked: float = 1.0

    @property
    def name(self) -> str:
        text = f"{self.column.sql}, {self.a_value} a value"
        return (
            f"{text}{', and a range' if self.has_range else ''}{'' if self.asked == 1 else f', {self.asked:.0%} asked'}"
        )


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the numbers of queries, the number of records of a batch, and the number of runs of
    each layout. With ``plainest_from`` or more queries, only some cases run: those in which one query accepts each
    value, and each record has a value that some query accepts.
    """

    queries: tuple[int, ...]
    plainest_from: int
    records: int
    repetitions: int


FULL = Size((100, 1_000, 4_096, 10_000, 100_000, 1_000_000), 1_000_000, 100_000, 5)
QUICK = Size((100, 5_000), 1_000_000, 500, 1)

_TEXT, _NUMBER = (PAttribute(name, kind, (name,)) for name, kind in (("icao24", pa.string()), ("squawk", pa.int64())))
_ALTITUDE = PAttribute("altitude", pa.int32(), ("altitude",))

CASES = tuple(
    Case(column, *of)
    for column in (_TEXT, _NUMBER)
    for of in ((1, False), (1, False, 0.1), (1, True), (4, True), (16, True), (64, True))
)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``values.json`` and its plot into the folder, and return the content of the JSON file.

    Both layouts run alternately on one thread over the same records. Raises RuntimeError if the numbers of matches
    differ.
    """
    size = QUICK if quick else FULL
    results: list[dict[str, Any]] = []
    wanted = [(count, case) for count in size.queries for case in CASES]
    for count, case in tqdm(wanted, leave=False, disable=None):
        if count >= size.plainest_from and (case.a_value > 1 or case.asked < 1):
            continue
        results += _measured(case, count, size)
    result = {
        "benchmark": "values",
        "quick": quick,
        "machine": machine(),
        "records": size.records,
        "listed_conjuncts": CompileOptions().listed_conjuncts,
        "results": results,
    }
    write_result(output_dir, "values", result)
    plot_peers({"results": _drawn(results)}, output_dir / "values")
    return result


def _drawn(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results for the plot: the workloads with a text column and a range. There is one such workload for
    each number of queries per value.
    """
    names = {case.name for case in CASES if case.column is _TEXT and case.has_range}
    return [row for row in results if row["workload"] in names]


def table(result: dict[str, Any]) -> str:
    """Return the result as text: microseconds per record of each layout, and the layout that the compiler chose."""
    lines = [f"{result['records']:,} records, us a record, one thread; * is what the compiler chooses", ""]
    lines.append(
        f"{'':<34}{'queries':>10}{BITMAPS:>11}{LISTS:>11}{'times':>8}{'matches':>9}{'bytes':>7}{'bytes':>7}"
        f"{'one more ms':>13}"
    )
    for row in (row for row in result["results"] if row["contender"] == LISTS):
        other = next(
            own
            for own in result["results"]
            if own["contender"] == BITMAPS and (own["workload"], own["queries"]) == (row["workload"], row["queries"])
        )
        times = "".join(f"{own['us']:>10.3f}{'*' if own['chosen'] else ' '}" for own in (other, row))
        lines.append(
            f"{row['workload']:<34}{row['queries']:>10,}{times}{other['us'] / row['us']:>8.1f}"
            f"{row['matches_a_record']:>9.2f}{other['bytes_a_query']:>7.0f}{row['bytes_a_query']:>7.0f}"
            f"{row['one_more_ms']:>13.1f}"
        )
    return "\n".join(lines)


def _measured(case: Case, count: int, size: Size) -> list[dict[str, Any]]:
    random = np.random.default_rng(count)
    values = random.choice(1 << 24, 2 * -(-count // case.a_value), replace=False)
    asked, others = np.split(values, 2)
    queries = [_query(case, number, int(asked[number // case.a_value]), random) for number in range(count)]
    start_s = time.perf_counter()
    bitmaps = compile_plan(queries, _NEVER)
    build_s = time.perf_counter() - start_s
    chosen = compile_plan(queries)
    lists = chosen if chosen.listed and not chosen.blocks else _listed(bitmaps, queries, case.column)
    drawn = np.where(
        random.random(size.records) < case.asked,
        random.choice(asked, size.records),
        random.choice(others, size.records),
    )
    altitudes = random.integers(0, _ALTITUDES, size.records).astype(np.int32)
    plans = {BITMAPS: bitmaps, LISTS: lists}
    contenders = {name: _work(plan, case, drawn, altitudes) for name, plan in plans.items()}
    counts = {name: work() for name, work in contenders.items()}
    if len(set(counts.values())) > 1:
        raise RuntimeError(f"{case.name}, {count} queries: numbers of matches differ: {counts}")
    medians = medians_in_turns(contenders, size.repetitions)
    more = _query(case, count, int(others[0]), random)
    return [
        {
            "workload": case.name,
            **{name: value for name, value in asdict(case).items() if name != "column"},
            "queries": count,
            "contender": name,
            "chosen": (len(chosen.blocks) == 0) == (name == LISTS),
            "us": medians[name] / size.records * 1e6,
            "matches_a_record": counts[name] / size.records,
            "bytes_a_query": plan.nbytes / count,
            "one_more_ms": sorted(timed(partial(change_plan, plan, [more])) for _ in range(3))[1] * 1e3,
            "build_s": build_s,
        }
        for name, plan in plans.items()
    ]


def _query(case: Case, number: int, value: int, random: np.random.Generator) -> Query:
    key = _text(value).encode() if case.column is _TEXT else value
    conjunct: Conjunct = ((case.column, Constraint((((key, 0), (key, 1)),))),)
    if case.has_range:
        conjunct += ((_ALTITUDE, Constraint((((int(random.integers(0, _ALTITUDES)), 1), None),))),)
    return Query(f"q{number:07}", Predicate("", (conjunct,)))


def _text(value: int) -> str:
    return f"{value:06x}"


def _listed(plan: Plan, queries: Sequence[Query], column: PAttribute) -> Plan:
    """Return the plan with posting lists for all conjuncts, regardless of the compiler's choice. The handle of a query
    is its index in ``queries``.
    """
    pairs = [(handle, conjunct) for handle, query in enumerate(queries) for conjunct in query.predicate.conjuncts]
    return replace(plan, blocks=(), dictionaries={}, listed=(ListedBlock.of(pairs, column),))


def _work(plan: Plan, case: Case, drawn: Values, altitudes: npt.NDArray[np.int32]) -> Callable[[], int]:
    values = pa.array([_text(value) for value in drawn.tolist()]) if case.column is _TEXT else pa.array(drawn)
    of = {case.column: values, _ALTITUDE: pa.array(altitudes)}
    columns = [of[attribute] for attribute in plan.p_attributes]
    return lambda: len(match(plan, columns, len(drawn)))
