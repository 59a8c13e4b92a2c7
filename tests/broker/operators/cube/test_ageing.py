"""Ageing of panes: each pane is in one band, answers equal the records that are kept, and crashes change nothing."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.region import kept_regions
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    at,
    batch,
    minute,
    opened,
    topic_of,
)
from tests.broker.operators.cube.view_rig import CUBE, OWN, VIEWS, answer, state_of

MINUTE = BASE_US // MINUTE_US
KEPT = [
    ["1min:10min", "5min:40min", "20min:80min carrier:0"],
    ["1min:20min", "10min:60min dest:0"],
    ["1min:15min"],
    ["1min:10min", "1min:30min carrier:0", "15min:120min carrier:0 dest:0"],
    [],
]
records = st.tuples(
    st.sampled_from(["B6", "UA", None]),
    st.sampled_from(["JFK", "LAX", None]),
    st.integers(-5, 5) | st.none(),
    st.integers(0, 240 * MINUTE_US),
)


def pane_of(record: Record) -> int:
    assert record[3] is not None
    return MINUTE + record[3] // MINUTE_US


def wanted_rows(kept: Sequence[Record], names: Sequence[str], panes: int, first: int, end: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for record in kept:
        pane = pane_of(record)
        if first <= pane < end:
            group = tuple({"carrier": record[0], "dest": record[1]}[name] for name in names)
            found[pane // panes, group] += 1
    return found


def check_regions(keeper: Keeper, counted: Sequence[Record]) -> None:
    """Check each region of closed panes against the records that are counted, at its finest grain."""
    state, snapshot = state_of(keeper), keeper.snapshot
    kept = [own for own in counted if state.kept_from is None or pane_of(own) >= state.kept_from]
    regions = kept_regions(state, snapshot._open_from(state))
    for region in regions:
        first = region.first if region.first is not None else MINUTE - 10_080
        if region.end is None or first >= region.end:
            continue
        names = [OWN.dimensions.names[place] for place in OWN.dimensions.columns(region.view.cuboid)]
        first += -first % region.view.panes
        body = {"by": names, "grain_s": region.view.panes * 60}
        bounds = {"from": minute(first - MINUTE), "to": minute(region.end - MINUTE)}
        found = answer(keeper, **body, **bounds)
        rows = {(row["pane"], tuple(row["group"].values())): row["n"] for row in found["rows"]}
        wanted = wanted_rows(kept, names, region.view.panes, first, region.end)
        assert rows == {
            (minute(pane * region.view.panes - MINUTE), group): count for (pane, group), count in wanted.items()
        }
    assert answer(keeper, by=[], live=True)["rows"][0]["n"] == len(kept)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    batches=st.lists(st.lists(records, max_size=12), min_size=1, max_size=6),
    keeps=st.lists(st.sampled_from(KEPT), min_size=2, max_size=2),
    pins=st.lists(st.sampled_from(VIEWS), max_size=3, unique=True),
    ages=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_each_region_has_the_counted_records_that_are_kept(
    batches: list[list[Record]], keeps: list[list[str]], pins: Any, ages: list[bool]
) -> None:
    topic = Topic(partitions={0: [own for several in batches for own in several]})
    counted: list[Record] = []
    with tempfile.TemporaryDirectory() as folder:
        keeper = opened(Path(folder))
        keeper.define(CUBE, OWN, pins=pins)
        start = 0
        for number, several in enumerate(batches):
            keeper.bands.define(CUBE, bands_of(keeps[number > 2], OWN))
            kept_from = state_of(keeper).kept_from
            counted += [own for own in several if kept_from is None or pane_of(own) >= kept_from]
            topic.commit(keeper, batch(start, start + len(several)), {CUBE: OWN})
            start += len(several)
            if ages[number]:
                keeper.bands.age(10)
                keeper.views.fill(10)
            check_regions(keeper, counted)
            if number == 1:
                keeper.close()
                keeper = opened(Path(folder))
                check_regions(keeper, counted)
        state = state_of(keeper)
        assert state.counters.get("counted", 0) == len(counted)
        assert state.counters.get("expired", 0) == start - len(counted)
        ((rows,),) = keeper._store.execute("SELECT count(*) FROM pieces")
        keeper.bands.age(10)
        keeper.purge(10)
        ((rows,),) = keeper._store.execute("SELECT count(*) FROM pieces")
        state = state_of(keeper)
        assert rows == len([*state.pieces(), *(piece for view in state.views for piece in view.panes.pieces())])
        keeper.close()


def aged(folder: Path, *keep: str, minutes: int = 241) -> tuple[Keeper, Topic]:
    topic = topic_of(*(at(each, carrier) for each in range(minutes) for carrier in ("B6", "UA")))
    keeper = opened(folder)
    keeper.define(CUBE, OWN)
    keeper.bands.define(CUBE, bands_of(keep, OWN))
    topic.commit(keeper, batch(0, len(topic.partitions[0])), {CUBE: OWN})
    keeper.bands.age(10)
    return keeper, topic


def test_panes_go_on_to_the_next_band_and_are_deleted_at_the_end(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min carrier:0")
    state = state_of(keeper)
    assert (state.base_from, state.kept_from) == (MINUTE + 180, MINUTE + 120)
    found = answer(keeper, by=[])
    assert [(own["grain_s"], own["panes"]) for own in found["answered_by"]] == [(600, 6), (60, 60)]
    assert found["rows"][0]["n"] == 240
    assert found["interval"] == [minute(120), minute(240)]


def test_late_records_join_the_band_of_their_pane_or_are_expired(tmp_path: Path) -> None:
    keeper, topic = aged(tmp_path, "1min:60min", "10min:120min")
    topic.partitions[0] += [at(3, "old"), at(125.5, "late"), at(185.5, "late")]
    topic.commit(keeper, batch(482, 485), {CUBE: OWN})
    counters = state_of(keeper).counters
    assert (counters["expired"], counters["late"], counters["counted"]) == (1, 2, 484)
    found = answer(keeper, by=["carrier"], where="carrier = 'late'", grain_s=600)
    assert [(row["pane"], row["n"]) for row in found["rows"]] == [(minute(120), 1), (minute(180), 1)]


def test_a_reader_of_an_older_snapshot_asks_again(tmp_path: Path) -> None:
    keeper, topic = aged(tmp_path, "1min:60min", "10min:120min")
    topic.partitions[0] += [at(300)]
    former = keeper.snapshot
    topic.commit(keeper, batch(482, 483), {CUBE: OWN})
    keeper.bands.age(10)
    question = keeper.questions
    question._snapshot = iter([former, keeper.snapshot, keeper.snapshot]).__next__
    assert keeper.questions.query(CUBE, {"by": []})["commit"] in (former.commit, keeper.snapshot.commit)


def test_views_that_cannot_be_computed_from_a_band_lose_its_panes(tmp_path: Path) -> None:
    keeper, topic = aged(tmp_path, "1min:60min", "10min:120min carrier:0", minutes=100)
    keeper.define(CUBE, OWN, pins=[VIEWS[0], VIEWS[9]])
    keeper.views.fill(10)
    topic.partitions[0] += [at(each, "B6") for each in range(100, 241)]
    topic.commit(keeper, batch(200, 341), {CUBE: OWN})
    keeper.bands.age(10)
    keeper.views.fill(10)
    state = state_of(keeper)
    firsts = {view.view: view.closed.first for view in state.views}
    assert all(first is None or first * view.panes >= (state.derived_from(view) or 0) for view, first in firsts.items())
    assert answer(keeper, by=[])["rows"][0]["n"] == 120


def test_a_late_record_joins_no_pane_of_a_view_that_is_kept_in_part(tmp_path: Path) -> None:
    """The view has panes of an hour. The oldest kept base pane is within an hour."""
    topic = topic_of(*(at(event, carrier) for event in range(125) for carrier in ("B6", "UA")))
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, pins=[View((1, 0), 60)])
    keeper.bands.define(CUBE, bands_of(["1min:100min"], OWN))
    topic.commit(keeper, batch(0, 250), {CUBE: OWN})
    keeper.bands.age(10)
    keeper.views.fill(10)
    for count in (1, 2):
        topic.partitions[0] += [at(30.5, "B6")]
        topic.commit(keeper, batch(249 + count, 250 + count), {CUBE: OWN})
        keeper.bands.age(10)
        keeper.purge(100)
        (view,) = state_of(keeper).views
        assert [pane for pane, _ in view.closed.items()] == [MINUTE // 60 + 1]
    asked = answer(keeper, by=["carrier"], **{"from": minute(30), "to": minute(60)})
    assert [row["n"] for row in asked["rows"]] == [32, 30]
    keeper.close()
