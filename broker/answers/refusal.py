"""The API's answers to a refused request."""

from __future__ import annotations

from typing_extensions import TypedDict


class ErrorText(TypedDict):
    """A refused value, its subject and the remedy; for a predicate also the place of the error in its text, and for a
    stream that is missing those that may be named.
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
