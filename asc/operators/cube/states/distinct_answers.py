"""Answers from sketches of distinct values."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from asc.operators.cube.answered import bounded_type
from asc.operators.cube.states.distinct import Distinct
from asc.operators.cube.states.memory import stored
from asc.operators.cube.states.sketch_library import library

TYPE = bounded_type(pa.int64())
"""The type of the answer: the estimate and its bounds are integers, because Spark's ``hll_sketch_estimate``
rounds too.
"""
SIGMAS = 2
CONFIDENCE = 0.9545
"""The share of sketches whose bounds at two sigma contain the number of different values."""


def estimates(state: Distinct, states: pa.Array) -> pa.Array:
    """Return the number of different values of each cell, with the library's bounds at two sigma. A cell without values
    has 0.

    Every state has the flag "out of order", as a union has. So the library's estimate depends only on the registers,
    and is the same for any division of the records.
    """
    state.check_states(states)
    read = library().hll_sketch.deserialize
    numbers = np.zeros((3, len(states)), dtype=np.int64)
    for place, content in enumerate(states.to_pylist()):
        if content is not None:
            sketch = read(content)
            estimate = math.floor(sketch.get_estimate() + 0.5)
            numbers[0, place] = estimate
            # The number of different values is an integer, so that rounding the bounds inwards excludes no possible
            # number.
            numbers[1, place] = min(math.ceil(sketch.get_lower_bound(SIGMAS)), estimate)
            numbers[2, place] = max(math.floor(sketch.get_upper_bound(SIGMAS)), estimate)
    sides = [stored(pa.int64(), np.ascontiguousarray(side)) for side in numbers]
    confidence = stored(pa.float64(), np.full(len(states), CONFIDENCE))
    return pa.StructArray.from_arrays([*sides, confidence], fields=list(TYPE))
