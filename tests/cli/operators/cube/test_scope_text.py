"""Texts of the option ``--within``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from cli.operators.cube.scope_text import _BYTES_MAX, ScopeText

POLYGON = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}


def converted(text: str) -> Any:
    return ScopeText().convert(text, None, None)


def test_boxes_geohashes_and_polygons(tmp_path: Path) -> None:
    assert converted("-75, 40,-72,42.5") == [-75.0, 40.0, -72.0, 42.5]
    assert converted("dr5,dr.01") == ["dr5", "dr.01"]
    assert converted("9,8") == ["9", "8"]
    assert converted(json.dumps(POLYGON)) == POLYGON
    file = tmp_path / "area.geojson"
    file.write_text(f"\n{json.dumps(POLYGON)}\n", "utf-8")
    assert converted(f"@{file}") == POLYGON
    assert converted(f"geo=@{file}") == {"dimension": "geo", "scope": POLYGON}
    assert converted("Geo=dr5") == {"dimension": "Geo", "scope": ["dr5"]}


def test_a_refused_scope(tmp_path: Path) -> None:
    large, binary = tmp_path / "large", tmp_path / "binary"
    large.write_bytes(b" " * (_BYTES_MAX + 1))
    binary.write_bytes(b"\xff")
    for text, said in (
        ("", "is no scope: write west,south,east,north"),
        ("1,,2", "is no scope"),
        ("{", "is no JSON: write GeoJSON"),
        ("{" + '"a":[' * 100_000, "is no JSON"),
        ("@/nowhere/x", "cannot be read: No such file"),
        (f"@{large}", "has over 4,194,304 bytes"),
        (f"@{binary}", "is not UTF-8"),
    ):
        with pytest.raises(click.BadParameter) as caught:
            converted(text)
        assert said in caught.value.message
