"""The progress of a backfill as the API shows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from broker.operators.backfill import SourceOffsets
from broker.operators.cube.backfill import CubeBackfill, progress_of
from broker.operators.cube.gaps import Gap
from broker.operators.cube.keeper import Keeper
from broker.operators.fold_destination import FoldDestination
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, at, batch, minute, opened, topic_of
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import CUBE, OWN, state_of

ALL_READ = SourceOffsets("T", {0: 482}, {0: 0}, True)


def whole_from(keeper: Keeper) -> object:
    return progress_of(keeper.snapshot, state_of(keeper), ALL_READ, is_wanted=True, problem=None)["whole_from"]


def test_a_cube_with_bands_is_whole_from_its_first_kept_pane(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min")
    assert whole_from(keeper) == minute(120)


def test_a_cube_is_whole_from_its_first_open_pane_if_no_pane_is_closed(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN)
    assert whole_from(keeper) is None
    topic_of(at(7)).commit(keeper, batch(0, 1), {CUBE: OWN})
    assert whole_from(keeper) == minute(7)


def test_a_cube_is_not_whole_before_the_panes_that_are_deleted(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min")

    def with_gap(end: int) -> object:
        gap = Gap(BASE_US, BASE_US + end * MINUTE_US, "paused")
        state = replace(state_of(keeper), gaps=(gap,))
        return progress_of(keeper.snapshot, state, ALL_READ, is_wanted=True, problem=None)["whole_from"]

    assert (with_gap(30), with_gap(150)) == (minute(120), minute(150))


def test_a_failure_ends_with_the_registration_of_its_query(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    backfill, registered = CubeBackfill(), {"from": "earliest"}
    keeper.define(CUBE, OWN, since=4)
    first = FoldDestination("cube", CUBE.query, "t", "t", (), registered, since=4)
    assert backfill.wanted(keeper, [(CUBE, first)])
    backfill.fail(CUBE, first.since, "its states are too large")
    assert not backfill.wanted(keeper, [(CUBE, first)])
    assert backfill.problem(state_of(keeper)) == "its states are too large"
    again = replace(first, since=7)
    keeper.define(CUBE, OWN, since=7)
    assert backfill.wanted(keeper, [(CUBE, again)])
    assert backfill.problem(state_of(keeper)) is None
