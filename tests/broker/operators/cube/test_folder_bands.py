"""Bands of registered cubes: those that cannot follow the stored ones are refused, and paused cubes do not age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from broker.operators.cube.definition import StandingCube
from broker.operators.cube.folder import cube_of
from broker.operators.fold_destination import FoldDestination
from tests.broker.operators.cube.kept_stream import MINUTE_US, minute
from tests.broker.operators.cube.test_folder_standing import OWN, Run, query

KEEP = ["1min:5min", "2min:10min"]
MINUTES = 40


def keeping(keep: Sequence[str], name: str = "late") -> FoldDestination:
    own = query(name=name)
    return replace(own, definition={**own.definition, "keep": list(keep)})


def run_of(path: Path) -> Run:
    run = Run(path)
    run.topic.partitions[0] = [("B6", "JFK", 1, each * MINUTE_US) for each in range(MINUTES)]
    return run


def kept_from(run: Run, own: FoldDestination) -> int | None:
    return run.folder.keeper.snapshot.cube(cube_of(own)).kept_from


def definition(*keep: str) -> StandingCube:
    return StandingCube.parse({**OWN.plain(), "keep": list(keep)})


def test_a_change_of_bands_that_would_stop_ageing_is_refused_and_shown(tmp_path: Path) -> None:
    run, own = run_of(tmp_path), keeping(KEEP)
    assert run.folder.refusal("late", "true", definition("1min:5min", "3min:10min"), 3) is None
    run.set_registered(own, version=4)
    run.commit(own, version=4, records=20)
    run.folder.tidy()
    refused = run.folder.refusal("late", "true", definition("1min:5min", "3min:10min"), 3)
    assert str(refused) == (
        f"operator.keep '3min:10min': does not fit the older panes, which are stored as carrier, dest at 2min before "
        f'{minute(14)}: give ["1min:5min", "2min:10min"], or remove the query and register it again, which deletes its'
        " cells"
    )
    # Bands that fit, another registration, and other cells.
    assert run.folder.refusal("late", "true", definition("1min:5min", "4min:10min"), 3) is None
    assert run.folder.refusal("late", "true", definition("1min:5min", "3min:10min"), 4) is None
    assert run.folder.refusal("late", "n > 1", definition("1min:5min", "3min:10min"), 3) is None

    def problem() -> object:
        found = run.folder.kept("late", "true", definition(*KEEP))
        assert found is not None
        return found["ageing_problem"]

    assert problem() is None
    # As after the restore of a copy from before a change of keep.
    run.set_registered(keeping(["1min:5min", "3min:10min"]), version=5)
    assert str(problem()).startswith("the band 3min:10min does not fit the older panes, which are stored as carrier")


def test_a_paused_cube_does_not_age_before_or_after_a_restart(tmp_path: Path) -> None:
    run, own, other = run_of(tmp_path), keeping(KEEP), query(name="other")
    run.set_registered(own, other, version=4)
    run.commit(own, other, version=4, records=20)
    run.folder.tidy()
    before = kept_from(run, own)
    assert before is not None
    paused: dict[str, int | None] = {"late": 3}
    run.set_registered(other, version=5, paused=paused)
    # A batch of the plan before the pause, and one of the plan after it.
    run.commit(own, other, version=4, records=5)
    run.commit(other, version=5, records=5)
    run.folder.tidy()
    assert kept_from(run, own) == before
    run.start_again()
    run.set_registered(other, version=5, paused=paused)
    run.commit(other, version=5, records=5)
    run.folder.tidy()
    assert kept_from(run, own) == before
    run.set_registered(own, other, version=6)
    run.folder.tidy()
    assert kept_from(run, own) == before + 16
    run.set_registered(other, version=7)
    assert not run.folder.keeper.bands._bands.keys() - {cube_of(other)}
