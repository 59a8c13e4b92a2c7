"""Matching in Spark's Python workers: the input is p-attributes, the output is a text of the accepting queries for each
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from asc.evaluation.executor import Matches, match_within
from asc.keys.buffers import Mask
from asc.plan.plan import Plan
from broker.matching.destinations import Destinations, Operated
from broker.matching.fold_task import Folding, TaskFold
from broker.matching.matches_text import AFTER_SHAPES, AFTER_TARGET, AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.plan_ids import RegisteredIds, header_texts
from broker.matching.plan_parts import PlanParts
from broker.matching.tally import Tallying, TaskTally
from broker.matching.transport import Transport

Output = Literal["queries", "deliveries"]

_PAIRS = 1 << 25
"""The largest number of (row, query) pairs that one call of the executor may find. So many pairs take 256 MiB."""

_SPARE = 4
"""The safety factor in the number of rows for a call of the executor: the rows may have this many times as many (row,
query) pairs as earlier rows. A call that finds too many pairs is repeated.
"""

_PIECE_BYTES = 1 << 27
"""The size in bytes of the texts that leave Python in one piece. An Arrow array of strings holds up to 2 GiB."""

Rows = npt.NDArray[np.signedinteger[Any]]
Batch = tuple[pd.Series, ...]


def matching_task(
    transport: Transport,
    parts: PlanParts,
    output: Output,
    tallying: Tallying | None = None,
    folding: Folding | None = None,
) -> Callable[[Iterator[Batch]], Iterator[pd.Series]]:
    """Return the function of a Pandas UDF over iterators. The function takes the transport's arguments and yields a
    text for each row.

    A text is NULL if no query accepts the row. The output ``queries`` lists the ids of the accepting queries, and
    ``deliveries`` lists each topic with its ids. Output pieces may be smaller than input batches, so that the texts fit
    even if every query accepts each row. With ``tallying``, each task counts and samples. If ``tallying`` counts
    records, the record's number is the last argument, and no query accepts a dead letter, whose columns are all NULL.

    With ``folding``, which needs counted records, each task folds the records that queries with this handoff accept,
    and no text contains the ids of these queries. With event times or folding, the number of the source partition
    follows the transport's arguments, and the event times follow this number.
    """

    def matched(batches: Iterator[Batch]) -> Iterator[pd.Series]:
        decoded, registered, destinations = parts.plan, parts.registered, parts.destinations
        # Queries of an operator that accept the same records share one evaluation. The written ids are still those of
        # each query.
        evaluated, alike = parts.evaluated if output == "deliveries" else (decoded, None)
        most, width = _PAIRS, len(decoded.p_attributes)
        pairs = pairs_a_piece(decoded, output, destinations=destinations)
        tally = None if tallying is None else TaskTally(tallying, alike)
        folded = destinations.folded
        fold = None if folding is None or folded is None else TaskFold(folding, folded)
        match_s = 0.0
        for batch in batches:
            start_s = perf_counter()
            # PySpark passes a single argument without a tuple.
            arrived = batch if isinstance(batch, tuple) else (batch,)
            columns, count = transport.read(arrived), len(arrived[0])
            columns, carried = columns[:width], columns[width:]
            dead = None
            if tally is not None and tallying is not None:
                if tallying.counts_records:
                    dead = _add_facts(tally, fold, tallying, carried, arrived[len(transport.arguments) :])
                tally.add_errors(decoded, columns, partial(_errors, transport, arrived, dead))
            start = 0
            while start < max(1, count):
                rest = [column.slice(start) for column in columns]
                matches = match_within(evaluated, rest, min(most, count - start), _PAIRS)
                most = rows_of_a_call(len(decoded), len(matches) / max(1, matches.tuples))
                if dead is not None:
                    matches = matches.without(dead[start : start + matches.tuples])
                if fold is not None:
                    fold.accept(start, matches)
                start += max(1, matches.tuples)
                if tally is not None:
                    part = [column.slice(0, matches.tuples) for column in rest]
                    tally.add(decoded.p_attributes, part, matches)
                written = 0
                for texts in texts_of(decoded, registered, matches, output, pairs, destinations=destinations):
                    written += _written(texts, destinations)
                    match_s += perf_counter() - start_s
                    yield pd.Series(pd.arrays.ArrowExtensionArray(texts))
                    start_s = perf_counter()
                if tally is not None:
                    tally.add_accepted(len(registered.ids), registered.accepted(matches.rows, matches.queries), written)
            if fold is not None:
                fold.end()
            match_s += perf_counter() - start_s
        if fold is not None:
            fold.hand_over()
        if tally is not None:
            tally.hand_over(match_s)

    return matched


def _add_facts(
    tally: TaskTally, fold: TaskFold | None, tallying: Tallying, carried: Sequence[pa.Array], facts: Batch
) -> Mask | None:
    """Add the facts about a batch's records to the tally. Return the mask of the dead letters. Return None if there are
    no dead letters.

    If ``fold`` is not None, also begin a batch in ``fold`` (:meth:`TaskFold.begin`).
    """
    numbers = facts[-1].to_numpy()
    dead = tally.add_records(numbers)
    if tallying.times:
        tally.add_times(facts[0].to_numpy(), [series.to_numpy() for series in facts[1:-1]])
    if fold is not None:
        fold.begin(carried, facts[0].to_numpy(), numbers, dead)
    return dead


def _written(texts: pa.Array, destinations: Destinations) -> int:
    """Return the number of records to write to topics of queries, according to the texts. Targets of operators are not
    counted.
    """
    topics = _counted(texts, AFTER_TOPIC)
    return topics if destinations.operated is None else topics - _counted(texts, AFTER_TARGET)


def rows_of_a_call(queries: int, pairs_a_row: float) -> int:
    """Return the number of rows for the next executor call. ``pairs_a_row``: the number of (row, query) pairs for each
    row in earlier calls.

    The result is at least the number of rows that fit if every query accepts every row.

    >>> rows_of_a_call(10, 0.0), rows_of_a_call(1_000_000, 2.5), rows_of_a_call(1_000_000, 1e6)
    (33554432, 3050402, 33)
    """
    return max(1, _PAIRS // max(1, queries), int(_PAIRS / (1 + _SPARE * pairs_a_row)))


def _errors(transport: Transport, arrived: Batch, dead: Mask | None) -> dict[int, Mask]:
    """Return masks bool[rows] of failed evaluations, by the index of the p-attribute in the plan. The masks are false
    for dead letters.
    """
    errors = transport.errors(arrived)
    return errors if dead is None else {slot: mask & ~dead for slot, mask in errors.items()}


def pairs_a_piece(
    plan: Plan, output: Output, piece_bytes: int = _PIECE_BYTES, *, destinations: Destinations | None = None
) -> int:
    """Return the number of (row, query) pairs whose texts together have at most about ``piece_bytes``. Each text is
    assumed to be as long as the longest text.
    """
    longest = _longest(plan.query_ids) + 1
    if output == "deliveries":
        # For a member of a join, the text also contains the id of the query and a topic.
        longest += longest + _longest(plan.topic_names) + 1
        operated = (destinations or Destinations.of(plan)).operated
        if operated is not None:
            longest += _longest(operated.targets) + _longest(operated.selections) + 2
    return max(1, piece_bytes // longest)


def texts_of(
    plan: Plan,
    registered: RegisteredIds,
    matches: Matches,
    output: Output,
    pairs: int,
    *,
    destinations: Destinations | None = None,
) -> Iterator[pa.Array]:
    """Yield the texts of all rows of a batch, in order and in pieces. A piece has at most ``pairs`` (row, query) pairs,
    but at least one row.

    If the output is ``deliveries``, matches that stay in the workers have no text.
    """
    own = destinations or Destinations.of(plan)
    if output == "deliveries" and own.folded is not None:
        matches = matches.of(~own.folded.is_folded[matches.queries])

    def text(rows: Rows, queries: Rows) -> tuple[Rows, pa.Array]:
        if output == "queries":
            return _ids(plan, rows, queries)
        if own.operated is None:
            return routed(rows, queries)
        is_operated = own.operated.is_operated[queries]
        to_topics = routed(rows[~is_operated], queries[~is_operated])
        to_targets = _selections(own.operated, rows[is_operated], queries[is_operated])
        return _together(to_topics, to_targets)

    def routed(rows: Rows, queries: Rows) -> tuple[Rows, pa.Array]:
        if registered.owner is None:
            return _deliveries(registered, own, rows, queries)
        return _joined(plan, registered, own, rows, queries)

    for first, last in _pieces(matches, pairs):
        low, high = np.searchsorted(matches.rows, (first, last))
        rows, texts = text(matches.rows[low:high], matches.queries[low:high])
        places = np.full(last - first, -1, dtype=np.int64)
        places[rows - first] = np.arange(len(rows))
        yield texts.take(pa.array(places, mask=places < 0))


def _pieces(matches: Matches, pairs: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with at most ``pairs`` (row, query) pairs, but at least one row. A range is the first row
    and the row after the last.
    """
    first = 0
    while len(matches) and first < matches.tuples:
        # The row of the first pair beyond the limit. A single row is never divided.
        place = int(np.searchsorted(matches.rows, first)) + pairs
        last = max(first + 1, int(matches.rows[place])) if place < len(matches) else matches.tuples
        yield first, last
        first = last
    if not len(matches):
        yield 0, matches.tuples


