"""The library of sketches is optional: without it, what needs it is refused in one line, and nothing else."""

from __future__ import annotations

import subprocess
import sys

from asc.operators.cube.states.sketch_library import MISSING

PROGRAM = """
import sys
sys.modules["datasketches"] = None
sys.modules["_datasketches"] = None
import pyarrow as pa
from asc.errors import CubeError
from asc.operators.cube import Cube, CubeDefinition

for measure in ("quantiles(x)", "distinct(x, 14)"):
    try:
        Cube(CubeDefinition.parse({"measures": [measure]}, needs_time=False), "x INT")
    except CubeError as error:
        print(error)
cube = Cube(CubeDefinition.parse({"measures": ["sum(x) AS s", "corr(x, y) AS r"]}, needs_time=False), "x INT, y INT")
cube.fold(pa.table({"x": pa.array([1, 2], pa.int32()), "y": pa.array([3, 4], pa.int32())}))
print(cube.query({})["rows"])
from asc.operators.cube.states.quantiles import Quantiles
try:
    Quantiles().sketches(pa.array([None], pa.binary()))
except CubeError as error:
    print(error)
"""


def test_without_the_library_only_what_needs_it_is_refused() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    quantiles, distinct, others, state = run.stdout.splitlines()
    assert quantiles == f"measure 'quantiles(x)': {MISSING}"
    assert distinct == f"measure 'distinct(x, 14)': {MISSING}"
    assert others == "[{'group': {}, 's': 3, 'r': 1.0}]"
    assert state == f"sketch 'datasketches': {MISSING}"
    assert run.stderr == ""
    assert "pip install 'asc-broker[sketches]'" in MISSING
    assert "Python 3.14" in MISSING
