"""Tables of the matching engine by itself, on one thread: one record, many queries, and predicates of one kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tools.figures.results import Results
from tools.figures.table import Column, Row, at, by_contender, listed, markdown, milliseconds, ratio, table, times

_QUERIES = Column("queries", "queries", "{:,}")

_MATCH = (
    Column("workload", "workload"),
    _QUERIES,
    Column("tuples/s", "tuples_per_s", "{:,.0f}"),
    Column("us a tuple", times("engine_ms", 1e3), "{:.2f}"),
    Column("brute force, us a tuple", times("brute_force_ms", 1e3), "{:.2f}"),
    Column("scan, us a tuple", times("scan_ms", 1e3), "{:.2f}"),
    Column("bytes a query", "bytes_per_query", "{:,.0f}"),
    Column("compile from text", times("text_ms", 1e-3), "{:.2f} s"),
)


def _match(results: Results) -> str:
    return table(_MATCH, results["match"]["results"])


def _queries_of_batch(row: Row) -> str:
    """Return the number of queries as text. If a batch has fewer tuples than in other rows, append the number of tuples
    in brackets.
    """
    return f"{row['queries']:,}" + (f" ({row['rows']:,})" if row["rows"] < row["batch"] else "")


_SCALE = (
    Column("workload", "workload"),
    Column("queries", _queries_of_batch),
    Column("matches a tuple", "matches_a_tuple", "{:,.2f}"),
    Column("us a tuple", "pairs_us", "{:.2f}"),
    Column("us a tuple, in batches of 256", "small_batch_us", "{:.2f}"),
    Column("us a tuple, matches as ids", "ids_us", "{:.2f}"),
    Column("time of brute force / asc", ratio("brute_force_us", "pairs_us"), "{:.1f} x"),
    Column("time of scan / asc", ratio("scan_us", "pairs_us"), "{:.0f} x"),
    Column("tuples/s, both cores", "tuples_a_s", "{:,.0f}"),
    Column("bytes a query", "bytes_a_query", "{:,.0f}"),
    Column("time to build the plan", "build_s", "{:.1f} s"),
)


def _scale(results: Results) -> str:
    result = results["scale"]
    return table(_SCALE, ({**row, "batch": result["batch"]} for row in result["results"]))


_PATTERNS = (
    _QUERIES,
    Column("asc, us a line", "asc/us", "{:,.1f}"),
    Column("a search for each query, us a line", "a search each/us", "{:,.1f}"),
    Column("DuckDB, a join, us a line", "DuckDB, a join/us", "{:,.1f}"),
    Column("matches a line", "asc/matches_a_line", "{:.2f}"),
    Column("bytes a query", "asc/bytes_a_query", "{:,.0f}"),
    Column("time to build the plan", "asc/build_s", "{:.1f} s"),
)


def _patterns(results: Results) -> str:
    return table(_PATTERNS, by_contender(results["patterns"]["results"], ["queries"]))


_VALUES_QUERIES = (1_000, 4_096, 10_000, 100_000, 1_000_000)
_VALUES_MEMORY_QUERIES = 100_000
_LAYOUTS = ("bitmaps", "lists")
_VALUES_NAME = "column, number of queries for each value"


def _values(results: Results) -> str:
    """Return the table of microseconds per record with bitmaps and with lists. The layout that the compiler chooses is
    bold.
    """
    cases: dict[str, dict[int, Row]] = {}
    for case in by_contender(results["values"]["results"], ["workload", "queries"]):
        cases.setdefault(case["workload"], {})[case["queries"]] = case
    titles = [_VALUES_NAME, *(f"{queries:,} queries" for queries in _VALUES_QUERIES)]
    rows = (
        [_values_name(name), *(_both_layouts(own.get(queries)) for queries in _VALUES_QUERIES)]
        for name, own in cases.items()
    )
    return markdown(titles, rows)


def _values_name(workload: str) -> str:
    """Return the name of a case of the benchmark in words.

    >>> _values_name("squawk, 4 a value, and a range, 10% asked")
    'squawk, 4 for each value, with a range on another column; queries ask for the values of 10 % of the records'
    """
    name = workload.replace(" a value", " for each value").replace("and a range", "with a range on another column")
    return re.sub(r", (\d+)% asked", r"; queries ask for the values of \1 % of the records", name)


def _both_layouts(case: Row | None) -> str:
    if case is None:
        return "-"
    cells = []
    for layout in _LAYOUTS:
        us = case[layout]["us"]
        text = f"{us:.3f}" if us < 1 else f"{us:.2f}"
        cells.append(f"**{text}**" if case[layout]["chosen"] else text)
    return " / ".join(cells)


_VALUES_MEMORY = (
    Column(_VALUES_NAME, lambda row: _values_name(row["workload"])),
    Column("matches a record", "lists/matches_a_record", "{:.2f}"),
    *(Column(f"bytes a query, {layout}", f"{layout}/bytes_a_query", "{:.0f}") for layout in _LAYOUTS),
    *(Column(f"time to add a query, {layout}", f"{layout}/one_more_ms", "{:.1f} ms") for layout in _LAYOUTS),
)


def _values_memory(results: Results) -> str:
    cases = by_contender(results["values"]["results"], ["workload", "queries"])
    # Memory does not depend on the share of records whose value some query accepts, so cases with one share suffice.
    kept = (case for case in cases if case["queries"] == _VALUES_MEMORY_QUERIES and case["lists"]["asked"] == 1)
    return table(_VALUES_MEMORY, kept)


_TREES = ("STRtree.query", "STRtree, prepared")


def faster_than_shapely(case: Row) -> float:
    """Return the speed of the engine as a multiple of the speed of the faster one of shapely's two methods.

    >>> faster_than_shapely({"asc": {"us": 0.5}, "STRtree.query": {"us": 2.0}, "STRtree, prepared": {"us": 1.0}})
    2.0
    """
    rival: float = min(at(case, f"{tree}/us") for tree in _TREES)
    return rival / float(at(case, "asc/us"))


_SPATIAL = (
    Column("fences", "queries", "{:,}"),
    Column("asc, us a position", "asc/us", "{:.3f}"),
    Column("`STRtree.query`, us a position", "STRtree.query/us", "{:.2f}"),
    Column("`STRtree` with prepared shapes, us a position", "STRtree, prepared/us", "{:.2f}"),
    Column("time of shapely's faster method / asc", faster_than_shapely, "{:.1f} x"),
    Column("SedonaDB, us a position", "SedonaDB/us", "{:.2f}"),
    Column("matches a position", "asc/matches_a_position", "{:.2f}"),
    Column("bytes a fence, without its vertices", "asc/index_bytes_a_fence", "{:.0f}"),
    Column("time to make the index", "asc/index_s", "{:.2f} s"),
    Column("time to add a fence", "asc/one_more_ms", "{:.0f} ms"),
)


def _spatial(results: Results) -> str:
    return table(_SPATIAL, by_contender(results["spatial"]["results"], ["queries"]))


def _interval(row: Row, path: str) -> str | None:
    value = at(row, path)
    return None if value is None else f"{value['ratio']:.2f} ({value['low']:.2f} .. {value['high']:.2f})"


def _spatial_beside(results: Results) -> str:
    result = results["spatial"]
    star, through = result["star"], result["spark"]
    more = result["http"] or {}
    columns = (
        Column(f"asc, a star of {star['vertices']:,} vertices", "star/asc", "{:.1f} us a position"),
        Column("GEOS with the same star as a prepared shape", "star/GEOS", "{:.0f} us a position"),
        Column(
            f"`broker.match`, {through['fences']:,} fences, {through['rows']:,} records",
            "spark/median_s/fences",
            "{:.2f} s",
        ),
        Column(
            "time of `broker.match` with these fences / with one plain predicate, 95 % interval",
            lambda row: _interval(row, "spark/ratio"),
            "{} x",
        ),
        Column("Sedona's join of the same records and shapes", "spark/sedona/median_s", "{:.1f} s"),
        Column(
            f"time to add a fence to {more.get('fences', 0):,} others over HTTP, median",
            milliseconds("http/change_p50_s"),
            "{:.0f} ms",
        ),
        Column("time to add a fence over HTTP, worst", milliseconds("http/change_worst_s"), "{:.0f} ms"),
        Column("time to load all of these fences over HTTP", "http/load_s", "{:.0f} s"),
    )
    return listed(columns, result)


TABLES: Mapping[str, Callable[[Results], str]] = {
    "match": _match,
    "scale": _scale,
    "patterns": _patterns,
    "values": _values,
    "values-memory": _values_memory,
    "spatial": _spatial,
    "spatial-beside": _spatial_beside,
}
