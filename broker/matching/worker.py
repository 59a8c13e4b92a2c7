"""What runs in Spark's Python workers: batches of p-attributes in, for each row a text of what accepts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from asc.evaluation.executor import Matches
from asc.evaluation.executor import match as execute
from asc.plan.plan import Plan
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.plan_parts import PlanParts
from broker.matching.tally import Tallying, TaskTally
from broker.matching.transport import Transport

Output = Literal["queries", "deliveries"]

_PAIRS = 1 << 25
"""(row, query) pairs that one call of the executor may find: 256 MiB of them."""

_FEWEST_ROWS = 1_024
"""Rows of a call at least, for the sake of its speed."""

_PIECE_BYTES = 1 << 27
"""Bytes of text that leave Python in one piece; an Arrow array of strings holds 2 GiB."""

Rows = npt.NDArray[np.signedinteger[Any]]
Batch = tuple[pd.Series, ...]


def matching_task(
    transport: Transport, parts: PlanParts, output: Output, tallying: Tallying | None = None
) -> Callable[[Iterator[Batch]], Iterator[pd.Series]]:
    """The function of a Pandas UDF over iterators: arguments of the transport in, texts out.

    A text is NULL where no query accepts the row. Without a topic: ids. With topics: the topic and its ids, for each.
    Pieces that leave may be smaller than the batches that come, so that even the ids of a row that every query
    accepts, times the rows of a batch, have room. With ``tallying``, each task counts and draws.
    """

    def matched(batches: Iterator[Batch]) -> Iterator[pd.Series]:
        decoded = parts.plan
        most = max(_FEWEST_ROWS, _PAIRS // max(1, len(decoded)))
        pairs = pairs_a_piece(decoded, output)
        tally = None if tallying is None else TaskTally(tallying)
        match_s = 0.0
        for batch in batches:
            begun = perf_counter()
            # PySpark hands a lone argument over bare.
            arrived = batch if isinstance(batch, tuple) else (batch,)
            columns, count = transport.read(arrived), len(arrived[0])
            if tally is not None and tallying is not None:
                if tallying.counts_records:
                    *_, last = arrived
                    tally.add_records(last.to_numpy())
                tally.add_errors(decoded, columns, partial(transport.errors, arrived))
            for start in range(0, max(1, count), most):
                part = [column.slice(start, most) for column in columns] if count > most else columns
                matches = execute(decoded, part, min(most, count - start))
                if tally is not None:
                    tally.add(decoded.p_attributes, part, matches)
                written = 0
                for texts in texts_of(decoded, matches, output, pairs):
                    written += pc.sum(pc.count_substring(texts, AFTER_TOPIC)).as_py() or 0
                    match_s += perf_counter() - begun
                    yield pd.Series(pd.arrays.ArrowExtensionArray(texts))
                    begun = perf_counter()
                if tally is not None:
                    tally.add_accepted(len(decoded), matches.queries, written)
            match_s += perf_counter() - begun
        if tally is not None:
            tally.hand_over(match_s)

    return matched


def pairs_a_piece(plan: Plan, output: Output, piece_bytes: int = _PIECE_BYTES) -> int:
    """The (row, query) pairs whose texts come to about ``piece_bytes`` at most, if all are as long as the longest."""
    longest = _longest(plan.query_ids) + 1
    if output == "deliveries":
        longest += _longest(plan.topic_names) + 1
    return max(1, piece_bytes // longest)


def texts_of(plan: Plan, matches: Matches, output: Output, pairs: int) -> Iterator[pa.Array]:
    """The texts of all rows of a batch in their order, in pieces of so many ``pairs`` at most, a row at least."""
    text = _deliveries if output == "deliveries" else _ids
    for first, last in _pieces(matches, pairs):
        low, high = np.searchsorted(matches.rows, (first, last))
        rows, texts = text(plan, matches.rows[low:high], matches.queries[low:high])
        places = np.full(last - first, -1, dtype=np.int64)
        places[rows - first] = np.arange(len(rows))
        yield texts.take(pa.array(places, mask=places < 0))


def _pieces(matches: Matches, pairs: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose texts stay within a piece."""
    first = 0
    while len(matches) and first < matches.tuples:
        # The row of the first pair that has no room; a row alone is never divided.
        place = int(np.searchsorted(matches.rows, first)) + pairs
        last = max(first + 1, int(matches.rows[place])) if place < len(matches) else matches.tuples
        yield first, last
        first = last
    if not len(matches):
        yield 0, matches.tuples


def _longest(texts: pa.StringArray) -> int:
    return (pc.max(pc.binary_length(texts)).as_py() or 0) if len(texts) else 0


def _ids(plan: Plan, rows: Rows, queries: Rows) -> tuple[Rows, pa.Array]:
    """The accepted rows, and beside each the ids, in the order of ``queries``."""
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    ids = plan.query_ids.take(pa.array(queries))
    return rows[first], pc.binary_join(_lists(first, ids), BETWEEN_IDS)


def _deliveries(plan: Plan, rows: Rows, queries: Rows) -> tuple[Rows, pa.Array]:
    """The accepted rows, and beside each its topics with their ids; ids stay sorted, as the sort here is stable."""
    topics = plan.topic_of[queries]
    order = np.lexsort((topics, rows))
    rows, topics = rows[order], topics[order]
    first = np.flatnonzero((np.diff(rows, prepend=-1) != 0) | (np.diff(topics, prepend=-1) != 0))
    ids = plan.query_ids.take(pa.array(queries[order]))
    joined = pc.binary_join(_lists(first, ids), BETWEEN_IDS)
    names = plan.topic_names.take(pa.array(topics[first]))
    delivered = pc.binary_join_element_wise(names, joined, AFTER_TOPIC)
    rows = rows[first]
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    return rows[first], pc.binary_join(_lists(first, delivered), BETWEEN_TOPICS)


def _lists(starts: Rows, values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.append(starts, len(values)).astype(np.int32)), values)
