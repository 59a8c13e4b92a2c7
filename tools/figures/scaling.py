"""Tables of capacity: the throughput of one machine, the throughput of a cluster, and the processor time per record by
number of predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from bench.cluster import carried
from bench.cluster import table as cluster_text
from tools.figures.results import Result, Results
from tools.figures.table import ABSENT, Column, Row, listed, markdown, table

_QUERIES = (10, 1_000, 100_000, 1_000_000)
_RATE = 2_000
"""The rate in records per second at which the latency is shown."""
_WORKLOADS = ("HEM-like", "alerts", "mixed")
_LARGE = (100_000, 1_000_000)


def record_us(stream: Result) -> float:
    """Return *T*: the processor time in microseconds that all cores together take per record, at the rate of the
    longest backlog.

    >>> record_us({"machine": {"cores": 2}, "results": [{"backlog": 5, "records_a_s": 100_000.0}]})
    20.0
    """
    longest = max(stream["results"], key=lambda row: row["backlog"])
    return float(stream["machine"]["cores"] / longest["records_a_s"] * 1e6)


def _capacity(results: Results) -> str:
    stream, standing = results["stream"], results["standing"]["results"]
    latency = (row for row in results["latency"]["results"] if row["rate"] == _RATE and not row["changes"])
    lines = [
        _line(f"a backlog of {backlog:,}, records/s", rows, lambda row: f"{row['records_a_s']:,.0f}")
        for backlog in dict.fromkeys(row["backlog"] for row in stream["results"])
        if (rows := [row for row in stream["results"] if row["backlog"] == backlog])
    ]
    lines += [
        _line(f"median latency at {_RATE:,} records/s", latency_rows := list(latency), lambda row: _ms(row["p50_s"])),
        _line(f"99th percentile of the latency at {_RATE:,} records/s", latency_rows, lambda row: _ms(row["p99_s"])),
        _line("start of the daemon", standing, lambda row: f"{row['ready_s']:.1f} s"),
        _line("start of the daemon without a snapshot", standing, lambda row: f"{row['ready_without_s']:.1f} s"),
        _line("start of the daemon without queries", standing, lambda row: f"{row['empty_ready_s']:.1f} s"),
        _line(
            "memory of the daemon's process for each query, including the plan",
            standing,
            lambda row: _bytes(row["memory_a_query_bytes"]),
        ),
        _line(
            "size of the plan for each query, one copy for each host",
            standing,
            lambda row: _bytes(row["plan_a_query_bytes"]),
        ),
    ]
    longest = max(stream["results"], key=lambda row: row["backlog"])
    lines.append(
        _line("*T*: processor time for each record, of all cores", [longest], lambda _: f"{record_us(stream):.1f} us")
    )
    return markdown(["", *(f"{queries:,} queries" for queries in _QUERIES)], lines)


def _line(title: str, rows: Iterable[Row], cell: Callable[[Row], str]) -> list[str]:
    """Return a line of the table: a title, and a cell for each number of queries."""
    cells = {row["queries"]: cell(row) for row in rows}
    return [title, *(cells.get(queries, ABSENT) for queries in _QUERIES)]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def _bytes(count: int) -> str:
    return f"{count:,} bytes"


def _cluster(results: Results) -> str:
    """Return the output of the cluster benchmark, whose lines and tables the page quotes."""
    return f"```text\n{cluster_text(results['cluster'])}\n```"


_PREDICATES = (
    Column("workload", "workload"),
    Column("queries", "queries", "{:,}"),
    Column("*M*, us a record", "pairs_us", "{:.2f}"),
    Column("matches a record", "matches_a_tuple", "{:,.0f}"),
    Column("bytes a query", "bytes_a_query", "{:.0f}"),
    Column("one machine, records/s (computed)", "carried", "{:,.0f}"),
)


def _predicates(results: Results) -> str:
    stream = results["stream"]
    cores, shared_us = stream["machine"]["cores"], record_us(stream)
    rows = (
        {**row, "carried": cores / (shared_us + row["pairs_us"]) * 1e6}
        for workload in _WORKLOADS
        for row in results["scale"]["results"]
        if row["workload"] == workload and row["queries"] in _LARGE
    )
    return table(_PREDICATES, rows)


_ON_EXECUTORS = ("run", "match")
"""The phases of a batch in which executors work. The phase ``match`` is a part of the phase ``run``."""

_GROWTH = (
    Column("*G*: the driver's time of a batch while executors wait", "driver_ms", "{:.0f} ms"),
    Column("*E*: records/s of an executor's core, one worker", "executor", "{:,.0f}"),
    Column("cores of the driver's host for each executor's core", "driver_cores", "{:.2f}"),
    Column("cores of Kafka's host for each executor's core", "kafka_cores", "{:.2f}"),
    Column(
        "number of executor cores at which half of their capacity is wasted, *b* / (*G* x *E*)",
        "wasting_cores",
        "{:.0f}",
    ),
)


def _growth(results: Results) -> str:
    """Return the table of the work that one core of each kind of process can do, computed from the first run with one
    worker.
    """
    cluster, stream = results["cluster"], results["stream"]
    longest = max(stream["results"], key=lambda row: row["backlog"])
    driver_s = sum(seconds for phase, seconds in longest["phases"].items() if phase not in _ON_EXECUTORS)
    core = carried(next(row for row in cluster["results"] if row["workers"] == 1))
    row = {
        "driver_ms": driver_s * 1e3,
        "executor": core["executor"],
        "driver_cores": core["executor"] / core["driver"],
        "kafka_cores": core["executor"] / core["kafka"],
        "wasting_cores": cluster["records"]["batch"] / (driver_s * core["executor"]),
    }
    return listed(_GROWTH, row, "computed")


def queries_where(us: float, rows: Sequence[Row]) -> float:
    """Return the number of queries with which the engine takes ``us`` microseconds per record, interpolated between the
    measured numbers of queries.

    >>> queries_where(15.0, [{"queries": 100, "pairs_us": 10.0}, {"queries": 300, "pairs_us": 20.0}])
    200.0
    """
    ordered = sorted(rows, key=lambda row: float(row["queries"]))
    below, above = next(
        ((own, following) for own, following in pairwise(ordered) if following["pairs_us"] >= us), ordered[-2:]
    )
    share = (us - below["pairs_us"]) / (above["pairs_us"] - below["pairs_us"])
    return float(below["queries"] + share * (above["queries"] - below["queries"]))


_BALANCE = (
    Column("workload", "workload"),
    Column("queries with which *M* is as large as *T* (computed)", "queries", "{:,.0f}"),
)


def _balance(results: Results) -> str:
    us = record_us(results["stream"])
    rows = results["scale"]["results"]
    return table(
        _BALANCE,
        (
            {
                "workload": workload,
                "queries": round(queries_where(us, [row for row in rows if row["workload"] == workload]), -3),
            }
            for workload in _WORKLOADS
        ),
    )


_START_S = 30.0
"""The duration in seconds of a start that does not take too long for anybody."""

_FIRST_LIMIT = (
    Column("a start without queries", "empty_ready_s", "{:.1f} s"),
    Column("additional start time with a million queries", "growth_s", "{:.1f} s"),
    Column("additional start time with a million queries, without a snapshot", "growth_without_s", "{:.1f} s"),
    Column(f"number of queries with which a start takes {_START_S:.0f} s", "queries_of_start", "{:.1f} million"),
    Column(
        f"number of queries with which a start without a snapshot takes {_START_S:.0f} s",
        "queries_of_start_without",
        "{:.2f} million",
    ),
    Column("memory of the driver's process with that number of queries and a snapshot", "memory_gb", "{:.1f} GB"),
    Column("memory of the plan on an executor's host", "plan_mb", "{:,.0f} MB"),
)


def _first_limit(results: Results) -> str:
    row = max(results["standing"]["results"], key=lambda own: own["queries"])
    millions = row["queries"] / 1e6
    growth, growth_without = ((row[name] - row["empty_ready_s"]) / millions for name in ("ready_s", "ready_without_s"))
    spare_s = _START_S - row["empty_ready_s"]
    reached = spare_s / growth
    return listed(
        _FIRST_LIMIT,
        {
            **row,
            "growth_s": growth,
            "growth_without_s": growth_without,
            "queries_of_start": reached,
            "queries_of_start_without": spare_s / growth_without,
            "memory_gb": reached * row["memory_a_query_bytes"] / 1e3,
            "plan_mb": reached * row["plan_a_query_bytes"],
        },
        "computed",
    )


TABLES: Mapping[str, Callable[[Results], str]] = {
    "capacity": _capacity,
    "cluster": _cluster,
    "growth": _growth,
    "capacity-predicates": _predicates,
    "balance": _balance,
    "first-limit": _first_limit,
}
