"""Descriptions of faults in lines that are not JSON."""

from __future__ import annotations

import json


def json_fault(error: Exception) -> str:
    """Return the description of a JSON fault in one line of text, with its column only: readers of lines know the line
    number.

    >>> try:
    ...     json.loads('{"id": "late" "where": "delay > 60"}')
    ... except ValueError as error:
    ...     print(json_fault(error))
    Expecting ',' delimiter (column 15)
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
