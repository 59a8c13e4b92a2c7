"""Bands that a definition changes, and panes that age with windows or damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.operators.cube.keep import bands_of
from asc.operators.cube.output import Output
from asc.operators.cube.view import View
from broker.operators.cube import band_keeping
from broker.operators.cube.ageing import with_bands
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import at, batch, minute, opened, topic_of
from tests.broker.operators.cube.test_ageing import MINUTE, aged
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer, filled, state_of


def test_a_band_between_others_begins_empty(tmp_path: Path) -> None:
    keeper, topic = aged(tmp_path, "1min:60min", "60min:600min")
    keeper.bands.define(CUBE, bands_of(["1min:60min", "10min:120min", "60min:600min"], OWN))
    keeper.bands.age(10)
    assert [band.end for band in state_of(keeper).bands] == [MINUTE + 180, MINUTE + 180]
    keeper.close()
    keeper = opened(tmp_path)
    assert [band.end for band in state_of(keeper).bands] == [MINUTE + 180, MINUTE + 180]
    keeper.bands.define(CUBE, bands_of(["1min:60min", "10min:120min", "60min:600min"], OWN))
    topic.partitions[0] += [at(400)]
    topic.commit(keeper, batch(482, 483), {CUBE: OWN})
    keeper.bands.age(10)
    assert [band.end for band in state_of(keeper).bands] == [MINUTE + 340, MINUTE + 240]
    assert answer(keeper, by=[])["rows"][0]["n"] == 482


def test_a_band_that_is_named_no_more_goes_on_to_the_next(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min", "30min:600min")
    keeper.bands.define(CUBE, bands_of(["1min:60min", "30min:600min"], OWN))
    keeper.bands.age(10)
    state = state_of(keeper)
    assert [band.panes.count for band in state.bands] == [0, 6]
    assert answer(keeper, by=[])["rows"][0]["n"] == 480


def test_bands_in_no_order_are_kept_and_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min carrier:0")
    keeper.bands.define(CUBE, bands_of(["1min:60min", "10min:90min dest:0"], OWN))
    keeper.bands.age(10)
    assert [band.view.cuboid for band in state_of(keeper).bands] == [(0, 1)]
    assert "the bands of cube q are kept" in caplog.text
    assert answer(keeper, by=[])["rows"][0]["n"] == 240


def test_panes_that_windows_need_do_not_age(tmp_path: Path) -> None:
    output = Output.parse({"output": [[]], "window_s": 1_800, "slide_s": 600}, OWN)
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, output, "topic")
    keeper.bands.define(CUBE, bands_of(["1min:30min", "10min:600min"], OWN))
    topic = topic_of(*(at(each) for each in range(241)))
    topic.commit(keeper, batch(0, 241), {CUBE: OWN})
    keeper.bands.age(10)
    # No window is written yet, so that all panes are needed.
    assert state_of(keeper).base_from is None


def test_a_damaged_piece_of_a_band_parks_the_cube_with_a_gap_of_its_pane(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min")
    ((number,),) = keeper._store.execute("SELECT min(number) FROM pieces WHERE view > 0")
    with keeper._store.transaction():
        keeper._store.execute("UPDATE pieces SET data = zeroblob(length(data)) WHERE number = ?", (number,))
    keeper.close()
    keeper = opened(tmp_path)
    found = answer(keeper, by=[])
    assert (found["rows"][0]["n"], found["whole"]) == (220, False)
    assert (found["gaps"][0]["from"], found["gaps"][0]["to"]) == (minute(120), minute(130))
    assert state_of(keeper).parked is not None
    keeper.resume(CUBE)
    assert state_of(keeper).parked is None
    assert answer(keeper, by=[])["rows"][0]["n"] == 220


def test_a_cube_that_is_registered_again_has_bands_again(tmp_path: Path) -> None:
    keeper, topic = aged(tmp_path, "1min:60min", "10min:120min")
    keeper.remove(CUBE.query)
    keeper.define(CUBE, OWN)
    keeper.bands.define(CUBE, bands_of(["1min:60min", "10min:120min"], OWN))
    topic.commit(keeper, batch(0, 482), {CUBE: OWN})
    keeper.bands.age(10)
    assert [band.panes.count for band in state_of(keeper).bands] == [6]


def test_the_order_of_bands_is_found_once_for_a_definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, _ = filled(tmp_path)
    made = 0

    def counted(*arguments: Any) -> Any:
        nonlocal made
        made += 1
        return with_bands(*arguments)

    monkeypatch.setattr(band_keeping, "with_bands", counted)
    keeper.bands.define(CUBE, bands_of(["1min:30min", "10min:600min"], OWN))
    keeper.bands.age(10)
    assert state_of(keeper).bands[0].panes.count > 2
    assert made == 1


def statements_of(keeper: Keeper) -> list[str]:
    """Return the statements that ageing executes for the file of cubes."""
    found: list[str] = []
    keeper._store._connection.set_trace_callback(found.append)
    try:
        keeper.bands.age(10)
    finally:
        keeper._store._connection.set_trace_callback(None)
    return found


def rows_of_pieces(keeper: Keeper) -> int:
    return int(keeper._store.execute("SELECT count(*) FROM pieces")[0][0])


def test_the_file_is_not_asked_again_where_nothing_is_left_to_delete(tmp_path: Path) -> None:
    keeper, topic = filled(tmp_path, View((1, 0), 1))
    keeper.views.fill(10)
    bands = bands_of(["1min:30min", "10min:600min"], OWN)
    keeper.bands.define(CUBE, bands)
    assert any("DELETE FROM pieces" in own for own in statements_of(keeper))
    kept = len(list(state_of(keeper).pieces())) + sum(own.panes.count for own in state_of(keeper).views)
    assert rows_of_pieces(keeper) == kept
    assert statements_of(keeper) == []
    # A start remembers nothing, and asks once.
    keeper.close()
    keeper = opened(tmp_path)
    keeper.bands.define(CUBE, bands)
    assert any("DELETE FROM pieces" in own for own in statements_of(keeper))
    assert statements_of(keeper) == []
    # More panes age, and their rows are deleted again.
    topic.partitions[0] += [at(130), at(170)]
    topic.commit(keeper, batch(242, 244), {CUBE: OWN})
    before = rows_of_pieces(keeper)
    assert statements_of(keeper) != []
    assert rows_of_pieces(keeper) < before
    assert statements_of(keeper) == []


def test_panes_that_age_leave_the_memory_of_readers_as_it_is(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:600min")
    keeper.bands.define(CUBE, bands_of(["1min:60min", "10min:600min"], OWN))
    answer(keeper, by=[], last_s=600)
    kept_bytes = keeper._reader.size_bytes
    keeper.bands.age(10)
    assert [band.panes.count for band in state_of(keeper).bands] == [18]
    assert keeper._reader.size_bytes == kept_bytes > 0
