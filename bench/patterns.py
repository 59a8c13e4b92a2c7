"""The cost of hundreds of thousands of LIKE patterns: one automaton compared with a search for each pattern."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from asc.compiled import compiled
from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from bench.machine import machine
from bench.plot import plot_peers
from bench.result_file import write_result
from bench.timed import medians_in_turns
from workloads.log_lines import DDL, LineQuery, line_queries, log_lines

ENGINE, SEARCH, DUCKDB = "asc", "a search each", "DuckDB, a join"
WORKLOAD = "log lines"


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the numbers of queries, the number of lines, and the number of runs of each
    contender. ``looks``: the largest number of (line, query) pairs that a rival processes in a run.
    """

    queries: tuple[int, ...]
    lines: int
    looks: int
    repetitions: int


FULL = Size((100, 1_000, 10_000, 100_000), 10_000, 20_000_000, 5)
QUICK = Size((20, 200), 300, 20_000, 1)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``patterns.json`` and its plot into the folder, and return the content of the JSON
    file.

    Contenders run alternately. A rival processes as many of the lines as the limit ``Size.looks`` permits. Raises
    RuntimeError if the numbers of matches differ.
    """
    size = QUICK if quick else FULL
    lines = log_lines(size.lines)
    results: list[dict[str, Any]] = []
    for queries in tqdm(size.queries, leave=False, disable=None):
        results += _measured(line_queries(queries), lines, size)
    result = {
        "benchmark": "patterns",
        "quick": quick,
        "machine": machine(),
        "lines": size.lines,
        "line_bytes": round(lines["message"].nbytes / size.lines),
        "results": results,
    }
    write_result(output_dir, "patterns", result)
    plot_peers(result, output_dir / "patterns")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as text: microseconds per line of each contender."""
    lines = [f"{result['lines']:,} lines of {result['line_bytes']} bytes, us a line", ""]
    lines.append(f"{'queries':>9}" + "".join(f"{name:>16}" for name in (ENGINE, SEARCH, DUCKDB)) + f"{'matches':>10}")
    for queries in dict.fromkeys(row["queries"] for row in result["results"]):
        own = {row["contender"]: row for row in result["results"] if row["queries"] == queries}
        times = (f"{own[name]['us']:>16,.1f}" for name in (ENGINE, SEARCH, DUCKDB))
        lines.append(f"{queries:>9,}" + "".join(times) + f"{own[ENGINE]['matches_a_line']:>10.2f}")
    return "\n".join(lines)


def _measured(queries: Sequence[LineQuery], lines: pa.Table, size: Size) -> list[dict[str, Any]]:
    schema = Schema.from_ddl(DDL)
    start_s = time.perf_counter()
    plan = compile_plan(Query(f"q{n:06}", normalise(query.where, schema)) for n, query in enumerate(queries))
    build_s = time.perf_counter() - start_s
    columns = [lines[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    few = max(1, min(size.lines, size.looks // len(queries)))
    some = lines.slice(0, few)
    contenders: dict[str, Callable[[], int]] = {
        ENGINE: lambda: len(match(plan, columns, len(lines))),
        SEARCH: _search_each(queries, some),
        DUCKDB: _join(queries, some),
    }
    counts = {name: work() for name, work in contenders.items()}
    expected = len(match(plan, [column.slice(0, few) for column in columns], few))
    if {counts[SEARCH], counts[DUCKDB]} != {expected}:
        raise RuntimeError(f"{len(queries)} queries: matches differ: {counts}, {expected} expected of the rivals")
    medians = medians_in_turns(contenders, size.repetitions)
    rows = {ENGINE: len(lines), SEARCH: few, DUCKDB: few}
    more = {
        "matches_a_line": counts[ENGINE] / len(lines),
        "build_s": build_s,
        "bytes_a_query": plan.nbytes / len(queries),
    }
    return [
        {
            "workload": WORKLOAD,
            "queries": len(queries),
            "contender": name,
            "us": seconds / rows[name] * 1e6,
            **(more if name == ENGINE else {"lines": few}),
        }
        for name, seconds in medians.items()
    ]


# -- rivals


def _search_each(queries: Sequence[LineQuery], lines: pa.Table) -> Callable[[], int]:
    """Return a function that counts the matches query by query: it first checks the level of a line, and then searches
    for the fragments in order.
    """
    texts = [text for query in queries for text in (*query.fragments, *([query.not_in] if query.not_in else []))]
    counts = [len(query.fragments) + (query.not_in is not None) for query in queries]
    messages = lines["message"].combine_chunks()
    _, offsets, data = messages.buffers()
    arguments = (
        np.frombuffer(offsets, dtype=np.int32)[messages.offset : messages.offset + len(messages) + 1],
        np.frombuffer(data, dtype=np.uint8),
        lines["level"].to_numpy(),
        np.cumsum([0, *map(len, texts)]),
        np.frombuffer("".join(texts).encode(), dtype=np.uint8),
        np.cumsum([0, *counts]),
        np.array([query.not_in is not None for query in queries]),
        np.array([(query.low, query.high) for query in queries]),
    )
    return lambda: int(_search(*arguments))


@compiled
def _place(data: Any, begin: int, end: int, texts: Any, first: int, last: int) -> int:  # noqa: PLR0917
    """Search ``data`` from byte ``begin`` to before byte ``end`` for the text in ``texts`` from byte ``first`` to
    before byte ``last``. Return the index after the first occurrence, or -1 if there is none.
    """
    length = last - first
    for start in range(begin, end - length + 1):
        if data[start] == texts[first]:
            i = 1
            while i < length and data[start + i] == texts[first + i]:
                i += 1
            if i == length:
                return start + length
    return -1


@compiled
def _search(  # noqa: PLR0917
    offsets: Any, data: Any, levels: Any, ends: Any, texts: Any, firsts: Any, is_negated: Any, ranges: Any
) -> int:
    matches = 0
    for line in range(levels.size):
        begin, end = offsets[line], offsets[line + 1]
        for query in range(is_negated.size):
            if levels[line] < ranges[query, 0] or levels[line] > ranges[query, 1]:
                continue
            place = begin
            first, last = firsts[query], firsts[query + 1] - is_negated[query]
            for text in range(first, last):
                place = _place(data, place, end, texts, ends[text], ends[text + 1])
                if place < 0:
                    break
            if place >= 0 and is_negated[query] and _place(data, begin, end, texts, ends[last], ends[last + 1]) >= 0:
                place = -1
            matches += place >= 0
    return matches


def _join(queries: Sequence[LineQuery], lines: pa.Table) -> Callable[[], int]:
    """Return a function that counts the matches by a join in DuckDB. The join is between the lines and a table of
    patterns and levels, with one row per query.
    """
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    asked = pa.table(
        {
            "pattern": [f"%{'%'.join(query.fragments)}%" for query in queries],
            "not_in": pa.array([query.not_in and f"%{query.not_in}%" for query in queries], pa.string()),
            "low": [query.low for query in queries],
            "high": [query.high for query in queries],
        }
    )
    connection.register("given", lines)
    connection.register("asked", asked)
    connection.execute("CREATE TABLE lines AS SELECT * FROM given; CREATE TABLE queries AS SELECT * FROM asked")
    sql = (
        "SELECT count(*) FROM lines l JOIN queries q ON l.level BETWEEN q.low AND q.high AND l.message LIKE q.pattern "
        "AND (q.not_in IS NULL OR NOT l.message LIKE q.not_in)"
    )
    return lambda: int(connection.execute(sql).fetchall()[0][0])
