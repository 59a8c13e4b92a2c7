"""The shards of cubes: whatever they are, and whenever they change, answers and pieces are those of one shard."""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.operators.cube.cell_places import places_of
from asc.operators.cube.cells import merged
from asc.operators.cube.keep import bands_of
from asc.operators.cube.layout import Layout
from asc.operators.cube.shard_rule import SPLIT_CELLS
from asc.operators.cube.shards import SHARDS_MOST, Shards
from asc.operators.cube.view import View
from broker.config.sections import LimitsConfig
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.shard_keeping import CHECKED_S, pane_cells
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    SCHEMA,
    TO_FORM_2,
    Record,
    Topic,
    at,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    opened,
    rows_of,
    topic_of,
)
from tests.broker.operators.cube.view_rig import check_pieces

OWN = definition(measures=("count(*) AS n", "sum(delay) AS d", "stddev(delay) AS sd"))
JOINED, APART = cube_id("q", OWN), cube_id("apart", OWN)
LAYOUT = Layout.of(OWN, SCHEMA)
CUT = CubeLimits(cut_cells=2, query_s=600.0)
"""Limits with which a pane of three cells is cut into shards."""
PINS = [View((1, 0), 1), View((0, 0), 10)]

Step = tuple[Literal["batch", "split", "merge", "restart", "age"], int]
records = st.tuples(
    st.sampled_from(["B6", "UA", "AA", None]),
    st.sampled_from(["JFK", "LAX", "", None]),
    st.integers(-5, 5) | st.none(),
    st.integers(0, 8 * MINUTE_US),
)
steps = st.lists(
    st.tuples(st.sampled_from(["batch", "batch", "split", "split", "merge", "restart", "age"]), st.integers(0, 99)),
    max_size=20,
)


def shards_after(shards: Shards, kind: str, place: int) -> Shards | None:
    parents, number = list(shards.parents()), shards.numbers[place % len(shards)]
    if kind == "split":
        return shards.split(number) if shards.can_split(number) else None
    return shards.merged(parents[place % len(parents)]) if parents else None


def begun(folder: Path) -> Keeper:
    keeper = opened(folder, lateness_s=90, limits=CUT)
    for cube in (JOINED, APART):
        keeper.define(cube, OWN, pins=PINS)
        keeper.bands.define(cube, bands_of(["1min:4min", "2min:60min"], OWN))
    return keeper


def run(keeper: Keeper, folder: Path, topic: Topic, history: Sequence[Step], *, is_sharded: bool) -> Keeper:
    """Take the steps of a history; without ``is_sharded``, omit the changes of shards."""
    start = 0
    for kind, place in history:
        if kind == "batch":
            end = min(start + place % 20, len(topic.partitions[0]))
            topic.commit(keeper, batch(start, end), {JOINED: OWN, APART: OWN}, [APART])
            start = end
        elif kind == "restart":
            keeper.close()
            keeper = begun(folder)
        elif kind == "age":
            keeper.bands.age(10)
            keeper.views.fill(10)
        elif is_sharded:
            for cube in (JOINED, APART):
                former = keeper.snapshot.cube(cube).shards
                wanted = shards_after(former, kind, place)
                if wanted is not None:
                    assert keeper.shards.change(cube, former, wanted)
                    assert keeper.snapshot.cube(cube).shards == wanted
    return keeper


def check_cut(keeper: Keeper, state: CubeState) -> None:
    """Check that each piece has only cells of its shard, and that no cell of a closed pane is in two pieces."""
    layout = state.layout
    assert layout is not None
    for side in (state.panes, state.apart):
        for is_closed, panes in ((True, side.closed), (False, side.open)):
            for pieces in panes.values():
                cells = [keeper.snapshot.cells(layout, own) for own in pieces]
                for piece, own in zip(pieces, cells, strict=True):
                    shards = Shards() if piece.shard == 1 else others_and(piece.shard)
                    assert [number for number, _ in shards.divided(places_of(own))] == [piece.shard]
                if is_closed:
                    assert merged(layout, cells).count == sum(own.cells for own in pieces)
                    assert max(Counter(own.shard for own in pieces).values()) == 1


def others_and(number: int) -> Shards:
    """Return shards of which one has a number."""
    shards = Shards()
    for bits in range(1, number.bit_length()):
        shards = shards.split(number >> (number.bit_length() - bits))
    return shards


def whole(keeper: Keeper, state: CubeState) -> list[Any]:
    """Return what must not depend on shards: the cells of each pane as bytes, bands, answers and counters."""
    found: list[Any] = []
    for side in (state.panes, state.apart):
        for pane in sorted({*side.closed, *side.open}):
            parts = [keeper.snapshot.cells(LAYOUT, own) for own in side.pane(pane)]
            (piece,) = merged(LAYOUT, parts).pieces(LAYOUT)
            found.append((pane, pane in side.open, piece.to_bytes()))
    found += [(band.end, [(own.pane, own.crc) for own in band.panes.pieces()]) for band in state.bands]
    for body in ({"by": ["carrier", "dest"]}, {"by": ["carrier"]}, {"by": []}):
        answer = keeper.questions.query(state.id, {**body, "live": True, "late": True, "limit": 100_000})
        found.append((answer["interval"], answer["rows"]))
    return [*found, dict(state.counters), state.watermark_us]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(own=st.lists(records, max_size=120), history=steps)
