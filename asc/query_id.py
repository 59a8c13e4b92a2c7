"""Checks of query ids, and of mappings of query ids to predicates. The library and the daemon use them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from asc.errors import AscError

ID_REMEDY = "use 1 to 200 of A-Z a-z 0-9 . _ -, a letter or digit first"

_ID_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SHOWN_CHARS = 250


def checked_id(query_id: object, error: type[AscError]) -> str:
    """Return the id of a query unchanged. Raise an exception of the type ``error`` if it does not have the form that
    ID_REMEDY describes.

    >>> checked_id("late", AscError)
    'late'
    """
    if not isinstance(query_id, str):
        raise error("query id of type", type(query_id).__name__, ID_REMEDY)
    if not _ID_FORM.fullmatch(query_id):
        raise error("query id", query_id[:_SHOWN_CHARS], ID_REMEDY)
    return query_id


def checked_queries(queries: object, error: type[AscError]) -> Mapping[Any, Any]:
    """Return a mapping of query ids to predicates unchanged. Raise an exception of the type ``error`` if the value is
    not a mapping.

    >>> checked_queries(["delay > 60"], AscError)
    Traceback (most recent call last):
        ...
    asc.errors.AscError: queries of type 'list': give a mapping of ids to predicates, as {"late": "delay > 60"}
    """
    if not isinstance(queries, Mapping):
        remedy = 'give a mapping of ids to predicates, as {"late": "delay > 60"}'
        raise error("queries of type", type(queries).__name__, remedy)
    return queries
