"""The headers that a delivered record and a dead letter bear, and what a consumer reads from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

HEADER_QUERY = "asc-query"
HEADER_SHAPE = "asc-shape"
HEADER_SOURCE = "asc-source"
HEADER_TIMESTAMP = "asc-timestamp"
HEADER_ERROR = "asc-error"
HEADER_EVENT = "asc-event"
"""Of an event: its identity, the same whenever it is told again."""

EXCESS = "record for topic "
"""How the reason of a dead letter begins that stands for a record too large for a destination: it has not all of it."""


def event_headers() -> Column:
    """Those of an event, of its columns ``identity``, ``query`` and ``source``."""
    from pyspark.sql import functions as sf

    named = {HEADER_EVENT: "identity", HEADER_QUERY: "query", HEADER_SOURCE: "source"}
    return sf.array(
        *(
            sf.struct(sf.lit(header).alias("key"), sf.encode(column, "utf-8").alias("value"))
            for header, column in named.items()
        )
    )


def delivered_by(headers: Iterable[tuple[str, bytes | None]]) -> tuple[list[str], str | None]:
    """The queries of a delivery and the identity of its source: the last ``asc-source``, the ``asc-query`` before it.

    A record that went through several streams bears the headers of each, those of the last one last. No ``asc-source``:
    no delivery, so no queries. What is not UTF-8 was not written by a broker; it is shown with replacement characters.

    >>> hops = [("asc-query", b"a"), ("asc-source", b"s-0-7"), ("asc-query", b"b"), ("asc-source", b"asc.a-0-3")]
    >>> delivered_by(hops), delivered_by(hops[:1])
    ((['b'], 'asc.a-0-3'), ([], None))
    """
    from_the_end = dropwhile(lambda header: header[0] != HEADER_SOURCE, reversed(list(headers)))
    source = next(from_the_end, None)
    if source is None:
        return [], None
    queries = [_text(value) for _, value in takewhile(lambda header: header[0] == HEADER_QUERY, from_the_end)]
    return queries[::-1], _text(source[1])


def shapes_of(headers: Iterable[tuple[str, bytes | None]]) -> list[str]:
    """The shapes of a delivery, ``<query>/<shape>``, for which its joins accepted it: the ``asc-shape`` before the
    ``asc-query`` of :func:`delivered_by`.

    >>> shapes_of([("asc-shape", b"in/CHE"), ("asc-query", b"in"), ("asc-query", b"late"), ("asc-source", b"s-0-7")])
    ['in/CHE']
    """
    from_the_end = dropwhile(lambda header: header[0] != HEADER_SOURCE, reversed(list(headers)))
    next(from_the_end, None)
    before = dropwhile(lambda header: header[0] == HEADER_QUERY, from_the_end)
    return [_text(value) for _, value in takewhile(lambda header: header[0] == HEADER_SHAPE, before)][::-1]


def source_timestamp_ms(headers: Iterable[tuple[str, bytes | None]]) -> int | None:
    """When the source record was made, as its own timestamp says, in ms: the last ``asc-timestamp``; None without one.

    >>> source_timestamp_ms([("asc-source", b"s-0-7"), ("asc-timestamp", b"1359619205000")])
    1359619205000
    """
    last = next((value for name, value in reversed(list(headers)) if name == HEADER_TIMESTAMP), None)
    return int(last) if last is not None and re.fullmatch(rb"-?[0-9]{1,19}", last) else None


def dead_letter_error(headers: Iterable[tuple[str, bytes | None]]) -> str | None:
    """Why a record is a dead letter: the ``asc-error`` before its last ``asc-source``; None where it is none.

    >>> dead_letter_error([("asc-error", b"value is empty"), ("asc-source", b"flights-0-7")])
    'value is empty'
    """
    from_the_end = dropwhile(lambda header: header[0] != HEADER_SOURCE, reversed(list(headers)))
    next(from_the_end, None)
    name, value = next(from_the_end, ("", None))
    return _text(value) if name == HEADER_ERROR else None


def is_whole(headers: Iterable[tuple[str, bytes | None]]) -> bool:
    """Whether a dead letter has all of the record: not where that is too large for a destination.

    >>> is_whole([("asc-error", b"record for topic late takes 2000000 bytes ..."), ("asc-source", b"flights-0-7")])
    False
    """
    return not (dead_letter_error(headers) or "").startswith(EXCESS)


def as_it_came(headers: Iterable[tuple[str, bytes | None]]) -> list[tuple[str, bytes | None]]:
    """The headers that a dead letter had before it was one: without the ``asc-error`` and what follows from it.

    >>> as_it_came([("trace", b"1"), ("asc-error", b"value is empty"), ("asc-source", b"flights-0-7")])
    [('trace', b'1')]
    """
    found = list(headers)
    if dead_letter_error(found) is None:
        return found
    last = max(place for place, (name, _) in enumerate(found) if name == HEADER_SOURCE)
    # The source's timestamp follows it.
    rest = found[last + 1 :]
    return [*found[: last - 1], *(rest[1:] if rest and rest[0][0] == HEADER_TIMESTAMP else rest)]


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
