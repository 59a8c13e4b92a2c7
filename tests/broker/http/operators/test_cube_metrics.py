"""Metrics of cubes: the counts of the last commit, and no file that is opened for them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from asc.operators.cube.shards import Shards
from asc.operators.cube.view import View
from broker.http.operators.cube_metrics import CubeMetrics
from broker.operators.cube.kind import CUBE
from tests.broker.operators.cube.kept_stream import Topic, batch, cube_id, definition, opened
from tests.broker.operators.cube.window_rig import Rig, at, output


def samples(streams: Any) -> dict[tuple[str, ...], float]:
    found = CubeMetrics(streams).collect()
    return {(one.name, *one.labels.values()): one.value for family in found for one in family.samples}


def test_records_cells_bytes_and_questions_are_counted(tmp_path: Path) -> None:
    own, keeper = definition(), opened(tmp_path)
    keeper.define(cube_id("late", own), own, pins=[View((0, 0), 60)])
    records = [("B6", "JFK", 1, 0), ("UA", "JFK", 2, 0), ("UA", "JFK", 2, 1), ("UA", None, 2, None)]
    Topic(partitions={0: records}).commit(keeper, batch(0, 4), {cube_id("late", own): own})
    keeper.questions.query(cube_id("late", own), {"live": True})
    streams = {
        "s": SimpleNamespace(folders={CUBE.name: SimpleNamespace(opened=keeper)}),
        "t": SimpleNamespace(folders={}),
    }
    found = samples(streams)
    assert found["asc_cube_records_total", "s", "late", "counted"] == 3
    assert found["asc_cube_records_total", "s", "late", "time"] == 1
    assert found["asc_cube_cells", "s", "late"] == 2
    assert found["asc_cube_bytes", "s", "late"] == keeper.snapshot.status(cube_id("late", own))["bytes"] > 0
    assert found["asc_cube_materialised", "s", "late", "pinned"] == 1
    assert found["asc_cube_materialised", "s", "late", "chosen"] == 0
    assert found["asc_cube_shards", "s", "late"] == 1
    assert found["asc_cube_query_seconds_count", "s"] == 1
    assert found["asc_cube_answer_cells_bucket", "s", "10.0"] == 1
    assert found["asc_cube_answer_cells_sum", "s"] == 2
    assert keeper.shards.change(cube_id("late", own), Shards(), Shards.of([4, 5, 3]))
    assert samples(streams)["asc_cube_shards", "s", "late"] == 3
    keeper.close()


def test_windows_are_counted_once_and_not_for_their_revisions(tmp_path: Path) -> None:
    rig = Rig.of(tmp_path, output(2, 1))
    streams = {"s": SimpleNamespace(folders={CUBE.name: SimpleNamespace(opened=rig.keeper)})}
    assert samples(streams)["asc_cube_windows_total", "s", "late"] == 0
    # The fourth window has no group, and the third one a row for each cuboid.
    rig.commit(at(0.5), at(1.5), at(4.5))
    assert samples(streams)["asc_cube_windows_total", "s", "late"] == 3
    rig.commit(at(0.6), at(1.6, "UA"))
    rig.start_again()
    streams["s"].folders[CUBE.name].opened = rig.keeper
    assert samples(streams)["asc_cube_windows_total", "s", "late"] == 3
    rig.keeper.close()


def test_a_cube_without_windows_has_no_sample_of_them(tmp_path: Path) -> None:
    own, keeper = definition(), opened(tmp_path)
    keeper.define(cube_id("late", own), own)
    streams = {"s": SimpleNamespace(folders={CUBE.name: SimpleNamespace(opened=keeper)})}
    found = samples(streams)
    assert ("asc_cube_cells", "s", "late") in found
    assert ("asc_cube_windows_total", "s", "late") not in found
    keeper.close()


def test_a_file_that_is_not_open_stays_so() -> None:
    assert samples({"s": SimpleNamespace(folders={CUBE.name: SimpleNamespace(opened=None)})}) == {}
