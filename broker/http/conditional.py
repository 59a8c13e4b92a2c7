"""The header ``If-None-Match`` of a registration. With the value ``*``, the registration must not replace a registered
query.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Header

from broker.errors import QueryError


def replaces(if_none_match: Annotated[str | None, Header()] = None) -> bool:
    """Return True if the header If-None-Match is missing: the registration may replace a query. Return False for the
    value ``*``. Raise QueryError for any other value.
    """
    if if_none_match is not None and if_none_match.strip() != "*":
        raise QueryError("header If-None-Match", if_none_match[:200], "send * so that no query is replaced")
    return if_none_match is None
