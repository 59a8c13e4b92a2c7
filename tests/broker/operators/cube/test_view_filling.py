"""Views are filled from closed panes, and again after damage."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.view import View
from tests.broker.operators.cube.kept_stream import (
    at,
    batch,
    minute,
)
from tests.broker.operators.cube.view_rig import (
    CUBE,
    OWN,
    answer,
    check_pieces,
    filled,
    state_of,
)


def test_a_damaged_piece_of_a_view_parks_nothing_and_is_filled_again(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((0, 0), 60))
    ((number,),) = keeper._store.execute("SELECT min(number) FROM pieces WHERE view > 0")
    with keeper._store.transaction():
        keeper._store.execute("UPDATE pieces SET data = zeroblob(length(data)) WHERE number = ?", (number,))
    keeper._reader = type(keeper._reader)(0)
    keeper._current._reader = keeper._reader
    keeper._current.read_again()
    found = answer(keeper, by=[], to=minute(120))
    assert (found["rows"][0]["n"], found["whole"], state_of(keeper).parked) == (240, True, None)
    assert (state_of(keeper).views[0].filled_to, found["answered_by"][0]["grain_s"]) == (None, 60)
    keeper.views.fill(10)
    keeper.purge(10)
    assert answer(keeper, by=[], to=minute(120))["answered_by"][0]["grain_s"] == 3600
    check_pieces(keeper)


def test_a_batch_does_not_fill_a_view_that_lags(tmp_path: Path) -> None:
    keeper, topic = filled(tmp_path)
    keeper.views.pin(CUBE, [View((1, 0), 1)])
    topic.partitions[0] += [at(each) for each in range(121, 125)]
    topic.commit(keeper, batch(242, 246), {CUBE: OWN})
    (view,) = state_of(keeper).views
    assert view.filled_to is None
    keeper.views.fill(10)
    topic.partitions[0] += [at(126)]
    topic.commit(keeper, batch(246, 247), {CUBE: OWN})
    (view,) = state_of(keeper).views
    assert view.end == keeper.snapshot._open_from(state_of(keeper))
    check_pieces(keeper)
