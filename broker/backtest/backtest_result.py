"""The result of a back-test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """Rows of files by what became of them. ``by_query`` is empty where the accepted rows were written, not counted.

    ``rows`` counts what was read, ``undecodable`` what of it was excluded; ``first_undecodable`` says which row was the
    first, and why, in one line.
    """

    rows: int
    accepted: int
    by_query: Mapping[str, int]
    undecodable: int = 0
    first_undecodable: str | None = None
