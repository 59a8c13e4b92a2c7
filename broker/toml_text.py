"""TOML, read within bounds."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def parse_toml(text: str) -> dict[str, Any]:
    """Return the document of a TOML text; ValueError with the reason for a text that is none.

    >>> parse_toml("a = [1]")
    {'a': [1]}
    >>> parse_toml("a = " + "[" * 20_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return document
