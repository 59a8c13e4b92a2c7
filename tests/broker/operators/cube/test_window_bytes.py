"""The bytes that windows keep for late records: counted with the pieces of their cube, and bounded with them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from asc.operators.cube.output import Output
from asc.operators.cube.revisions import Position
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, Topic, batch, cube_id, definition, opened
from tests.broker.operators.cube.window_rig import at

OWN = definition()
KEPT = cube_id("late", OWN)


def test_beyond_its_bytes_a_cube_is_parked_for_what_its_windows_keep(tmp_path: Path) -> None:
    other = cube_id("other", OWN)
    keeper = opened(tmp_path, limits=CubeLimits(size_bytes=20_000))
    output = Output.parse({"output": [["carrier"]], "window_s": 60, "slide_s": 60}, OWN)
    keeper.define(KEPT, OWN, output, "asc.late")
    keeper.define(other, OWN)
    topic = Topic(partitions={0: [at(0), at(3), *(at(each / 60) for each in range(50))]})
    assert topic.commit(keeper, batch(0, 2), {KEPT: OWN, other: OWN}).parked == {}
    state = keeper.snapshot.cube(KEPT)
    assert state.windows is not None
    # The window is written, and its revisions are not, as where its topic cannot be reached.
    keeper.note(KEPT, replace(state.windows, written=BASE_US // MINUTE_US + 2), {})
    for each in range(2, 52):
        found = topic.commit(keeper, batch(each, each + 1), {KEPT: OWN, other: OWN})
        assert other in found.folded
        if found.parked:
            break
    kept = keeper.snapshot.cube(KEPT)
    assert kept.windows is not None
    pieces, kept_bytes = kept.panes.size_bytes, kept.windows.size_bytes
    assert pieces < 5_000 < kept_bytes
    (reason,) = found.parked.values()
    assert re.fullmatch(
        r"it has [0-9,]+ bytes, [0-9,]+ of them for revisions of its windows, and limits\.cube_bytes is 20,000: .*",
        reason,
    )
    # What would be beyond is not there, and the daemon that starts anew has as much.
    status = keeper.snapshot.status(KEPT)
    assert (status["bytes"], status["counted"]) == (pieces + kept_bytes, 2 + each - 2)
    assert status["bytes"] <= 20_000
    keeper.close()
    again = opened(tmp_path, limits=CubeLimits(size_bytes=20_000))
    assert again.snapshot.status(KEPT)["bytes"] == status["bytes"]
    again.close()


def test_the_rows_of_revisions_count_among_the_bytes_of_a_cube(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(size_bytes=100_000))
    output = Output.parse({"output": [["carrier"]], "window_s": 60, "slide_s": 60}, OWN)
    keeper.define(KEPT, OWN, output, "asc.late")
    topic = Topic(partitions={0: [at(0), at(1)]})
    assert topic.commit(keeper, batch(0, 1), {KEPT: OWN}).parked == {}
    state = keeper.snapshot.cube(KEPT)
    assert state.windows is not None
    raised = {(window, 0): 1 for window in range(4_000)}
    keeper.note(KEPT, replace(state.windows, written=BASE_US // MINUTE_US).revised(Position(), raised), raised)
    assert "for revisions of its windows" in topic.commit(keeper, batch(1, 2), {KEPT: OWN}).parked[KEPT]
    # They go with the windows.
    keeper.define(KEPT, OWN)
    assert keeper.snapshot.status(KEPT)["bytes"] < 5_000
    assert keeper._store.execute("SELECT * FROM revisions") == []
    keeper.close()
