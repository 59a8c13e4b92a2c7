"""Answers with bounds, as JSON has them: an estimate, and the interval that contains the exact value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_FIELDS = ("estimate", "low", "high", "confidence")
_SET_FIELDS = ("values", "different", "chance")
_ERROR = "_error"
"""The end of the name of a field that is the half width of an interval."""


def is_bounded(value: object) -> bool:
    """Return whether a value of a row is an estimate with bounds.

    >>> is_bounded({"estimate": 7.0, "low": 6.5, "high": 7.5, "confidence": 0.95}), is_bounded(7.0)
    (True, False)
    """
    return isinstance(value, Mapping) and all(name in value for name in _FIELDS)


def sides_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tables show beside an estimate, by heading: its own further fields, or else its bounds.

    >>> bounds = {"estimate": 7.0, "low": 6.5, "high": 7.5, "confidence": 0.95}
    >>> sides_of(bounds), sides_of({**bounds, "rank_error": 0.0133})
    ({'low': 6.5, 'high': 7.5}, {'+- rank': 0.0133})
    """
    own = {_heading(name): side for name, side in value.items() if name not in _FIELDS}
    return own or {name: value[name] for name in ("low", "high")}


def nested_text(value: object) -> str:
    """Return an object or a list as one line of text. Of an item with bounds only the estimate is shown. If items have
    a bound of the other values, the text ends with it. A set of values is shown by its numbers.

    >>> items = [{"item": "/a", "estimate": 12, "low": 11, "high": 12}, {"item": "/b", "estimate": 9}]
    >>> nested_text(items), nested_text({"values": 30, "bound": 3, "items": items})
    ('"/a": 12, "/b": 9', '"/a": 12, "/b": 9, others <= 3')
    >>> nested_text({"values": 986, "different": 175, "chance": 0.004116})
    '986 values, 175 different, chance 0.0041'
    """
    if isinstance(value, Mapping) and "bound" in value and isinstance(value.get("items"), list):
        others = [f"others <= {_json(value['bound'])}"] if value["bound"] else []
        return ", ".join([*([nested_text(value["items"])] if value["items"] else []), *others])
    if isinstance(value, list) and value and all(_is_item(own) for own in value):
        return ", ".join(f"{_json(own['item'])}: {_json(own['estimate'])}" for own in value)
    if isinstance(value, Mapping) and tuple(value) == _SET_FIELDS:
        return f"{value['values']:,} values, {value['different']:,} different, chance {value['chance']:.2g}"
    return _json(value)


def _is_item(value: object) -> bool:
    return isinstance(value, Mapping) and "item" in value and "estimate" in value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _heading(name: str) -> str:
    return f"+- {name.removesuffix(_ERROR)}" if name.endswith(_ERROR) else name
