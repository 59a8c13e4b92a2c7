"""Changes of cubes in steps: one cube a step, and a damaged piece parks its cube and ends no work."""

from __future__ import annotations

from pathlib import Path

from broker.errors import DamagedPieceError
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.stepwise_changes import StepwiseChanges
from broker.operators.cube.view_folding import ViewFolder
from tests.broker.operators.cube.view_rig import OWN, filled, state_of

OTHER = CubeId("r", "g")


def changes_of(keeper: Keeper) -> StepwiseChanges:
    own = keeper._current, keeper._saved, keeper._lock, keeper._merger, keeper.park_damaged
    return StepwiseChanges(*own)


def test_a_step_changes_one_cube_and_is_repeated_until_none_is_left(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    keeper.define(OTHER, OWN)
    seen: list[str] = []
    left = {"q": 2, "r": 1}

    def change(before: Snapshot, state: CubeState, open_from: int | None, folder: ViewFolder) -> bool:
        assert before is keeper.snapshot
        seen.append(state.id.query)
        left[state.id.query] -= 1
        return left[state.id.query] >= 0

    changes = changes_of(keeper)
    changes.repeat(lambda: changes.step(change), 10)
    assert seen == ["q", "q", "q", "r", "q", "r"]
    changes.repeat(lambda: changes.step(change), 0)
    assert len(seen) == 6


def test_a_damaged_piece_parks_its_cube_and_the_others_go_on(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    keeper.define(OTHER, OWN)
    piece = next(state_of(keeper).panes.pieces()).number
    seen: list[str] = []

    def change(before: Snapshot, state: CubeState, open_from: int | None, folder: ViewFolder) -> bool:
        if state.parked is None and state.id.query == "q":
            raise DamagedPieceError("piece", str(piece), "is damaged", number=piece)
        seen.append(state.id.query)
        return False

    changes = changes_of(keeper)
    changes.repeat(lambda: changes.step(change), 10)
    assert state_of(keeper).parked is not None
    assert seen == ["q", "r"]
