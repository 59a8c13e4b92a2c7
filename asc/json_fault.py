"""Descriptions of the faults that make a line invalid JSON."""

from __future__ import annotations

import json


def json_fault(error: Exception) -> str:
    """Return a one-line description of a JSON fault. The description has the column, but not the line number, because a
    caller that reads line by line knows the number.

    >>> try:
    ...     json.loads('{"id": "late" "where": "delay > 60"}')
    ... except ValueError as error:
    ...     print(json_fault(error))
    Expecting ',' delimiter (column 15)
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
