"""The ids of queries, and what callers hand over as queries: one form for the library and for the daemon."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from asc.errors import AscError

ID_REMEDY = "use 1 to 200 of A-Z a-z 0-9 . _ -, a letter or digit first"

_ID_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SHOWN_CHARS = 250


def checked_id(query_id: object, error: type[AscError]) -> str:
    """Return an id of a query, when it is of legal form; raise that error otherwise.

    >>> checked_id("late", AscError)
    'late'
    """
    if not isinstance(query_id, str):
        raise error("query id of type", type(query_id).__name__, ID_REMEDY)
    if not _ID_FORM.fullmatch(query_id):
        raise error("query id", query_id[:_SHOWN_CHARS], ID_REMEDY)
    return query_id


def checked_queries(queries: object, error: type[AscError]) -> Mapping[Any, Any]:
    """Return what is to be a mapping of ids to predicates, where it is one; raise that error otherwise.

    >>> checked_queries(["delay > 60"], AscError)
    Traceback (most recent call last):
        ...
    asc.errors.AscError: queries of type 'list': give a mapping of ids to predicates, as {"late": "delay > 60"}
    """
    if not isinstance(queries, Mapping):
        remedy = 'give a mapping of ids to predicates, as {"late": "delay > 60"}'
        raise error("queries of type", type(queries).__name__, remedy)
    return queries
