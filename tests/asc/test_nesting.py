"""Depth of nesting of texts, counted without recursion."""

from __future__ import annotations

import pytest

from asc.nesting import json_levels, wkt_levels


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("", 0),
        ("5", 0),
        ('{"a": [[1], [2], {"b": [3]}]}', 4),
        ('["]]]]", [["\\"]]", [', 4),
        ('"[[[[', 0),
        ("\ud800[Ж[", 2),
        ("[" * 1_000_000, 1_000_000),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, 100_000),
    ],
    ids=["empty", "number", "document", "strings", "string without end", "no text", "open", "deep"],
)
def test_the_levels_of_json(text: str, levels: int) -> None:
    assert json_levels(text) == levels


def test_a_string_of_closing_brackets_hides_nothing() -> None:
    assert json_levels('["' + "]" * 1_000 + '",' + "[" * 200) == 201


def test_the_levels_of_wkt() -> None:
    assert wkt_levels('POINT (1 2) " ((') == 2
    assert wkt_levels("GEOMETRYCOLLECTION(" * 100_000) == 100_000