def test_answers_and_pieces_do_not_depend_on_shards(own: list[Record], history: list[Step]) -> None:
    topic = Topic(partitions={0: own})
    history = [*history, ("batch", 19), ("split", 0), ("batch", 19), ("restart", 0), ("batch", 19), ("age", 0)]
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        keeper, other = begun(Path(first)), begun(Path(second))
        keeper = run(keeper, Path(first), topic, history, is_sharded=True)
        other = run(other, Path(second), topic, history, is_sharded=False)
        for cube in (JOINED, APART):
            state = keeper.snapshot.cube(cube)
            check_cut(keeper, state)
            assert whole(keeper, state) == whole(other, other.snapshot.cube(cube))
        check_pieces(keeper)
        keeper.close()
        other.close()


def many(count: int, minute: float) -> list[Record]:
    return [at(minute, f"carrier {each}") for each in range(count)]


def test_a_large_pane_is_cut_and_a_late_record_rewrites_one_shard(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(cut_cells=50))
    keeper.define(JOINED, OWN)
    topic = topic_of(*many(50, 0), *many(51, 1), at(2))
    assert keeper.shards.change(JOINED, Shards(), Shards.of([4, 5, 6, 7]))
    topic.commit(keeper, batch(0, 102), {JOINED: OWN})
    small, large = keeper.snapshot.cube(JOINED).panes.closed.values()
    assert [piece.shard for piece in small] == [1]
    assert sorted(piece.shard for piece in large) == [4, 5, 6, 7]
    topic.partitions[0] += [at(1, "carrier 7")]
    topic.commit(keeper, batch(102, 103), {JOINED: OWN})
    _, after = keeper.snapshot.cube(JOINED).panes.closed.values()
    assert len({piece.number for piece in after} - {piece.number for piece in large}) == 1
    assert rows_of(keeper, JOINED) == duckdb_rows(topic.partitions[0])
    keeper.close()


def test_a_change_divides_open_panes_and_closed_ones_follow_with_their_next_record(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CUT)
    keeper.define(JOINED, OWN)
    topic = topic_of(*many(20, 0), *many(20, 1), *many(20, 1))
    topic.commit(keeper, batch(0, 60), {JOINED: OWN})
    assert keeper.shards.change(JOINED, Shards(), Shards.of([2, 3]))
    state = keeper.snapshot.cube(JOINED)
    assert [[piece.shard for piece in own] for own in state.panes.open.values()] == [[2, 3]]
    assert [[piece.shard for piece in own] for own in state.panes.closed.values()] == [[1]]
    # Nothing changes if another change came first.
    assert not keeper.shards.change(JOINED, Shards(), Shards.of([2, 3]))
    topic.partitions[0] += [at(0, "carrier 7")]
    topic.commit(keeper, batch(60, 61), {JOINED: OWN})
    (closed,) = keeper.snapshot.cube(JOINED).panes.closed.values()
    assert [piece.shard for piece in closed] == [2, 3]
    assert keeper._store.execute("SELECT count(*) FROM pieces") == [(4,)]
    keeper.close()


def test_a_load_of_four_checks_splits_a_shard_and_a_small_one_merges_it_again(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CUT)
    keeper.define(JOINED, OWN)
    topic = topic_of(*many(20, 0), *many(9, 1), at(2))
    topic.commit(keeper, batch(0, 20), {JOINED: OWN})
    keeper.shards.check_if_due(None, now_s=0)
    for check in range(1, 5):
        assert len(keeper.snapshot.cube(JOINED).shards) == 1
        keeper.shards.note({JOINED: {1: CHECKED_S}})
        keeper.shards.check_if_due(None, now_s=check * CHECKED_S - 1)
        keeper.shards.check_if_due(None, now_s=check * CHECKED_S)
    state = keeper.snapshot.cube(JOINED)
    assert state.shards == Shards.of([2, 3])
    shown = keeper.shards.status(state)
    assert [own["shard"] for own in shown] == ["0", "1"]
    assert sum(own["cells"] for own in shown) == 20
    assert sum(own["bytes"] for own in shown) == state.panes.size_bytes
    for check in range(5, 10):
        assert len(keeper.snapshot.cube(JOINED).shards) == 2
        keeper.shards.check_if_due(None, now_s=check * CHECKED_S)
    assert keeper.snapshot.cube(JOINED).shards == Shards()
    loads = keeper.shards.status(keeper.snapshot.cube(JOINED))
    assert loads[0]["folding_share"] is None
    keeper.close()


