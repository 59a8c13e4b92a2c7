"""Tables of the times of changes of the standing queries: single registrations, changes among large numbers of queries,
and the validation of predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.figures.results import Results
from tools.figures.table import Column, milliseconds, table

_CHANGES = {
    "bulk load (NDJSON)": "load all queries in one request (NDJSON)",
    "register, topic is there": "register a query whose topic exists",
    "register, topic is made": "register a query whose topic is made",
    "replace": "replace a query",
    "remove": "remove a query",
    "asc query add": "`asc query add`",
    "asc query check": "`asc query check`",
}


def change_name(change: str) -> str:
    """Return the name of a change of the benchmark in words.

    >>> change_name("remove")
    'remove a query'
    """
    return _CHANGES.get(change, change)


_REGISTRATION = (
    Column("change", lambda row: change_name(row["change"])),
    Column("runs", lambda row: len(row["runs_s"])),
    Column("median", milliseconds("median_s"), "{:,.0f} ms"),
    Column("worst", milliseconds("worst_s"), "{:,.0f} ms"),
)


def _registration(results: Results) -> str:
    changes = results["registration"]["results"]
    return table(_REGISTRATION, ({**row, "change": change} for change, row in changes.items()))


_STANDING = (
    Column("queries", "queries", "{:,}"),
    Column("time to load", "load_s", "{:.1f} s"),
    Column("one change, p50", milliseconds("change_p50_s"), "{:.0f} ms"),
    Column("one change, p99", milliseconds("change_p99_s"), "{:.0f} ms"),
    Column("one change, worst", milliseconds("change_worst_s"), "{:.0f} ms"),
    Column("changes in bulk", "bulk_changes_a_second", "{:,.0f}/s"),
    Column("start without queries", "empty_ready_s", "{:.1f} s"),
    Column("start with the snapshot", "ready_s", "{:.1f} s"),
    Column("start without the snapshot", "ready_without_s", "{:.1f} s"),
    Column("memory, bytes a query", "memory_a_query_bytes", "{:,}"),
    Column("plan, bytes a query", "plan_a_query_bytes", "{:,}"),
)


def _standing(results: Results) -> str:
    return table(_STANDING, results["standing"]["results"])


_JUDGING = (
    Column("verdict", "verdict"),
    Column("predicates", "count", "{:,}"),
    Column("median", milliseconds("median_s"), "{:.0f} ms"),
    Column("99 % within", milliseconds("p99_s"), "{:.0f} ms"),
    Column("worst", milliseconds("worst_s"), "{:.0f} ms"),
)


def _validation(results: Results) -> str:
    result = results["validation"]
    rows = [{**row, "verdict": verdict} for verdict, row in result["results"].items()]
    first = {"verdict": "the first fifty requests, which no other row counts", "worst_s": result["first_worst_s"]}
    return table(_JUDGING, [*rows, first])


TABLES: Mapping[str, Callable[[Results], str]] = {
    "registration": _registration,
    "standing": _standing,
    "validation": _validation,
}
