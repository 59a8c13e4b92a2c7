"""The state of a query's operator in a daemon, as rows and columns of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ROWS_SHOWN = 20
"""The most rows that are printed for one field."""


def kept_rows(kept: Mapping[str, Any] | None) -> list[list[object]]:
    """Return a table row for each field of an operator's state. A field with a list gets a row for each element.

    >>> kept_rows({"cells": 7, "whole": False, "gaps": [{"from": None, "to": "2026-06-01", "reason": "paused"}]})
    [['kept.cells', 7], ['kept.whole', 'no'], ['kept.gaps', 'to 2026-06-01, reason paused']]
    >>> kept_rows({"name": "cube", "cells": 7})
    [['kept.cells', 7]]
    >>> kept_rows(None)
    []
    """
    rows: list[list[object]] = []
    for name, value in _without_name(kept).items():
        if not isinstance(value, list):
            rows.append([f"kept.{name}", _text(value)])
            continue
        rows += [[f"kept.{name}", _text(each)] for each in value[:_ROWS_SHOWN]] or [[f"kept.{name}", "none"]]
        if len(value) > _ROWS_SHOWN:
            rows.append([f"kept.{name}", f"... and {len(value) - _ROWS_SHOWN:,} more, with --json"])
    return rows


def kept_columns(queries: Sequence[Mapping[str, Any]]) -> dict[str, list[object]]:
    """Return a column for each field of operator state that at least one query has. The cells of queries without the
    field are empty.

    >>> kept_columns([{"kept": {"name": "cube", "cells": 7, "whole": True}}, {"kept": None}, {}])
    {'cells': [7, '', ''], 'whole': ['yes', '', '']}
    """
    kept = [_without_name(query.get("kept")) for query in queries]
    names = dict.fromkeys(name for own in kept for name in own)
    return {name: [_text(own.get(name)) for own in kept] for name in names}


def _without_name(kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the state without the operator's name, which has a separate row and column."""
    return {name: value for name, value in (kept or {}).items() if name != "name"}


def _text(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(own)}" for name, own in value.items() if own is not None)
    return "" if value is None else value
