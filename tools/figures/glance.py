"""The table of the main figures of all benchmarks. Each line links to the section of the page that describes the
benchmark.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from bench import cube_goals, history_goals
from bench.cube_goals import Goal
from bench.interval import Interval
from tools.figures.changes import change_name
from tools.figures.errors import FiguresError
from tools.figures.matching import faster_than_shapely
from tools.figures.results import Result, Results
from tools.figures.rivals import MATCH
from tools.figures.streams import BARE, share_text
from tools.figures.table import Row, by_contender, markdown

Line = tuple[str, str]
"""A line of the table: the case of a benchmark, and its figures as text."""
Lines = Callable[[Result], Iterator[Line]]


def row_of(rows: Iterable[Row], **keys: Any) -> Row:
    """Return the first row that has the values ``keys``. Raise FiguresError if there is none.

    >>> row_of([{"queries": 10, "us": 1.5}, {"queries": 100, "us": 2.5}], queries=100)["us"]
    2.5
    """
    found = next((row for row in rows if all(row.get(key) == value for key, value in keys.items())), None)
    if found is None:
        raise FiguresError("row", keys, "is not in the result: run its benchmark at full size")
    return found


def _match(result: Result) -> Iterator[Line]:
    for workload, queries in (("D1", 100), ("HEM-like", 10_000)):
        row = row_of(result["results"], workload=workload, queries=queries)
        yield f"{workload}, {queries:,} queries, one thread", f"{row['tuples_per_s']:,.0f} tuples/s"


def _scale(result: Result) -> Iterator[Line]:
    for workload in ("HEM-like", "alerts"):
        row = row_of(result["results"], workload=workload, queries=1_000_000)
        times = row["brute_force_us"] / row["pairs_us"]
        figures = (
            f"{row['pairs_us']:.0f} us a tuple, brute force takes {times:.0f} x as long; "
            f"{row['bytes_a_query']:.0f} bytes a query"
        )
        yield f"{workload}, 1,000,000 queries", figures


def _patterns(result: Result) -> Iterator[Line]:
    row = row_of(by_contender(result["results"], ["queries"]), queries=100_000)
    own = row["asc"]["us"]
    search, join = (row[name]["us"] / own for name in ("a search each", "DuckDB, a join"))
    figures = (
        f"{own:.0f} us a line; a search for each query takes {search:.0f} x as long, DuckDB's join {join:.0f} x as long"
    )
    yield "100,000 LIKE patterns", figures


def _spatial(result: Result) -> Iterator[Line]:
    for queries in (100_000, 1_000_000):
        row = row_of(by_contender(result["results"], ["queries"]), queries=queries)
        figures = (
            f"{row['asc']['us']:.2f} us a position; "
            f"shapely's faster method takes {faster_than_shapely(row):.1f} x as long"
        )
        yield f"{queries:,} fences", figures


def _spark(result: Result) -> Iterator[Line]:
    row = result["results"]["1000"][MATCH]
    yield (
        "1,000 predicates, 1,000,000 rows",
        f"{row['median_s']:.2f} s, {row['to_bare']['ratio']:.2f} x the time of the bare transport",
    )
    row = result["many"]["100000"][MATCH]
    yield (
        "100,000 alerts, the same rows",
        f"{row['median_s']:.1f} s, {row['to_bare']['ratio']:.1f} x the time of the bare transport",
    )


def _peers(result: Result) -> Iterator[Line]:
    row = row_of(by_contender(result["results"], ["workload", "queries"]), workload="HEM-like", queries=10_000)
    rivals = ("DuckDB, a join", "Polars, an expression each", "Spark, a join")
    names = (f"{name.partition(',')[0]} takes {row[name]['us'] / row['asc']['us']:,.0f} x as long" for name in rivals)
    yield "HEM-like, 10,000 queries, from Parquet", f"{row['asc']['us']:.1f} us a tuple; {', '.join(names)}"


def _stream(result: Result) -> Iterator[Line]:
    row = row_of(result["results"], queries=1_000, backlog=result["records"]["count"])
    share = row["records_a_s"] / result[BARE]["records_a_s"]
    figures = f"{row['records_a_s']:,.0f} records/s, {share:.2f} x the rate of a bare Spark job"
    yield "1,000 queries, a million records", figures


def _latency(result: Result) -> Iterator[Line]:
    row = row_of(result["results"], queries=1_000, rate=2_000, changes=0)
    figures = f"median {row['p50_s'] * 1e3:.0f} ms; 99 % of the records within {row['p99_s'] * 1e3:.0f} ms"
    yield "1,000 queries, 2,000 records/s", figures


def _recovery(result: Result) -> Iterator[Line]:
    fewest = min(row["queries"] for row in result["results"])
    for row in (row for row in result["results"] if row["queries"] == fewest):
        seconds = [kill["delivered_s"] for kill in row["kills"]]
        figures = f"delivers again after {statistics.median(seconds):.0f} s, at worst after {max(seconds):.0f} s"
        yield f"a daemon with {row['queries']:,} queries is killed, and {row['way']}", figures


def _publish(result: Result) -> Iterator[Line]:
    row = result["results"][0]
    yield row["contender"], f"{result['rows'] / statistics.median(row['seconds']):,.0f} records/s"


def _console(result: Result) -> Iterator[Line]:
    yield "throughput that the stream loses while users view the console", share_text(result["stream"]["loss"])


def _monitor(result: Result) -> Iterator[Line]:
    for count, modes in result["results"].items():
        case = f"throughput that the monitor's measurements cost, {int(count):,} predicates"
        yield case, share_text(modes["measuring"]["cpu_cost"])


def _registration(result: Result) -> Iterator[Line]:
    for change in ("bulk load (NDJSON)", "register, topic is there", "remove"):
        median = result["results"][change]["median_s"]
        yield change_name(change), f"{median * 1e3:.0f} ms" if median < 1 else f"{median:.1f} s"


def _standing(result: Result) -> Iterator[Line]:
    row = row_of(result["results"], queries=1_000_000)
    figures = f"{row['ready_s']:.0f} s with the snapshot, {row['ready_without_s']:.0f} s without it"
    yield "start with 1,000,000 queries", figures


def _validation(result: Result) -> Iterator[Line]:
    row = result["results"]["all"]
    figures = (
        f"median {row['median_s'] * 1e3:.0f} ms; 99 % within {row['p99_s'] * 1e3:.0f} ms; "
        f"worst {row['worst_s'] * 1e3:.0f} ms"
    )
    yield "the heaviest permitted predicates", figures


def _events(result: Result) -> Iterator[Line]:
    parts, objects = result["spark"]
    figures = f"{parts['batch_s']:.2f} s a batch; {objects['batch_s']:.1f} s with a separate state for each object"
    yield f"{result['objects']:,} objects", figures


def _near(result: Result) -> Iterator[Line]:
    row = result["results"][-1]
    figures = (
        f"{row['tick_s']:.2f} s a tick that writes {row['told_a_tick']:,} records; "
        f"the k-d tree takes {row['kd_tree_s']:.2f} s of it"
    )
    yield f"{row['objects']:,} objects", figures


def _goals_met(goals_of: Callable[[Any], list[Goal]], result: Result) -> Iterator[Line]:
    """Yield the number of goals of a benchmark that are met. ``goals_of``: the goals of the rows of its result."""
    goals = goals_of(result["rows"])
    yield "goals of the benchmark", f"{sum(goal.is_met for goal in goals)} of {len(goals)} are met"


def _figure_6(result: Result) -> Iterator[Line]:
    cases = result["results"]["cases"]
    for data in dict.fromkeys(case["data_set"] for case in cases):
        own = [case["costs"] for case in cases if case["data_set"] == data]
        above = Interval.of([(costs["Macro"] / costs["SEQ_best"] - 1) * 100 for costs in own])
        yield f"cost of Macro above the cost of the best fixed order (Figure 6, {data})", f"{above.rounded(1)} %"


_SECTIONS: Mapping[str, tuple[str, Lines]] = {
    "match": ("[executor](#the-executor-asc-bench-match)", _match),
    "scale": ("[many queries](#many-queries-asc-bench-scale)", _scale),
    "patterns": ("[patterns](#patterns-asc-bench-patterns)", _patterns),
    "spatial": ("[fences](#fences-asc-bench-spatial)", _spatial),
    "stream": ("[backlog](#throughput-of-a-backlog-asc-bench-stream)", _stream),
    "latency": ("[latency](#latency-asc-bench-latency)", _latency),
    "recovery": ("[recovery](#recovery-asc-bench-recovery)", _recovery),
    "publish": ("[publishing](#publishing-asc-bench-publish)", _publish),
    "console": ("[console](#console-asc-bench-console)", _console),
    "monitor": ("[monitor](#the-monitor-asc-bench-monitor)", _monitor),
    "registration": ("[registration](#registration-asc-bench-registration)", _registration),
    "standing": ("[many standing queries](#many-standing-queries-asc-bench-standing)", _standing),
    "validation": ("[validation](#validation-of-predicates-asc-bench-validation)", _validation),
    "events": ("[events](#events-asc-bench-events)", _events),
    "near": ("[pairs](#pairs-of-near-objects-asc-bench-near)", _near),
    "cube": ("[cubes](#cubes-asc-bench-cube)", partial(_goals_met, cube_goals.goals_of)),
    "history": ("[cubes that last](#cubes-that-last-asc-bench-history)", partial(_goals_met, history_goals.goals_of)),
    "peers": ("[peers](#peers-asc-bench-peers)", _peers),
    "spark": ("[`broker.match`](#brokermatch-asc-bench-spark)", _spark),
    "synthetic-figure-6": ("[paper](#costs)", _figure_6),
    "census-figure-6": ("[paper](#costs)", _figure_6),
}
"""For each result, the link to its section and the function that makes its lines, in the order of the page."""


def _glance(results: Results) -> str:
    lines = [
        (link, case, figures)
        for name, (link, lines_of) in _SECTIONS.items()
        for case, figures in lines_of(results[name])
    ]
    return markdown(["topic", "case", "measured"], lines)


TABLES: Mapping[str, Callable[[Results], str]] = {"glance": _glance}
