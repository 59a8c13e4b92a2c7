"""Portions of cells: all cells in their order, of a bounded number and of bounded texts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.operators.cube import portions as portions_module
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.portions import portions

MEASURES = ["count(*) AS n", "sum(v) AS s", "avg(v) AS mean", "avg(f) AS f", "max(t) AS last", "min(b) AS least"]
DDL = "k STRING, v DECIMAL(38,0), f DOUBLE, t STRING, b BINARY"


def cube_of(texts: list[str | None]) -> Cube:
    """A cube of a group for each text, which is its dimension and its maximum."""
    own = Cube(CubeDefinition.parse({"dimensions": [["k"]], "measures": MEASURES}, needs_time=False), DDL)
    count = len(texts)
    own.fold(
        pa.table(
            {
                "k": texts,
                "v": pa.array([10**30 if each % 7 == 3 else each for each in range(count)], pa.decimal128(38, 0)),
                "f": [each / 3 for each in range(count)],
                "t": pa.array(texts, pa.string()),
                "b": pa.array([None] * count, pa.binary()),
            }
        )
    )
    return own


@pytest.mark.parametrize(("cells_most", "bytes_most"), [(1, 1 << 20), (7, 1 << 20), (100, 9), (3, 40)])
def test_they_are_all_cells_in_their_order(monkeypatch: pytest.MonkeyPatch, cells_most: int, bytes_most: int) -> None:
    monkeypatch.setattr(portions_module, "_CELLS_MOST", cells_most)
    monkeypatch.setattr(portions_module, "_BYTES_MOST", bytes_most)
    cells = cube_of([None, *("x" * (each % 11) + str(each) for each in range(60))]).cells
    parts = list(portions(cells))
    texts = [text for part in parts for text in part.keys[0].array().to_pylist()]
    assert texts == cells.keys[0].array().to_pylist()
    for place, state in enumerate(cells.states):
        assert [own for part in parts for own in part.states[place].to_pylist()] == state.to_pylist()
    sizes = [2 * sum(len(text or "") for text in part.keys[0].array().to_pylist()) for part in parts]
    assert all(part.count <= cells_most for part in parts)
    assert all(size <= bytes_most or part.count == 1 for size, part in zip(sizes, parts, strict=True))
    # None could have had the first cell of the next one too.
    for part, size, following in zip(parts, sizes, parts[1:], strict=False):
        more = 2 * len(following.keys[0].array()[0].as_py() or "")
        assert part.count == cells_most or size + more > bytes_most


def test_of_no_cells_there_is_none() -> None:
    assert list(portions(cube_of([]).cells)) == []
