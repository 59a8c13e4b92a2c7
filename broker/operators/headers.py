"""The headers of delivered records and of dead letters: their names, and how consumers read them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

HEADER_QUERY = "asc-query"
HEADER_SHAPE = "asc-shape"
HEADER_SOURCE = "asc-source"
HEADER_TIMESTAMP = "asc-timestamp"
HEADER_ERROR = "asc-error"
HEADER_EVENT = "asc-event"
"""The header with the identity of an event, which is the same whenever the event is written again."""

HEADER_WINDOW = "asc-window"
"""The header with the identity of a window's output. It has precedence over the header of an event."""

_IDENTITIES = (HEADER_WINDOW, HEADER_EVENT)

EXCESS = "record for topic "
"""The beginning of the reason of a dead letter that lacks a part of its record, because the record is too large for a
destination.
"""


def event_headers() -> Column:
    """Return the headers of an event, from its columns ``identity``, ``query`` and ``source``."""
    from pyspark.sql import functions as sf

    named = {HEADER_EVENT: "identity", HEADER_QUERY: "query", HEADER_SOURCE: "source"}
    # A cast takes the bytes as they are; encode() makes a string of Java's of them first.
    return sf.array(
        *(
            sf.struct(sf.lit(header).alias("key"), sf.col(column).cast("binary").alias("value"))
            for header, column in named.items()
        )
    )


@dataclass(frozen=True, slots=True)
class LastHop:
    """The last delivery of a record, as its headers describe it: the record may have passed several brokers.

    ``queries``: the ids of the queries that accepted the record. ``shapes``: the shapes for which joins accepted it
    (``<query>/<shape>``). ``source``: the source record. ``identity``: the same for repeats of one delivery, and
    different for every other output of its queries. It is ``asc-window``, else ``asc-event``, else ``asc-source``.
    """

    queries: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    source: str | None = None
    identity: str | None = None


def last_hop(headers: Iterable[tuple[str, bytes | None]]) -> LastHop:
    """Read the last delivery of a record from its headers. If the headers have no identity, return a delivery without
    queries.

    A record that went through several streams has the headers of each stream, those of the last stream at the end:
    ``asc-window`` and ``asc-event``, ``asc-shape``, ``asc-query`` and ``asc-source``. An output without a source record
    has ``asc-window`` and ``asc-event`` after ``asc-query`` instead. So these headers are not mistaken for those of the
    next stream. A broker writes only UTF-8; other bytes are shown with replacement characters.

    >>> hops = [("asc-query", b"a"), ("asc-source", b"s-0-7"), ("asc-query", b"b"), ("asc-source", b"asc.a-0-3")]
    >>> last_hop(hops).queries, last_hop(hops).identity, last_hop(hops[:1]).queries
    (('b',), 'asc.a-0-3', ())
    >>> last_hop([("asc-event", b"a:enter:s-0-7"), ("asc-query", b"a"), ("asc-source", b"s-0-7")]).identity
    'a:enter:s-0-7'
    """
    header_list = list(headers)
    names = [name for name, _ in header_list]
    ends = (place for place in range(len(header_list), 0, -1) if names[place - 1] in (HEADER_SOURCE, *_IDENTITIES))
    end = next(ends, 0)
    if not end:
        return LastHop()
    has_source = names[end - 1] == HEADER_SOURCE
    last = end - 1 if has_source else _start_of_run(names, end, _IDENTITIES)
    queries = _start_of_run(names, last, (HEADER_QUERY,))
    shapes = _start_of_run(names, queries, (HEADER_SHAPE,))
    first = _start_of_run(names, shapes, _IDENTITIES)
    identities = dict(header_list[first:shapes] if has_source else header_list[last:end])
    if has_source and first and names[first - 1] == HEADER_QUERY:
        # These headers end the hop before, which has no source record.
        identities = {}
    source = _text(header_list[end - 1][1]) if has_source else None
    return LastHop(
        tuple(_text(value) for _, value in header_list[queries:last]),
        tuple(_text(value) for _, value in header_list[shapes:queries]),
        source,
        next((_text(identities[name]) for name in _IDENTITIES if name in identities), source),
    )


def _start_of_run(names: Sequence[str], end: int, wanted: Collection[str]) -> int:
    """Return the index at which the last run of headers before the index ``end`` begins: consecutive headers whose
    names are all in ``wanted``. Return ``end`` if the header before ``end`` has another name.
    """
    while end and names[end - 1] in wanted:
        end -= 1
    return end


def source_timestamp_ms(headers: Iterable[tuple[str, bytes | None]]) -> int | None:
    """Return the source record's own timestamp in ms, from the last ``asc-timestamp``. Return None if there is none.

    >>> source_timestamp_ms([("asc-source", b"s-0-7"), ("asc-timestamp", b"1359619205000")])
    1359619205000
    """
    last = next((value for name, value in reversed(list(headers)) if name == HEADER_TIMESTAMP), None)
    return int(last) if last is not None and re.fullmatch(rb"-?[0-9]{1,19}", last) else None


def dead_letter_error(headers: Iterable[tuple[str, bytes | None]]) -> str | None:
    """Return the reason of a dead letter: the ``asc-error`` before its last ``asc-source``. Return None for other
    records.

    >>> dead_letter_error([("asc-error", b"value is empty"), ("asc-source", b"flights-0-7")])
    'value is empty'
    """
    from_the_end = dropwhile(lambda header: header[0] != HEADER_SOURCE, reversed(list(headers)))
    next(from_the_end, None)
    name, value = next(from_the_end, ("", None))
    return _text(value) if name == HEADER_ERROR else None


def is_whole(headers: Iterable[tuple[str, bytes | None]]) -> bool:
    """Return True if a dead letter contains the whole record. Return False if the record was too large for a
    destination.

    >>> is_whole([("asc-error", b"record for topic late takes 2000000 bytes ..."), ("asc-source", b"flights-0-7")])
    False
    """
    return not (dead_letter_error(headers) or "").startswith(EXCESS)


def as_it_came(headers: Iterable[tuple[str, bytes | None]]) -> list[tuple[str, bytes | None]]:
    """Return the headers that a record had before it became a dead letter, without ``asc-error`` and the headers added
    with it.

    >>> as_it_came([("trace", b"1"), ("asc-error", b"value is empty"), ("asc-source", b"flights-0-7")])
    [('trace', b'1')]
    """
    header_list = list(headers)
    if dead_letter_error(header_list) is None:
        return header_list
    last = max(place for place, (name, _) in enumerate(header_list) if name == HEADER_SOURCE)
    # The source's timestamp follows it.
    rest = header_list[last + 1 :]
    return [*header_list[: last - 1], *(rest[1:] if rest and rest[0][0] == HEADER_TIMESTAMP else rest)]


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
