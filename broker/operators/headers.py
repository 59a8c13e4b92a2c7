"""The headers that a delivered record and a dead letter bear, and what a consumer reads from them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import dropwhile, takewhile

HEADER_QUERY = "asc-query"
HEADER_SOURCE = "asc-source"
HEADER_ERROR = "asc-error"


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


def dead_letter_error(headers: Iterable[tuple[str, bytes | None]]) -> str | None:
    """Why a record is a dead letter: the ``asc-error`` before its last ``asc-source``; None where it is none.

    >>> dead_letter_error([("asc-error", b"value is empty"), ("asc-source", b"flights-0-7")])
    'value is empty'
    """
    from_the_end = dropwhile(lambda header: header[0] != HEADER_SOURCE, reversed(list(headers)))
    next(from_the_end, None)
    name, value = next(from_the_end, ("", None))
    return _text(value) if name == HEADER_ERROR else None


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
