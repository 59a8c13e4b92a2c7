"""Remedies for values of configurations and request bodies that pydantic refuses."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "greater_than": "give a number above {gt}",
        "greater_than_equal": "give a number from {ge} on",
        "less_than": "give a number below {lt}",
        "less_than_equal": "give a number of at most {le}",
        "finite_number": "give a finite number",
        "int_type": "give an integer",
        "int_parsing": "give an integer",
        "int_from_float": "give an integer",
        "float_type": "give a number",
        "float_parsing": "give a number",
        "bool_type": "give true or false",
        "bool_parsing": "give true or false",
        "string_type": "give a text",
        "list_type": "give a list",
        "tuple_type": "give a list",
        "literal_error": "give {expected}",
    }
)
"""Remedies by the type of pydantic's error. The context of the error provides the bounds, such as ``gt``."""

_NUMBERS = ("int_type", "float_type")


def value_remedy(detail: Mapping[str, Any]) -> str | None:
    """Return the remedy for an error of pydantic, which says what value is valid. Return None if pydantic's own message
    is clear enough.

    >>> value_remedy({"type": "greater_than_equal", "ctx": {"ge": 1}, "input": 0})
    'give a number from 1 on'
    >>> value_remedy({"type": "int_type", "input": "5000"})
    'give an integer, without quotes'
    """
    form = _REMEDIES.get(detail["type"])
    if form is None:
        return None
    context = (detail.get("ctx") or {}).items()
    bounds = {name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in context}
    text = form.format_map(bounds)
    return f"{text}, without quotes" if detail["type"] in _NUMBERS and _is_number(detail.get("input")) else text


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False
