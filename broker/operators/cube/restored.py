"""Restored cubes: cubes whose file was restored from an older copy, so that they end before the stream's last batch.
This state is only in memory, and not in the file. The next batch of a cube ends the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from broker.operators.cube.coverage import Place
from broker.operators.cube.cube_state import RESTORED, CubeId, CubeState


def restored(cubes: Mapping[CubeId, CubeState], batch: int, read_to: Mapping[Place, int]) -> dict[CubeId, CubeState]:
    """Return the cubes that end before the stream's last batch. Each is marked as stopped, so that it reports a gap
    from its watermark on.

    ``batch``: the commit of the last batch in the file. ``read_to``: the offsets up to which the stream has committed
    batches.
    """
    return {
        cube: replace(state, stopped=RESTORED)
        for cube, state in cubes.items()
        if state.batch == batch > 0 and state.stopped is None and not state.reaches(read_to)
    }


def restored_again(cubes: Mapping[CubeId, CubeState], former: Mapping[CubeId, CubeState]) -> dict[CubeId, CubeState]:
    """Return the cubes that :func:`restored` had marked, after the file was read again. ``former``: the cubes before
    the file was read again. A cube that has read more offsets since is not included.
    """
    return {
        cube: replace(state, stopped=RESTORED)
        for cube, state in cubes.items()
        if state.stopped is None and cube in former
        if former[cube].stopped == RESTORED and _has_read_as_far(state, former[cube])
    }


def _has_read_as_far(state: CubeState, former: CubeState) -> bool:
    return (state.coverage, state.missed) == (former.coverage, former.missed)