def test_a_cube_has_at_most_the_shards_of_the_limit(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(shards=LimitsConfig(cube_shards=1).cube_shards))
    keeper.define(JOINED, OWN)
    for check in range(9):
        keeper.shards.note({JOINED: {1: CHECKED_S}})
        keeper.shards.check_if_due(None, now_s=check * CHECKED_S)
    assert keeper.snapshot.cube(JOINED).shards == Shards()
    assert keeper.shards.status(keeper.snapshot.cube(JOINED))[0]["folding_share"] == 1.0
    keeper.close()


def test_the_cells_of_a_shard_in_a_pane_are_counted_if_its_pieces_may_be_too_many(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CUT)
    keeper.define(JOINED, OWN)
    topic = topic_of(*many(8, 0), *many(10, 1), *many(12, 1), *many(12, 1))
    keeper.shards.change(JOINED, Shards(), Shards.of([2, 3]))
    for first, end in ((0, 18), (18, 30), (30, 42)):
        topic.commit(keeper, batch(first, end), {JOINED: OWN})
    state = keeper.snapshot.cube(JOINED)
    (pieces,) = state.panes.open.values()
    sizes = {shard: [own.cells for own in pieces if own.shard == shard] for shard in (2, 3)}
    assert sum(map(max, sizes.values())) == 12 < sum(map(sum, sizes.values()))
    # Each carrier is counted once, whether the pieces are read or not.
    for most in (0, max(max(own) for own in sizes.values()), 99):
        assert pane_cells(keeper.snapshot, state, LAYOUT, most) == {shard: max(own) for shard, own in sizes.items()}
    topic.partitions[0] += many(30, 1)[12:]
    topic.commit(keeper, batch(42, 60), {JOINED: OWN})
    state = keeper.snapshot.cube(JOINED)
    assert sum(pane_cells(keeper.snapshot, state, LAYOUT, 99).values()) < 30
    assert sum(pane_cells(keeper.snapshot, state, LAYOUT, 16).values()) == 30
    keeper.close()


def test_a_damaged_piece_parks_the_cube_and_changes_no_shard(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CUT)
    keeper.define(JOINED, OWN)
    topic_of(*many(20, 0)).commit(keeper, batch(0, 20), {JOINED: OWN})
    keeper._store.execute("UPDATE pieces SET data = x'00'")
    keeper.close()
    keeper = opened(tmp_path, limits=CUT)
    assert not keeper.shards.change(JOINED, Shards(), Shards.of([2, 3]))
    state = keeper.snapshot.cube(JOINED)
    assert state.shards == Shards()
    assert "is damaged" in str(state.parked)
    keeper.close()


@pytest.mark.parametrize("text", ["", "2", "2 3 4", "x", "1"])
def test_damaged_shards_are_one_and_no_cell_is_lost(text: str, tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CUT)
    keeper.define(JOINED, OWN)
    topic = topic_of(*many(20, 0), *many(20, 0), at(1))
    keeper.shards.change(JOINED, Shards(), Shards.of([4, 5, 3]))
    topic.commit(keeper, batch(0, 20), {JOINED: OWN})
    keeper._store.execute("UPDATE cubes SET shards = ?", (text,))
    keeper.close()
    keeper = opened(tmp_path, limits=CUT)
    assert keeper.snapshot.cube(JOINED).shards == Shards()
    topic.commit(keeper, batch(20, 41), {JOINED: OWN})
    (closed,) = keeper.snapshot.cube(JOINED).panes.closed.values()
    assert [piece.shard for piece in closed] == [1]
    assert rows_of(keeper, JOINED) == duckdb_rows(topic.partitions[0])
    keeper.close()


def test_a_file_without_shards_is_read(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(JOINED, OWN)
    topic = topic_of(*many(20, 0))
    topic.commit(keeper, batch(0, 20), {JOINED: OWN})
    keeper.close()
    with sqlite3.connect(tmp_path / "cubes.sqlite") as connection:
        for statement in TO_FORM_2:
            connection.execute(statement)
    connection.close()
    keeper = opened(tmp_path, limits=CUT)
    assert rows_of(keeper, JOINED) == duckdb_rows(topic.partitions[0])
    assert keeper.shards.change(JOINED, Shards(), Shards.of([2, 3]))
    assert rows_of(keeper, JOINED) == duckdb_rows(topic.partitions[0])
    keeper.close()


@pytest.mark.nightly
def test_a_pane_of_a_million_cells_is_split_down_to_shards_below_the_threshold(tmp_path: Path) -> None:
    keeper = opened(tmp_path, limits=CubeLimits(pane_cells=10**7))
    keeper.define(JOINED, OWN)
    count = 4 * SPLIT_CELLS
    topic = topic_of(*many(count, 0))
    topic.commit(keeper, batch(0, count), {JOINED: OWN})
    for check in range(80):
        keeper.shards.check_if_due(None, now_s=check * CHECKED_S)
    state = keeper.snapshot.cube(JOINED)
    assert 4 < len(state.shards) <= 8 < SHARDS_MOST
    assert max(own["pane_cells"] for own in keeper.shards.status(state)) <= SPLIT_CELLS
    assert keeper.questions.query(JOINED, {"live": True})["rows"][0]["n"] == count
    keeper.close()