def _counted(texts: pa.Array, text: str) -> int:
    return pc.sum(pc.count_substring(texts, text)).as_py() or 0


def _longest(texts: pa.StringArray) -> int:
    return (pc.max(pc.binary_length(texts)).as_py() or 0) if len(texts) else 0


def _ids(plan: Plan, rows: Rows, queries: Rows) -> tuple[Rows, pa.Array]:
    """Return the accepted rows, and for each row the ids of the accepting queries, in the order of ``queries``."""
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    ids = plan.query_ids.take(pa.array(queries))
    return rows[first], pc.binary_join(_lists(first, ids), BETWEEN_IDS)


def _deliveries(
    registered: RegisteredIds, destinations: Destinations, rows: Rows, queries: Rows
) -> tuple[Rows, pa.Array]:
    """Return the accepted rows, and for each row a text: the topics of the row, each with the ids of the accepting
    queries.

    The ids stay sorted, because the sort here is stable.
    """
    topics = destinations.of_query[queries]
    order = np.lexsort((topics, rows))
    rows, topics = rows[order], topics[order]
    first = _changes(rows, topics)
    ids = registered.ids.take(pa.array(queries[order]))
    joined = pc.binary_join(_lists(first, ids), BETWEEN_IDS)
    return _by_row(destinations.names, rows[first], topics[first], joined)


