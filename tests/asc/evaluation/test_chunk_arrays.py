"""The scratch of kernels: enough for the widest block and the longest sequence."""

from __future__ import annotations

from asc.evaluation.chunk_arrays import Scratch
from asc.plan.block import LINE


def test_scratch_is_enough_for_a_sequence_that_is_filled_up() -> None:
    for constructs in range(6):
        scratch = Scratch.of(17, constructs)
        assert scratch.offsets.shape == (2, 4 if constructs <= 4 else 8)
        assert [len(array) for array in scratch[:3]] == [17 + 2 * LINE] * 3
        assert len(scratch.geb) == constructs
