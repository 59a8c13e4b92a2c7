"""Faults of lines that are no JSON, as the reader of JSON names them."""

from __future__ import annotations

import json


def json_fault(error: Exception) -> str:
    """Return the fault of one line, with its column alone: readers of lines know their numbers.

    >>> try:
    ...     json.loads('{"id": "late" "where": "delay > 60"}')
    ... except ValueError as error:
    ...     print(json_fault(error))
    Expecting ',' delimiter (column 15)
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
