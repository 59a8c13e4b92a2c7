"""The result of a back-test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """Counts of rows by outcome. ``by_query`` is empty if the accepted rows were written to a file instead of counted.

    ``rows`` counts all rows that were read, ``undecodable`` the excluded rows among them. ``first_undecodable``
    describes, in one line, the first excluded row and the reason.
    """

    rows: int
    accepted: int
    by_query: Mapping[str, int]
    undecodable: int = 0
    first_undecodable: str | None = None
