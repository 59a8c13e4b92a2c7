"""The ranking of the queries that a caller sees by one figure: the accepted records, the records in the last minute, or
the evaluation errors.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from broker.http.scoped_service import ScopedService
from broker.queries.query import RegisteredQuery
from broker.stream.stream import Stream

ACCEPTED, RATE, ERRORS = "accepted", "rate", "errors"

_LOOKED_S = 0.25
"""The seconds after which the search for one page ends, even if the page is not full."""

_AT_ONCE = 1_000
"""The number of queries at the top of the ranking that are sorted first, because a page needs only a few. It is also
the number of indices that are converted to Python integers at a time.
"""


class Place(NamedTuple):
    """The position of a query in a ranking: its figure and its id. The ranking is in descending order of figures;
    queries with equal figures are in ascending order of ids.
    """

    figure: int
    query_id: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """The conditions of a search for queries: a text in the predicate or the id, a prefix of the id, a label, and a
    stream. All of them must hold.
    """

    text: str = ""
    prefix: str = ""
    label: tuple[str, str] | None = None
    stream: str | None = None

    def has(self, query: RegisteredQuery) -> bool:
        """Return whether a query satisfies all conditions of the search."""
        text = self.text.casefold()
        return (
            query.id.startswith(self.prefix)
            and (self.stream is None or query.stream == self.stream)
            and (self.label is None or query.labels.get(self.label[0]) == self.label[1])
            and (not text or text in query.where.casefold() or text in query.id.casefold())
        )


def figure_of(permitted: ScopedService, query: RegisteredQuery, figure: str) -> int:
    """Return the figure of a query. ``figure``: ACCEPTED, RATE or ERRORS. The figures of accepted records are 0 if the
    query is paused or not served.
    """
    stream = permitted.streams().get(query.stream)
    if stream is None:
        return 0
    if figure == ERRORS:
        return stream.evaluation_errors.of(query.id, query.version)
    if query.paused or permitted.unserved(query) is not None:
        return 0
    return stream.figures.delivered.of(query.id) if figure == ACCEPTED else stream.figures.of_last_minute(query.id)


def ranked(
    permitted: ScopedService, figure: str, wanted: Wanted, after: Place | None, limit: int
) -> tuple[list[RegisteredQuery], Place | None]:
    """Return a page of the queries that match a search, the highest figure first. Queries whose figure is 0 come last,
    ordered by id.

    Also return the position after which the next page begins, or None if there are no more queries. The search inspects
    a bounded number of queries, as :meth:`ScopedService.search` does. Figures change between two pages, so a query may
    be on both pages, or on neither. Raise QueryError for an unknown stream.
    """
    if wanted.stream is not None:
        permitted.stream_of(wanted.stream)
    until_s = time.monotonic() + _LOOKED_S
    found: list[tuple[Place, RegisteredQuery]] = []
    for place, query in _in_order(permitted, figure, wanted, after, limit + 1):
        if query is not None:
            found.append((place, query))
        if len(found) > limit:
            return [one for _, one in found[:limit]], found[limit - 1][0]
        if time.monotonic() > until_s:
            return [one for _, one in found], place
    return [one for _, one in found], None


def _in_order(
    permitted: ScopedService, figure: str, wanted: Wanted, after: Place | None, at_once: int
) -> Iterator[tuple[Place, RegisteredQuery | None]]:
    """Yield the positions after ``after`` in the order of a ranking. Each has its query, or None if the query does not
    match the search. The caller needs positions without a query too, to continue from there when its time is over.
    """
    beginning = permitted.beginning(wanted.prefix)
    if beginning is None:
        return
    if after is None or after.figure > 0:
        streams = permitted.streams()
        names = [name for name in streams if wanted.stream in (None, name)]
        counted = (_counted(name, streams[name], figure, beginning, after) for name in names)
        for negative, query_id, name in merge(*counted):
            query = permitted.seen(query_id)
            # The position of a query that the caller may not see must not become known either.
            if query is not None and query.stream == name:
                is_wanted = wanted.has(query) and figure_of(permitted, query, figure) > 0
                yield Place(-negative, query_id), query if is_wanted else None
    last: str | None = after.query_id if after is not None and not after.figure else None
    is_over = False
    while not is_over:
        some, last = permitted.search(wanted.text, wanted.prefix, wanted.label, wanted.stream, last, at_once)
        is_over = last is None
        for query in some:
            yield Place(0, query.id), query if figure_of(permitted, query, figure) == 0 else None
        if last is not None:
            yield Place(0, last), None


def _counted(
    name: str, stream: Stream, figure: str, beginning: str, after: Place | None
) -> Iterator[tuple[int, str, str]]:
    """Yield the queries of a stream whose figure is above 0 and that come later in the ranking than ``after``. Each
    item is the negated figure, the id, and the stream. The items are in the order of the ranking.

    ``name``: the name of the stream. ``beginning``: the prefix of the ids; queries with other ids are omitted.
    ``after``: None means from the top.
    """
    ids, figures = _figures(stream, figure)
    if beginning:
        figures = np.where(pc.starts_with(ids, beginning).to_numpy(zero_copy_only=False), figures, 0)
    is_behind = figures > 0
    if after is not None:
        # Earlier positions are filtered here, because the loop could otherwise skip up to a million equal figures one
        # by one.
        is_later = pc.greater(ids, pa.scalar(after.query_id, pa.string())).to_numpy(zero_copy_only=False)
        is_behind &= (figures < after.figure) | ((figures == after.figure) & is_later)
    for place in _highest_first(figures, np.flatnonzero(is_behind)):
        yield -int(figures[place]), str(ids[place]), name


def _highest_first(figures: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> Iterator[int]:
    """Yield the indices ``places`` in descending order of their ``figures``. The indices are given in ascending order;
    if figures are equal, this order is kept.

    Cost: only about a thousand indices are sorted at first, and more only if they are needed. A page needs few of a
    million queries.
    """
    at_once = _AT_ONCE
    while len(places):
        own = figures[places]
        least = np.partition(own, -at_once)[-at_once] if len(own) > at_once else own.min()
        is_next = own >= least
        some = places[is_next]
        order = some[np.argsort(-own[is_next], kind="stable")]
        for start in range(0, len(order), _AT_ONCE):
            yield from order[start : start + _AT_ONCE].tolist()
        places = places[~is_next]
        at_once *= 8


def _figures(stream: Stream, figure: str) -> tuple[pa.StringArray, npt.NDArray[np.int64]]:
    """Return the ids of a stream's queries in ascending order, and the figure of each. ``figure``: ACCEPTED, RATE or
    ERRORS. Queries whose figure is 0 may be missing.
    """
    if figure == ACCEPTED:
        return stream.figures.delivered.counts()
    if figure == RATE:
        return stream.figures.last_minute()
    errors = sorted(stream.evaluation_errors.counts().items())
    ids = pa.array([query_id for query_id, _ in errors], pa.string())
    return ids, np.array([count for _, count in errors], dtype=np.int64)
