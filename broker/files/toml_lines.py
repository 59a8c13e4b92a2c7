"""Conversion of plain values to lines of TOML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any


def toml_lines(
    table: Mapping[str, Any],
    path: str = "",
    notes: Mapping[tuple[str, ...], str] = MappingProxyType({}),
    above: tuple[str, ...] = (),
) -> Iterator[str]:
    r"""Yield a table as lines of TOML: first its plain keys, then its tables.

    A key without a value becomes a comment. ``notes``: texts by key path, each written after its key.

    >>> print("\n".join(toml_lines({"api": {"port": 8750, "root_token_file": None}})))
    <BLANKLINE>
    [api]
    port = 8750
    # root_token_file is not set
    """
    for key, value in table.items():
        if value is None:
            yield f"# {key} is not set"
        elif not isinstance(value, Mapping):
            note = notes.get((*above, key))
            yield f"{_toml_key(key)} = {_toml_value(value)}" + (f"  # {note}" if note else "")
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = f"{path}.{_toml_key(key)}" if path else _toml_key(key)
            yield from ("", f"[{inner}]")
            yield from toml_lines(value, inner, notes, (*above, key))


def _toml_key(key: str) -> str:
    bare = key.replace("-", "").replace("_", "").isalnum() and key.isascii()
    return key if bare else _toml_value(key)


def _toml_value(value: object) -> str:
    # JSON leaves DEL as it is; TOML takes it only escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
