"""Estimates of what a cube holds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.estimate import Estimate

DEFINITION = CubeDefinition.parse({"dimensions": [["k"]], "measures": ["count(*) AS n"], "time": "t", "grain_s": 60})


def test_an_estimate_is_of_the_pieces_as_they_are_stored() -> None:
    cube = Cube(DEFINITION, "k INT, t TIMESTAMP")
    times = pa.array([place * 20_000_000 for place in range(12)], pa.timestamp("us", "UTC"))
    cube.fold(pa.table({"k": pa.array([0, 0, 1] * 4, pa.int32()), "t": times}))
    found = Estimate.of(cube.layout, cube.cells, records=13, counted=cube.counted)
    assert (found.panes, found.cells) == (4, 8)
    assert found.size_bytes == sum(len(piece.to_bytes()) for piece in cube.pieces())
    plain = found.plain()
    assert plain == {
        **{"records": 13, "counted": 12, "panes": 4, "cells": 8, "bytes": found.size_bytes},
        **{"cells_a_pane": 2.0, "bytes_a_cell": round(found.size_bytes / 8, 2), "records_a_cell": 1.5},
    }


def test_of_many_panes_some_are_measured() -> None:
    cube = Cube(DEFINITION, "k INT, t TIMESTAMP")
    times = pa.array([place * 60_000_000 for place in range(500)], pa.timestamp("us", "UTC"))
    cube.fold(pa.table({"k": pa.array(range(500), pa.int32()), "t": times}))
    whole = Estimate.of(cube.layout, cube.cells, records=500, counted=500)
    for most in (500, 501):
        assert Estimate.of(cube.layout, cube.cells, records=500, counted=500, panes_most=most) == whole
    # Its panes are alike.
    for most in (1, 7, 499):
        assert Estimate.of(cube.layout, cube.cells, records=500, counted=500, panes_most=most) == whole


def test_of_nothing_no_figure_is_made_up() -> None:
    cube = Cube(DEFINITION, "k INT, t TIMESTAMP")
    found = Estimate.of(cube.layout, cube.cells, records=7, counted=0)
    assert {name for name, own in found.plain().items() if own is not None} == {"records", "counted"}
    assert found.warning is None


@pytest.mark.parametrize(
    ("counted", "cells", "warns"), [(150, 100, False), (201, 101, True), (202, 101, False), (20_000, 10_001, True)]
)
def test_fewer_than_two_records_a_cell_are_warned_of(counted: int, cells: int, warns: bool) -> None:
    warning = Estimate(counted, counted, 1, cells, 1).warning
    assert warning == (f"{cells:,} cells of {counted:,} records: group by less, or round" if warns else None)