def _joined(
    plan: Plan, registered: RegisteredIds, destinations: Destinations, rows: Rows, queries: Rows
) -> tuple[Rows, pa.Array]:
    """Return the result of :func:`_deliveries` for a plan with joins: each topic also has the accepting shapes.

    Each query occurs once for a topic. Members of joins that deliver a record for each shape occur separately.
    """
    owner, is_member, is_pair = registered.owner, registered.is_member, registered.is_pair
    assert owner is not None
    assert is_member is not None
    assert is_pair is not None
    topics, owners, alone = destinations.of_query[queries], owner[queries], np.where(is_pair[queries], queries, -1)
    order = np.lexsort((queries, owners, alone, topics, rows))
    rows, topics, owners, alone, queries = (each[order] for each in (rows, topics, owners, alone, queries))
    first = _changes(rows, topics, alone)
    of_queries = _changes(rows, topics, alone, owners)
    ids = registered.ids.take(pa.array(owners[of_queries]))
    ids = pc.binary_join(_lists(np.searchsorted(of_queries, first), ids), BETWEEN_IDS)
    of_members = np.flatnonzero(is_member[queries])
    names = header_texts(plan.query_ids.take(pa.array(queries[of_members])))
    begins = np.searchsorted(of_members, first)
    shapes = pc.binary_join(_lists(begins, names), BETWEEN_IDS)
    has_none = np.diff(np.append(begins, len(of_members))) == 0
    shapes = pc.if_else(pa.array(has_none), pa.scalar(None, pa.string()), shapes)
    joined = pc.binary_join_element_wise(shapes, ids, AFTER_SHAPES, null_handling="skip")
    return _by_row(destinations.names, rows[first], topics[first], joined)


def _selections(operated: Operated, rows: Rows, queries: Rows) -> tuple[Rows, pa.Array]:
    """Return the rows that queries with an operator accept, and for each row a text: the targets, each with the
    selections of the accepting queries.
    """
    targets, codes = operated.target_of[queries], operated.selection_of[queries]
    order = np.lexsort((codes, targets, rows))
    rows, targets, codes = rows[order], targets[order], codes[order]
    once = _changes(rows, targets, codes)
    rows, targets, codes = rows[once], targets[once], codes[once]
    first = _changes(rows, targets)
    joined = pc.binary_join(_lists(first, operated.selections.take(pa.array(codes))), BETWEEN_IDS)
    named = pc.binary_join_element_wise(operated.targets, "", AFTER_TARGET)
    return _by_row(named, rows[first], targets[first], joined)


def _together(result: tuple[Rows, pa.Array], other: tuple[Rows, pa.Array]) -> tuple[Rows, pa.Array]:
    """Merge two results. Return the rows in ascending order, and for each row its joined texts; the texts of ``result``
    come first.
    """
    rows = np.concatenate([result[0], other[0]])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    first = _changes(rows)
    texts = pa.concat_arrays([result[1], other[1]]).take(pa.array(order))
    return rows[first], pc.binary_join(_lists(first, texts), BETWEEN_TOPICS)


def _by_row(names: pa.StringArray, rows: Rows, places: Rows, texts: pa.Array) -> tuple[Rows, pa.Array]:
    """Return the distinct rows, and for each row a text: the row's names, each with its text. ``places``: the index in
    ``names`` for each text.
    """
    delivered = pc.binary_join_element_wise(names.take(pa.array(places)), texts, AFTER_TOPIC)
    first = _changes(rows)
    return rows[first], pc.binary_join(_lists(first, delivered), BETWEEN_TOPICS)


def _changes(*columns: Rows) -> Rows:
    """Return the positions at which a run of equal rows begins: position 0, and each position at which one of the
    columns differs from the previous position. The caller ensures that no value is -2.
    """
    return np.flatnonzero(np.logical_or.reduce([np.diff(column, prepend=-2) != 0 for column in columns]))


def _lists(starts: Rows, values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.append(starts, len(values)).astype(np.int32)), values)
