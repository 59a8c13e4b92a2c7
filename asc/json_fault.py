"""What is wrong with a line that is to be JSON."""

from __future__ import annotations

import json


def json_fault(error: Exception) -> str:
    """Return what the reader of JSON said of one line, with the column alone: who reads lines knows their numbers.

    >>> try:
    ...     json.loads('{"id": "late" "where": "delay > 60"}')
    ... except ValueError as error:
    ...     print(json_fault(error))
    Expecting ',' delimiter (column 15)
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
