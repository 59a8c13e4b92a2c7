"""The definition and the state of a query's operator, as texts for pages of the console."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def definition_rows(operator: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return the name and the value, as text, of each field that a definition sets, without the fields ``name`` and
    ``summary``. ``operator``: the definition as JSON; None for no operator.

    >>> definition_rows({"name": "near", "key": "k", "events": ["near", "apart"], "every_s": 10, "on": None})
    [('key', 'k'), ('events', 'near, apart'), ('every_s', '10')]
    >>> definition_rows(None)
    []
    """
    fields = {} if operator is None else operator
    return [
        (name, _text(value)) for name, value in fields.items() if name not in ("name", "summary") and value is not None
    ]


def figures_text(kept: Mapping[str, Any] | None) -> str:
    """Return the numbers, flags and texts of an operator's state in one line. ``kept``: the state as JSON; None for no
    state.

    >>> figures_text({"name": "events", "objects_inside": 1200})
    'objects inside 1,200'
    >>> figures_text({"name": "cube", "cells": 7, "whole": True, "skipped": None, "gaps": []})
    'cells 7, whole yes'
    >>> figures_text(None)
    ''
    """
    shown = {
        name: value
        for name, value in ({} if kept is None else kept).items()
        if name != "name" and isinstance(value, (bool, int, str))
    }
    return ", ".join(f"{name.replace('_', ' ')} {_figure(value)}" for name, value in shown.items())


def _figure(value: bool | int | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
