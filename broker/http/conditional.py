"""The header ``If-None-Match`` of a registration, which forbids to replace a query."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header

from broker.errors import QueryError


def replaces(if_none_match: Annotated[str | None, Header()] = None) -> bool:
    """Return whether a registration may replace a query. Raise QueryError for a header with another meaning."""
    if if_none_match is not None and if_none_match.strip() != "*":
        raise QueryError("header If-None-Match", if_none_match[:200], "send * so that no query is replaced")
    return if_none_match is None
