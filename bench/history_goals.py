"""The goals of the benchmark of cubes over long times, each compared with the measured figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.cube_goals import Goal

Row = Any
"""The result of one row of the benchmark, in the form of the JSON file."""


def goals_of(rows: Mapping[str, Row]) -> list[Goal]:
    """Return the goals of the measured rows, in the order of the rows."""
    return [goal for name, row in rows.items() for goal in _READERS[name](row)]


def _views(row: Row) -> Iterator[Goal]:
    for grain in dict.fromkeys(own["grain"] for own in row["results"]):
        several = [own for own in row["results"] if own["grain"] == grain]
        measure = f"records/s with {several[-1]['views']} views / with one, panes of the views of one {grain}"
        yield Goal(measure, several[-1]["ratio"], 0.9)


def _year(row: Row) -> Iterator[Goal]:
    cells = f"{row['panes']:,} panes with {row['cells']:,} cells"
    yield Goal(f"time of an answer by month over {cells}", row["own_s"] * 1e3, 50.0, "{:.1f} ms", is_least=False)
    yield Goal("time of the answer by month without views / with a view", row["base_s"] / row["own_s"], 20.0)
    measure = f"time of DuckDB over {row['raw_records']:,} records / asc, by month"
    yield Goal(measure, row["duckdb_s"] / row["own_s"], 100.0)


def _ageing(row: Row) -> Iterator[Goal]:
    measure = f"time to merge {row['panes']:,} panes x {row['cells']:,} cells into one"
    yield Goal(measure, row["median_s"], 1.0, "{:.2f} s", is_least=False)
    measure = "time that the ageing adds to the slowest question meanwhile"
    yield Goal(measure, row["held_s"] * 1e3, 20.0, "{:.1f} ms", is_least=False)


def _optimiser(row: Row) -> Iterator[Goal]:
    worst = max(own["ratio"] for own in row["results"])
    rival = f"the best of {row['random_sets']:,} random sets of as many"
    yield Goal(
        f"cost of the optimiser's views / of {rival}, the worst of {len(row['results'])}", worst, 1.3, is_least=False
    )


def _shards(row: Row) -> Iterator[Goal]:
    for name in ("split", "merge"):
        yield Goal(
            f"time to {name} a shard of {row['cells']:,} cells", row[f"{name}_s"], 1.0, "{:.2f} s", is_least=False
        )
    measure = "time that a split or merge adds to the slowest batch meanwhile"
    yield Goal(measure, row["held_s"], 1.0, "{:.2f} s", is_least=False)


def _backfill(row: Row) -> Iterator[Goal]:
    yield Goal("records/s of a backfill / of DuckDB that inserts the same NDJSON", row["ratio"], 1.5)
    yield Goal("throughput of a backlog beside a backfill / without a backfill", row["routing_ratio"], 0.9)


_READERS: Mapping[str, Callable[[Row], Iterator[Goal]]] = {
    "views": _views,
    "year": _year,
    "ageing": _ageing,
    "optimiser": _optimiser,
    "shards": _shards,
    "backfill": _backfill,
}
