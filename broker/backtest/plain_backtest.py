"""Back-tests without Spark: queries that compare plain columns, over files whose values Arrow reads as Spark would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from broker.backtest.backtest_result import BacktestResult
from broker.files.decoding import Decoding
from broker.files.plain_rows import plain_tables

if TYPE_CHECKING:
    from asc.keys.attribute import PAttribute
    from asc.plan.plan import Query

_PAIRS_MAX = 1 << 24
"""The largest number of (row, query) pairs that one call of the executor may find. They take 128 MiB of memory."""


def why_spark(queries: Sequence[Query]) -> str | None:
    """Return a text that names the first expression of the queries that only Spark can compute. Return None if the
    queries do not need Spark.
    """
    for query in queries:
        for attribute in query.predicate.p_attributes:
            if attribute.is_computed:
                return f"query {query.id!r} has Spark compute {attribute.as_written}"
    return None


def match_plainly(
    inputs: Sequence[Path], format_name: str, decoding: Decoding, queries: Mapping[str, str]
) -> BacktestResult:
    """Count the rows that each query accepts. Raise DoubtError if only Spark can decide how to read a row."""
    import numpy as np
    from tqdm import tqdm

    from asc.matcher import Matcher

    matcher = Matcher(decoding.schema, time_zone=decoding.time_zone)
    matcher.add_many(queries.items())
    needed = set(_columns(matcher.plan.p_attributes))
    step = max(1, _PAIRS_MAX // max(1, len(matcher)))
    rows = accepted = 0
    counts: Counter[str] = Counter()
    total = sum(path.stat().st_size for path in inputs)
    with tqdm(total=total, unit="B", unit_scale=True, desc="matching", disable=None) as bar:
        done = 0

        def advance(read: int) -> None:
            bar.update(done + read - bar.n)

        for path in inputs:
            for table in plain_tables(path, format_name, decoding, needed, advance):
                for start in range(0, table.num_rows, step):
                    pairs = matcher.match(table.slice(start, step))
                    accepted += len(np.unique(pairs["row"].to_numpy()))
                    counts.update({c["values"]: c["counts"] for c in pairs["query"].value_counts().to_pylist()})
                rows += table.num_rows
            done += path.stat().st_size
    return BacktestResult(rows, accepted, {query_id: counts[query_id] for query_id in queries})


def _columns(attributes: Iterable[PAttribute]) -> Iterator[str]:
    """Yield the columns that p-attributes read. None of the p-attributes may be a computed expression."""
    for attribute in attributes:
        if attribute.parts:
            yield from _columns(attribute.parts)
        elif attribute.path:
            yield attribute.path[0]
