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
from asc.keys.buffers import Mask
from asc.plan.plan import Plan
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.plan_parts import PlanParts
from broker.matching.tally import Tallying, TaskTally
from broker.matching.transport import Transport

Output = Literal["queries", "deliveries"]

_PAIRS = 1 << 25
"""(row, query) pairs that one call of the executor may find: 256 MiB of them."""

_FEWEST_ROWS = 16
"""Rows of a call at least, whatever they find."""

_SPARE = 4
"""Times as many pairs a row are reckoned with as the rows before had."""

_HOPED = 32
"""Times as many rows, at most, as surely had room: the next ones may be other rows than those before."""

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
    accepts, times the rows of a batch, have room. With ``tallying``, each task counts and draws. Where it counts
    records, a dead letter is accepted by none, whatever its columns, all NULL, would meet.
    """

    def matched(batches: Iterator[Batch]) -> Iterator[pd.Series]:
        decoded = parts.plan
        most = rows_of_a_call(len(decoded))
        pairs = pairs_a_piece(decoded, output)
        tally = None if tallying is None else TaskTally(tallying)
        match_s = 0.0
        for batch in batches:
            begun = perf_counter()
            # PySpark hands a lone argument over bare.
            arrived = batch if isinstance(batch, tuple) else (batch,)
            columns, count = transport.read(arrived), len(arrived[0])
            dead = None
            if tally is not None and tallying is not None:
                if tallying.counts_records:
                    *_, last = arrived
                    dead = tally.add_records(last.to_numpy())
                tally.add_errors(decoded, columns, partial(_errors, transport, arrived, dead))
            start = 0
            while start < max(1, count):
                is_whole = start == 0 and count <= most
                part = columns if is_whole else [column.slice(start, most) for column in columns]
                matches = execute(decoded, part, min(most, count - start))
                found = len(matches) / max(1, matches.tuples)
                if dead is not None:
                    matches = matches.without(dead[start : start + most])
                start, most = start + most, rows_of_a_call(len(decoded), found)
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


def rows_of_a_call(queries: int, found: float | None = None) -> int:
    """The rows that one call of the executor is given, so that its pairs have room, of so many queries: as if every
    query accepted every row, or, where told what the rows before ``found``, pairs a row, as if these had many more.

    >>> rows_of_a_call(1_000_000), rows_of_a_call(1_000_000, 2.5), rows_of_a_call(1_000_000, 1e6)
    (33, 1056, 33)
    """
    surely = max(_FEWEST_ROWS, _PAIRS // max(1, queries))
    if found is None:
        return surely
    return max(surely, min(_HOPED * surely, int(_PAIRS / (1 + _SPARE * found))))


def _errors(transport: Transport, arrived: Batch, dead: Mask | None) -> dict[int, Mask]:
    """Where evaluation failed, by slot, for the rows that are records: bool[rows]."""
    errors = transport.errors(arrived)
    return errors if dead is None else {slot: mask & ~dead for slot, mask in errors.items()}


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
