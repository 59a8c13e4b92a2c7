"""The API's answers to a refused request."""

from __future__ import annotations

from typing_extensions import TypedDict


class ErrorText(TypedDict):
    """A refused value, its subject and the remedy. For a predicate, ``caret`` and ``start`` show the position of the
    error in its text. If the request has to name a stream, ``streams`` has the streams that it may name.
    """

    message: str
    subject: str
    value: str | int | bool | None
    remedy: str
    caret: str | None
    start: int | None
    streams: list[str] | None


class RefusedLine(TypedDict):
    """One refused line of a bulk load: its number, counted from 1, and its id if the id could be read."""

    line: int
    id: str | None
    error: ErrorText
