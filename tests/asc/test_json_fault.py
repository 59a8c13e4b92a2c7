"""Faults of lines of JSON: they name the column, and no line number."""

from __future__ import annotations

import json

import pytest

from asc.json_fault import json_fault


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x", "Expecting value (column 1)"),
        ('{"a": 1} 2', "Extra data (column 10)"),
        ("[" * 100_000, "it is nested too deeply"),
        (b'{"a": "\xff"}', "'utf-8' codec can't decode byte 0xff in position 7: invalid start byte"),
    ],
)
def test_a_fault_is_named_by_its_column(line: str | bytes, said: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as caught:
        json.loads(line)
    assert json_fault(caught.value) == said
