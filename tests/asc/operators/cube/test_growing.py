"""Cells that grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube import growing
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.growing import GrowingCells
from asc.operators.cube.layout import Layout
from asc.schema import Schema

SCHEMA = Schema.from_ddl("k INT, v BIGINT")
LAYOUT = Layout.of(
    CubeDefinition.parse({"dimensions": [["k"]], "measures": ["sum(v)", "count(*)"]}, needs_time=False), SCHEMA
)


def cells_of(keys: list[int]) -> Cells:
    batch = pa.record_batch({"k": pa.array(keys, pa.int32()), "v": pa.array(keys, pa.int64())})
    return folded(LAYOUT, Columns(batch, SCHEMA, "UTC")).cells


def bytes_of(cells: Cells) -> list[bytes]:
    return [piece.to_bytes() for piece in cells.pieces(LAYOUT)]


@pytest.mark.parametrize("loose", [0, 3, 50_000])
def test_the_cells_are_the_merge_of_all_that_was_added(loose: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "_LOOSE_LEAST", loose)
    draw = np.random.default_rng(3)
    parts = [cells_of(draw.integers(0, 20, 10).tolist()) for _ in range(9)]
    own = GrowingCells(LAYOUT)
    assert own.cells.count == 0
    for place, part in enumerate(parts, 1):
        own.add(part)
        own.add(Cells.none(LAYOUT))
        if place == 5:
            assert bytes_of(own.cells) == bytes_of(merged(LAYOUT, parts[:5]))
    assert bytes_of(own.cells) == bytes_of(merged(LAYOUT, parts))
    assert sum(part.count for part in own.parts) == own.cells.count


def test_the_cells_are_merged_without_assertions_too() -> None:
    # As `python -O` compiles the module.
    source = Path(growing.__file__).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": growing.__name__}
    exec(compile(source, growing.__file__, "exec", optimize=1), names)
    names["_LOOSE_LEAST"] = 0
    own = names["GrowingCells"](LAYOUT)
    for place in range(9):
        own.add(cells_of([place % 3]))
    # Loose are at most as many as are merged.
    assert len(own.parts) <= 4
