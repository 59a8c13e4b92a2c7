"""The upkeep of cubes: a part that fails stops no other, and is in the log once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from broker.errors import BrokerError
from broker.operators.cube import demands, optimiser_runs
from broker.operators.cube.folder import cube_of
from broker.operators.cube.upkeep import Upkeep
from tests.broker.operators.cube.kept_stream import MINUTE_US
from tests.broker.operators.cube.test_folder_standing import Run, query


def test_an_error_is_in_the_log_once_until_the_part_succeeds_or_fails_otherwise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    upkeep = Upkeep("flights")
    remedies: list[str | None] = ["is full", "is full", "is closed", None, "is closed"]

    def part() -> None:
        if (remedy := remedies.pop(0)) is not None:
            raise BrokerError("cubes", "a", remedy)

    while remedies:
        upkeep.run("do not age", part)
        upkeep.run("have no views", lambda: None)
    texts = [
        f"the cubes of stream 'flights' do not age: {BrokerError('cubes', 'a', each)}"
        for each in ("is full", "is closed")
    ]
    assert caplog.messages == [*texts, texts[1]]


def test_if_deleted_cubes_stay_in_the_file_the_rest_of_the_upkeep_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demands, "SAVED_S", 0)
    monkeypatch.setattr(optimiser_runs, "HOUR_S", 0)
    run, gone = Run(tmp_path), query(name="gone")
    run.topic.partitions[0] = [("B6", "JFK", 1, each * MINUTE_US) for each in range(300)]
    pinned = {"materialise": [{"by": ["carrier"], "grain_s": 60}], "keep": ["1min:1h", "10min:1d"]}
    own = replace(query(), definition={**query().definition, **pinned})
    run.set_registered(own, gone, version=4)
    run.commit(own, gone, version=4, records=300)
    # It has more pieces than its removal deletes at once.
    run.set_registered(own, version=5)
    keeper = run.folder.keeper
    keeper.questions.query(cube_of(own), {"by": ["carrier"]})
    keeper._store.execute(
        "CREATE TRIGGER broken BEFORE DELETE ON pieces WHEN old.cube = 2 BEGIN SELECT raise(ABORT, 'disk full'); END"
    )
    for _ in range(2):
        run.folder.tidy()
    (message,) = caplog.messages
    assert message.startswith("the cubes of stream 'flights' have data of deleted cubes in their file: ")
    state = keeper.snapshot.cube(cube_of(own))
    assert [band.filled_to is None for band in state.bands] == [False]
    assert [view.filled_to is None for view in state.views if view.role == "pinned"] == [False]
    assert keeper._store.execute("SELECT cube FROM demand") == [(1,)]
    assert run.folder._optimiser._thread is not None
    run.folder.close()
