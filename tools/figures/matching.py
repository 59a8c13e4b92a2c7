"""Tables of the matching engine by itself, on one thread: one record, many queries, and predicates of one kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.figures.results import Results
from tools.figures.table import Column, Row, at, by_contender, listed, markdown, milliseconds, ratio, table, times

_QUERIES = Column("queries", "queries", "{:,}")

_MATCH = (
    Column("workload", "workload"),
    _QUERIES,
    Column("tuples/s", "tuples_per_s", "{:,.0f}"),
    Column("us a tuple", times("engine_ms", 1e3), "{:.2f}"),
    Column("brute force, us", times("brute_force_ms", 1e3), "{:.2f}"),
    Column("scan, us", times("scan_ms", 1e3), "{:.2f}"),
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
    Column("in batches of 256", "small_batch_us", "{:.2f}"),
    Column("as ids", "ids_us", "{:.2f}"),
    Column("brute force", ratio("brute_force_us", "pairs_us"), "{:.1f} x"),
    Column("scan", ratio("scan_us", "pairs_us"), "{:.0f} x"),
    Column("tuples/s, both cores", "tuples_a_s", "{:,.0f}"),
    Column("bytes a query", "bytes_a_query", "{:,.0f}"),
    Column("build", "build_s", "{:.1f} s"),
)


def _scale(results: Results) -> str:
    result = results["scale"]
    return table(_SCALE, ({**row, "batch": result["batch"]} for row in result["results"]))


_PATTERNS = (
    _QUERIES,
    Column("asc", "asc/us", "{:,.1f}"),
    Column("a search each", "a search each/us", "{:,.1f}"),
    Column("DuckDB, a join", "DuckDB, a join/us", "{:,.1f}"),
    Column("matches a line", "asc/matches_a_line", "{:.2f}"),
    Column("bytes a query", "asc/bytes_a_query", "{:,.0f}"),
    Column("build", "asc/build_s", "{:.1f} s"),
)


def _patterns(results: Results) -> str:
    return table(_PATTERNS, by_contender(results["patterns"]["results"], ["queries"]))


_VALUES_QUERIES = (1_000, 4_096, 10_000, 100_000, 1_000_000)
_VALUES_MEMORY_QUERIES = 100_000
_LAYOUTS = ("bitmaps", "lists")


def _values(results: Results) -> str:
    """Return the table of microseconds per record with bitmaps and with lists. The layout that the compiler chooses is
    bold.
    """
    cases: dict[str, dict[int, Row]] = {}
    for case in by_contender(results["values"]["results"], ["workload", "queries"]):
        cases.setdefault(case["workload"], {})[case["queries"]] = case
    titles = ["column, queries a value", *(f"{queries:,} queries" for queries in _VALUES_QUERIES)]
    return markdown(
        titles,
        ([name, *(_both_layouts(own.get(queries)) for queries in _VALUES_QUERIES)] for name, own in cases.items()),
    )


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
    Column("column, queries a value", "workload"),
    Column("matches a record", "lists/matches_a_record", "{:.2f}"),
    *(Column(f"bytes a query, {layout}", f"{layout}/bytes_a_query", "{:.0f}") for layout in _LAYOUTS),
    *(Column(f"one more, {layout}", f"{layout}/one_more_ms", "{:.1f} ms") for layout in _LAYOUTS),
)


def _values_memory(results: Results) -> str:
    cases = by_contender(results["values"]["results"], ["workload", "queries"])
    # Memory does not depend on how many records have an asked value.
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
    Column("asc", "asc/us", "{:.3f}"),
    Column("`STRtree.query`", "STRtree.query/us", "{:.2f}"),
    Column("`STRtree`, prepared shapes", "STRtree, prepared/us", "{:.2f}"),
    Column("faster than the better", faster_than_shapely, "{:.1f} x"),
    Column("SedonaDB", "SedonaDB/us", "{:.2f}"),
    Column("matches a position", "asc/matches_a_position", "{:.2f}"),
    Column("bytes a fence beside its vertices", "asc/index_bytes_a_fence", "{:.0f}"),
    Column("index", "asc/index_s", "{:.2f} s"),
    Column("one fence more", "asc/one_more_ms", "{:.0f} ms"),
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
        Column(f"a star of {star['vertices']:,} vertices", "star/asc", "{:.1f} us a position"),
        Column("the same, GEOS with the shape prepared", "star/GEOS", "{:.0f} us a position"),
        Column(
            f"`broker.match`, {through['fences']:,} fences, {through['rows']:,} records",
            "spark/median_s/fences",
            "{:.2f} s",
        ),
        Column("the same beside one plain predicate, 95 % interval", lambda row: _interval(row, "spark/ratio"), "{} x"),
        Column("Sedona's join of the same records and shapes", "spark/sedona/median_s", "{:.1f} s"),
        Column(
            f"one fence more among {more.get('fences', 0):,}, over HTTP, median",
            milliseconds("http/change_p50_s"),
            "{:.0f} ms",
        ),
        Column("the same, at worst", milliseconds("http/change_worst_s"), "{:.0f} ms"),
        Column("the load of all of them over HTTP", "http/load_s", "{:.0f} s"),
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
