"""Tables that compare the engine with DuckDB, Polars, compiled loops, and Spark without the engine. All of them
evaluate the same predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tools.figures.results import Result, Results
from tools.figures.table import Column, Read, Row, at, by_contender, table

PEERS = ("asc", "brute force", "scan", "DuckDB, a join", "Polars, an expression each", "Spark, a join")
MATCH = "broker.match"
BARE = "identity mapInArrow (the bare transport)"

_PEERS = (
    Column("workload", "workload"),
    Column("queries", "queries", "{:,}"),
    *(Column(peer, f"{peer}/us", "{:,.1f}") for peer in PEERS),
)


def _peers(results: Results) -> str:
    return table(_PEERS, by_contender(results["peers"]["results"], ["workload", "queries"]))


def _seconds(contender: str) -> Read:
    """Return a function that reads from a row the median time of a contender as text. For a contender that was stopped,
    the text has the time of the stop.
    """

    def read(row: Row) -> str | None:
        measured = at(row, contender)
        if measured is None:
            return None
        if measured["stopped_after_s"] is not None:
            return f"stopped at {measured['stopped_after_s']:.0f} s"
        return f"{measured['median_s']:.2f} s"

    return read


def _to_bare(row: Row) -> str:
    own = row[MATCH]["to_bare"]
    return f"{own['ratio']:.2f} ({own['low']:.2f} .. {own['high']:.2f})"


_ENGINE = (
    Column(f"`{MATCH}`", _seconds(MATCH)),
    Column("identity `mapInArrow`", _seconds(BARE)),
    Column("time of `broker.match` / identity `mapInArrow`", _to_bare),
)
_SPARK = (
    Column("predicates", "queries", "{:,}"),
    *_ENGINE,
    Column("`filter(transform(...))`", _seconds("filter(transform(array of predicates))")),
    Column("broadcast nested-loop join", _seconds("broadcast nested-loop join")),
    Column("compile from text", "compile_s", "{:.2f} s"),
)
_SPARK_MANY = (
    Column("alerts", "queries", "{:,}"),
    *_ENGINE,
    Column("goal for the ratio", "goal", "{:.1f}"),
    Column("matches", f"{MATCH}/pairs", "{:,}"),
    Column("compile from text", "compile_s", "{:.2f} s"),
)


def _spark_rows(results: Result, compiling_s: Mapping[str, float]) -> Iterator[Row]:
    for count, row in results.items():
        yield {**row, "queries": int(count), "compile_s": compiling_s[count]}


def _spark(results: Results) -> str:
    result = results["spark"]
    return table(_SPARK, _spark_rows(result["results"], result["compiling_s"]))


def _spark_many(results: Results) -> str:
    result = results["spark"]
    goals = {ratio["predicates"]: ratio.get("goal") for ratio in result["many_ratios"]}
    rows = _spark_rows(result["many"], result["compiling_many_s"])
    return table(_SPARK_MANY, ({**row, "goal": goals.get(row["queries"])} for row in rows))


TABLES: Mapping[str, Callable[[Results], str]] = {"peers": _peers, "spark": _spark, "spark-many": _spark_many}
