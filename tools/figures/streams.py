"""Tables of the streaming benchmarks: the throughput of a backlog, latency, recovery after a kill, publishing, and the
load of the console.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping

from tools.figures.results import Result, Results
from tools.figures.table import Column, Read, Row, listed, milliseconds, table, times

BARE = "bare Spark job"
LOOP = "kafka-python, one predicate after the other"
PHASES = ("offsets", "log", "plan", "hand_over", "bind", "build", "run", "match", "commit")

_STREAM = (
    Column("queries", "name"),
    Column("backlog", "backlog", "{:,}"),
    Column("records/s", "records_a_s", "{:,.0f}"),
    Column("rate / bare job's rate", "of_bare", "{:.2f}"),
    Column("maximum memory, MB", times("peak_bytes", 1e-6), "{:,.0f}"),
    Column("records/s of the loop in Python", "loop", "{:,.0f}"),
)


def stream_rows(result: Result) -> Iterator[Row]:
    """Yield the rows of the daemon, then the row of the bare job. The rivals processed a backlog of only one size, so
    only rows with this backlog are compared with them.
    """
    count, bare = result["records"]["count"], result[BARE]["records_a_s"]
    loops = {row["queries"]: row["records_a_s"] for row in result[LOOP]}
    for row in result["results"]:
        beside = {"of_bare": row["records_a_s"] / bare, "loop": loops.get(row["queries"])}
        yield {**row, "name": f"{row['queries']:,}", **(beside if row["backlog"] == count else {})}
    yield {"name": "the bare job", "backlog": count, "records_a_s": bare, "of_bare": 1.0}


def _stream(results: Results) -> str:
    return table(_STREAM, stream_rows(results["stream"]))


_PHASES = (
    Column("queries", "queries", "{:,}"),
    Column("backlog", "backlog", "{:,}"),
    *(Column(f"`{phase}`", milliseconds(f"phases/{phase}"), "{:,.0f}") for phase in PHASES),
)


def _stream_phases(results: Results) -> str:
    return table(_PHASES, results["stream"]["results"])


def _changes(row: Row) -> str | None:
    return f"{row['changes']:,}, median {row['change_p50_s'] * 1e3:.0f} ms" if row.get("changes") else None


_LATENCY = (
    Column("queries", "name"),
    Column("records/s", "rate", "{:,.0f}"),
    Column("changes of queries", _changes),
    Column("ready after", "ready_s", "{:.0f} s"),
    Column("worst in the first second", milliseconds("first_worst_s"), "{:,.0f} ms"),
    Column("median", milliseconds("p50_s"), "{:,.0f} ms"),
    Column("99 % within", milliseconds("p99_s"), "{:,.0f} ms"),
    Column("worst", milliseconds("worst_s"), "{:,.0f} ms"),
)
_FLOOR = {
    "foreachBatch": "the smallest Spark job that writes by `foreachBatch`",
    "sink": "the smallest Spark job that writes by Spark's Kafka sink",
}


def _latency(results: Results) -> str:
    result = results["latency"]
    rows = [{**row, "name": f"{row['queries']:,}"} for row in result["results"]]
    return table(_LATENCY, [*rows, *({**row, "name": _FLOOR[row["variant"]]} for row in result["floor"])])


def _of_kills(name: str) -> Read:
    """Return a function that reads from a row the times ``name`` of all kills of the daemon, and returns their median
    and maximum as text.
    """

    def read(row: Row) -> str:
        seconds = [kill[name] for kill in row["kills"]]
        return f"{statistics.median(seconds):.1f}, {max(seconds):.1f} s"

    return read


_RECOVERY = (
    Column("queries", "queries", "{:,}"),
    Column("the daemon is killed, and", "way"),
    Column("ready after (median, worst)", _of_kills("ready_s")),
    Column("delivers after (median, worst)", _of_kills("delivered_s")),
    Column("caught up after (median, worst)", _of_kills("caught_up_s")),
)


def _recovery(results: Results) -> str:
    return table(_RECOVERY, results["recovery"]["results"])


_CONTENDERS = {
    "librdkafka, lines that are ready": "librdkafka, with prepared lines",
    "csv, json and kafka-python": "the loop with csv, json and kafka-python",
}
_PUBLISH = (
    Column("contender", lambda row: _CONTENDERS.get(row["contender"], row["contender"])),
    Column("median", lambda row: statistics.median(row["seconds"]), "{:.1f} s"),
    Column("worst", lambda row: max(row["seconds"]), "{:.1f} s"),
    Column("records/s", lambda row: row["rows"] / statistics.median(row["seconds"]), "{:,.0f}"),
)


def _publish(results: Results) -> str:
    result = results["publish"]
    return table(_PUBLISH, ({**row, "rows": result["rows"]} for row in result["results"]))


_PAGES = {
    "what is new on it": "the changed parts of the first page",
    "search: a text that many have": "search for a text that many queries contain",
    "search: an id": "search for an id",
    "search: a text that none has": "search for a text that no query contains",
    "search: a label that none has": "search for a label that no query has",
    "a block": "one block of the plan",
}
_CONSOLE = (
    Column("page", lambda row: _PAGES.get(row["page"], row["page"])),
    Column("first time", milliseconds("first_s"), "{:.0f} ms"),
    Column("median", milliseconds("median_s"), "{:.0f} ms"),
    Column("worst", milliseconds("worst_s"), "{:.0f} ms"),
    Column("all requests of the search", lambda row: row["whole_s"] * 1e3 if row["parts"] > 1 else None, "{:.0f} ms"),
)


def _console(results: Results) -> str:
    return table(_CONSOLE, results["console"]["pages"])


def share_text(loss: Mapping[str, float]) -> str:
    """Return the share of a throughput that is lost, with its interval.

    >>> share_text({"share": 0.013, "low": -0.005, "high": 0.032})
    '1.3 % (-0.5 .. 3.2)'
    """
    share, low, high = (loss[name] * 100 for name in ("share", "low", "high"))
    return f"{share:.1f} % ({low:.1f} .. {high:.1f})"


_CONSOLE_COST = (
    Column("throughput of the stream without viewers", "alone_records_a_s", "{:,.0f} records/s"),
    Column("throughput of the stream with viewers", "looked_at_records_a_s", "{:,.0f} records/s"),
    Column("share of the throughput that viewers cost, with the 95 % interval", lambda row: share_text(row["loss"])),
)


def _console_cost(results: Results) -> str:
    return listed(_CONSOLE_COST, results["console"]["stream"])


TABLES: Mapping[str, Callable[[Results], str]] = {
    "stream": _stream,
    "stream-phases": _stream_phases,
    "latency": _latency,
    "recovery": _recovery,
    "publish": _publish,
    "console": _console,
    "console-cost": _console_cost,
}
