"""Views follow the base pieces, and answers do not depend on the view that is read."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.operators.cube.view import View
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    at,
    batch,
    minute,
    opened,
)
from tests.broker.operators.cube.view_rig import (
    CUBE,
    OWN,
    VIEWS,
    answer,
    check_answers,
    check_pieces,
    filled,
    records,
    state_of,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    batches=st.lists(st.lists(records, max_size=12), min_size=1, max_size=6),
    pins=st.lists(st.lists(st.sampled_from(VIEWS), max_size=4, unique=True), min_size=7, max_size=7),
    chosen=st.lists(st.lists(st.sampled_from(VIEWS), max_size=2, unique=True), min_size=6, max_size=6),
    fills=st.lists(st.booleans(), min_size=7, max_size=7),
    spans=st.lists(st.tuples(st.integers(0, 119), st.integers(1, 120)), min_size=1, max_size=3),
)
def test_every_ancestor_gives_the_same_answer(
    batches: list[list[Record]],
    pins: list[list[View]],
    chosen: list[list[View]],
    fills: list[bool],
    spans: list[tuple[int, int]],
) -> None:
    topic = Topic(partitions={0: [own for several in batches for own in several]})
    with tempfile.TemporaryDirectory() as folder:
        keeper = opened(Path(folder))
        keeper.define(CUBE, OWN, pins=pins[0])
        start = 0
        for number, several in enumerate(batches):
            topic.commit(keeper, batch(start, start + len(several)), {CUBE: OWN})
            start += len(several)
            if fills[number]:
                keeper.views.fill(10)
            keeper.define(CUBE, OWN, pins=pins[number + 1])
            keeper.views.choose(CUBE, chosen[number])
            check_pieces(keeper)
        keeper.close()
        keeper = opened(Path(folder))
        keeper.views.fill(10)
        keeper.purge(10)
        check_pieces(keeper)
        wanted = {*pins[len(batches)], *chosen[len(batches) - 1]}
        assert {own.view for own in keeper.snapshot.cube(CUBE).views} == wanted
        check_answers(keeper, [(first, first + length) for first, length in spans])
        keeper.close()


def test_a_late_record_joins_the_views_of_its_pane(tmp_path: Path) -> None:
    keeper, topic = filled(tmp_path, View((0, 0), 60), View((1, 0), 1))
    topic.partitions[0] += [at(7.5, "new"), at(121)]
    topic.commit(keeper, batch(242, 244), {CUBE: OWN})
    check_pieces(keeper)
    assert answer(keeper, by=[], to=minute(60), answer_from={"by": [], "grain_s": 3600})["rows"][0]["n"] == 121


def test_a_coarser_view_is_not_computed_from_one_that_is_not_filled(tmp_path: Path) -> None:
    """A finer view is chosen, and a batch closes panes before the view is filled for the first time."""
    keeper, topic = filled(tmp_path, View((1, 0), 10), minutes=61)
    keeper.views.fill(10)
    keeper.views.choose(CUBE, [View((1, 0), 1)])
    first = len(topic.partitions[0])
    topic.partitions[0] += [at(event, carrier) for event in range(61, 121) for carrier in ("B6", "UA")]
    topic.commit(keeper, batch(first, first + 120), {CUBE: OWN})
    check_pieces(keeper)
    keeper.views.fill(10)
    check_pieces(keeper)
    check_answers(keeper, [(0, 120)])


def test_a_coarser_view_is_not_computed_from_one_that_is_damaged(tmp_path: Path) -> None:
    """A batch has a record for a damaged piece of a view, and closes panes of a coarser view."""
    keeper, topic = filled(tmp_path, View((1, 0), 1), View((1, 0), 10), minutes=61)
    keeper.views.fill(10)
    keeper.close()
    keeper = opened(tmp_path)
    fine = next(view for view in state_of(keeper).views if view.view.panes == 1)
    (piece,) = fine.closed[BASE_US // MINUTE_US + 55]
    keeper._store.execute("UPDATE pieces SET data = zeroblob(20) WHERE number = ?", (piece.number,))
    first = len(topic.partitions[0])
    topic.partitions[0] += [at(55.5, "B6"), *(at(event, "B6") for event in range(61, 91))]
    topic.commit(keeper, batch(first, first + 31), {CUBE: OWN})
    keeper.views.fill(10)
    check_pieces(keeper)
    check_answers(keeper, [(0, 90)])


def test_a_missing_piece_of_a_view_does_not_stop_the_stream(tmp_path: Path) -> None:
    keeper, topic = filled(tmp_path, View((1, 0), 1))
    keeper.views.fill(10)
    keeper.close()
    keeper = opened(tmp_path)
    (view,) = state_of(keeper).views
    keeper._store.execute("DELETE FROM pieces WHERE view = ?", (view.number,))
    topic.partitions[0] += [at(7.5, "new")]
    topic.commit(keeper, batch(242, 243), {CUBE: OWN})
    keeper.views.fill(10)
    check_pieces(keeper)
    check_answers(keeper, [(0, 120)])


def test_a_new_piece_does_not_get_the_number_of_a_piece_that_is_purged(tmp_path: Path) -> None:
    """A view was emptied for its damage, and the pieces with the newest numbers are deleted already."""
    keeper, _ = filled(tmp_path, View((1, 0), 1))
    (view,) = state_of(keeper).views
    until = keeper._store.execute("SELECT max(number) + 500 FROM pieces")[0][0]
    keeper._store.execute("INSERT INTO removed_views (view, until) VALUES (?, ?)", (view.number, until))
    keeper._store.execute("DELETE FROM pieces WHERE view > 0")
    keeper._store.execute("UPDATE views SET filled_to = NULL")
    keeper.close()
    keeper = opened(tmp_path)
    keeper.views.fill(10)
    keeper.purge(1_000)
    check_pieces(keeper)
    check_answers(keeper, [(0, 120)])


def test_views_stop_growing_at_the_limit_of_bytes_and_park_no_cube(tmp_path: Path) -> None:
    plain, _ = filled(tmp_path / "a")
    limit = state_of(plain).size_bytes + 2_000
    keeper, _ = filled(tmp_path / "b", View((1, 0), 1), limits=CubeLimits(size_bytes=limit))
    keeper.views.fill(10)
    (view,) = state_of(keeper).views
    assert state_of(keeper).parked is None
    assert state_of(keeper).size_bytes < limit + 300_000
    assert view.filled_to is not None
    assert answer(keeper, by=["carrier"], to=minute(120))["rows"][0]["n"] == 120
