"""The warm-up of a process: the kernels of co-moments are compiled, or loaded from a cache, before the
first question.
"""

from __future__ import annotations

import pyarrow as pa

from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

_MEASURES = ("stats(x, y, z)", "corr(x, y)", "stddev(x)")
_QUESTIONS = (*_MEASURES, "regr_intercept(x, y)", "regr_r2(x, y)", "regression(x, y, z)", "bounds(x, 2)")


def warm_up() -> int:
    """Fold and merge some example records, and ask for each formula, so that all kernels of co-moments are compiled.
    Return the number of groups.

    The first call on a machine takes seconds, a later call a fraction of a second.
    """
    rows = pa.table({"k": ["a", "b", "a"], "x": [1.0, 2.0, 4.0], "y": [2.0, 1.0, None], "z": [3, 1, 2]})
    definition = CubeDefinition.parse({"dimensions": [["k"]], "measures": list(_MEASURES)}, needs_time=False)
    cube = Cube(definition, rows.schema)
    for part in (rows, rows.slice(0, 2)):
        cube.fold(part)
    return len(cube.query({"by": [["k"], []], "measures": list(_QUESTIONS)})["rows"])
