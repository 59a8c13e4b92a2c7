"""The goals of the benchmark of cubes, each compared with the measured figure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cube_contenders import DUCKDB, ENGINE, POLARS, SPARK

Row = Any
"""The result of one row of the benchmark, in the form of the JSON file."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A measured figure and its goal. ``is_least``: true if the goal is a lower bound of the figure, false if it is an
    upper bound.

    ``form``: the format of the figure and of the goal, with their unit.
    """

    measure: str
    measured: float
    goal: float
    form: str = "{:.2f} x"
    is_least: bool = True

    @property
    def is_met(self) -> bool:
        """True if the figure reaches the goal."""
        return self.measured >= self.goal if self.is_least else self.measured <= self.goal

    def cells(self) -> tuple[str, str, str, str]:
        """Return the cells of the goal's row in a table.

        >>> Goal("a commit", 0.02, 0.02, "{:.3f} s", is_least=False).cells()
        ('a commit', '<= 0.020 s', '0.020 s', 'met')
        """
        sign = ">=" if self.is_least else "<="
        verdict = "met" if self.is_met else "missed"
        return self.measure, f"{sign} {self.form.format(self.goal)}", self.form.format(self.measured), verdict


def goals_of(rows: Mapping[str, Row]) -> list[Goal]:
    """Return the goals of the measured rows, in the order of the rows."""
    return [goal for name, row in rows.items() for goal in _READERS[name](row)]


def goals_table(goals: Sequence[Goal]) -> str:
    """Return goals as a Markdown table, which a docs page can contain unchanged."""
    lines = ["| measure | goal | measured | |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(goal.cells())} |" for goal in goals)])


def _fold(row: Row) -> Iterator[Goal]:
    rates = {(own["workload"], own["batch"], own["contender"]): own["records_a_s"] for own in row}
    cubes = row[0]["cubes"]
    least = {(DUCKDB, 100_000): 2.5, (DUCKDB, 10_000): 10.0}
    for rival, other in ((DUCKDB, 10.0), (SPARK, 30.0), (POLARS, 1.5)):
        for workload, batch, contender in rates:
            if contender == rival:
                ratio = rates[workload, batch, ENGINE] / rates[workload, batch, rival]
                measure = f"records/s of asc / {rival}, {cubes} {workload} cubes, batches of {batch:,}"
                yield Goal(measure, ratio, least.get((rival, batch), other))


def _answers(row: Row) -> Iterator[Goal]:
    for own in row:
        measure = (
            f"time of DuckDB over {own['raw_records']:,} records / asc, "
            f"five cuboids over {own['panes']} panes, {own['workload']}"
        )
        yield Goal(measure, own["duckdb_s"] / own["own_s"], 40.0 if own["raw_records"] > 1_000_000 else 5.0)


def _pair(row: Row) -> Iterator[Goal]:
    yield Goal("records/s of a cube / of a topic with DuckDB", row["ratio"], 1.5)
    measure = "bytes of the cube's file / of the topic and the DuckDB file"
    yield Goal(measure, row["stored_ratio"], 1 / 3, is_least=False)


def _stream(row: Row) -> Iterator[Goal]:
    for own in row["results"]:
        if own["cubes"]:
            goal = 0.95 if own["cubes"] == 1 else 0.85
            cubes = "1 cube" if own["cubes"] == 1 else f"{own['cubes']} cubes"
            yield Goal(f"throughput of a backlog with {cubes} / without cubes", own["ratio"], goal)


def _commit(row: Row) -> Iterator[Goal]:
    measure = f"time to commit {row['cubes']} x {row['cells']:,} cells, median"
    yield Goal(measure, row["median_s"] * 1e3, 20.0, "{:.1f} ms", is_least=False)


def _register(row: Row) -> Iterator[Goal]:
    for name, event in (("effective_s", "it is effective"), ("counted_s", "its first record is counted")):
        slowest = max(own[name] for own in row["results"])
        yield Goal(f"the slowest of three cubes to register, until {event}", slowest, 1.0, "{:.2f} s", is_least=False)


def _http(row: Row) -> Iterator[Goal]:
    for own in row["results"]:
        runs, where = own["runs"], f"over {own['cube']}"
        if own is row["results"][0]:
            rate, p99 = (statistics.median(run[name] for run in runs) for name in ("queries_a_s", "p99_s"))
            asked = f"HTTP, {runs[0]['clients']} clients {where}"
            yield Goal(f"{asked}: answered questions", rate, 100.0, "{:.0f} queries/s")
            yield Goal(f"{asked}: p99 of the time of an answer", p99 * 1e3, 100.0, "{:.0f} ms", is_least=False)
            pace = f"with {row['queries_a_s']:.0f} questions/s {where}"
            measure = f"p50 of the latency of routing {pace} / without questions"
            yield Goal(measure, row["routing_ratio"], 1.1, is_least=False)
            continue
        for run in runs:
            clients = "1 client" if run["clients"] == 1 else f"{run['clients']} clients"
            measure = f"HTTP, {clients} {where}: p50 of the time of an answer"
            yield Goal(measure, run["p50_s"] * 1e3, 30.0, "{:.0f} ms", is_least=False)


_READERS: Mapping[str, Callable[[Row], Iterator[Goal]]] = {
    "fold": _fold,
    "answers": _answers,
    "pair": _pair,
    "stream": _stream,
    "commit": _commit,
    "register": _register,
    "http": _http,
}
