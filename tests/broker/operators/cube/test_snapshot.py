"""Snapshots: what an answer says, and that it is that of one commit whatever comes meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.json_values import instant_of, instant_text
from broker.errors import DamagedPieceError, UnknownQueryError
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    opened,
    partial,
)
from tests.broker.operators.cube.test_keeper import damage

OWN = definition()
LATE = cube_id("late", OWN)


def minute(number: int) -> str:
    return instant_text(BASE_US + number * MINUTE_US)


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    """Has four panes, the last of which is open."""
    records: list[Record] = [("B6" if each % 2 else "UA", "JFK", each, each * MINUTE_US // 10) for each in range(40)]
    own = opened(tmp_path, lateness_s=10)
    own.define(LATE, OWN)
    for first in range(0, 40, 5):
        Topic(partitions={0: records}).commit(own, batch(first, first + 5), {LATE: OWN})
    yield own
    own.close()


def test_an_answer_says_all_that_it_is_of(keeper: Keeper) -> None:
    body = {"by": ["carrier"], "where": "carrier = 'B6'", "from": minute(1), "to": minute(3), "limit": 1}
    assert keeper.questions.query(LATE, body) == {
        "interval": [minute(1), minute(3)],
        "watermark": instant_text(BASE_US + 39 * MINUTE_US // 10 - 10_000_000),
        "whole": True,
        "gaps": [],
        "commit": 9,
        "open_panes": 0,
        "answered_by": [{"cuboid": ["carrier", "dest"], "grain_s": 60, "panes": 2, "cells": 4}],
        "groups": 1,
        "overflows": 0,
        "rows": [{"group": {"carrier": "B6"}, "n": 10, "d": 200}],
        "roll_up": [{"by": [], "where": "carrier = 'B6'", "from": minute(1), "to": minute(3)}],
        "drill_down": [{"by": ["carrier", "dest"], "where": "carrier = 'B6'", "from": minute(1), "to": minute(3)}],
        "cursor": None,
    }


def test_closed_panes_answer_and_open_ones_where_they_are_asked_for(keeper: Keeper) -> None:
    closed, live = keeper.questions.query(LATE, {}), keeper.questions.query(LATE, {"live": True})
    assert (closed["rows"][0]["n"], closed["interval"]) == (30, [minute(0), minute(3)])
    assert (live["rows"][0]["n"], live["interval"]) == (40, [minute(0), minute(4)])
    beyond = keeper.questions.query(LATE, {"from": minute(2), "to": minute(9)})
    assert (beyond["rows"][0]["n"], beyond["interval"]) == (10, [minute(2), minute(3)])
    after = keeper.questions.query(LATE, {"from": minute(8)})
    assert (after["rows"][0]["n"], after["interval"]) == (0, [minute(8), minute(8)])


def test_an_answer_counts_the_open_panes_of_the_interval(keeper: Keeper) -> None:
    def open_panes(**body: Any) -> int:
        return int(keeper.questions.query(LATE, body)["open_panes"])

    assert (open_panes(), open_panes(live=True)) == (1, 1)
    assert (open_panes(to=minute(3)), open_panes(to=minute(4)), open_panes(**{"from": minute(4)})) == (0, 1, 0)
    # Of a live question, it is in the interval.
    assert open_panes(last_s=60) == 1
    assert open_panes(grain_s=120) == 1


def test_last_s_ends_with_the_last_closed_pane(keeper: Keeper) -> None:
    found = keeper.questions.query(LATE, {"last_s": 120})
    assert (found["interval"], found["rows"][0]["n"]) == ([minute(1), minute(3)], 20)
    most_s = (BASE_US + 3 * MINUTE_US - instant_of("from", "0001-01-01")) // 1_000_000
    found = keeper.questions.query(LATE, {"last_s": most_s})
    assert (found["interval"], found["rows"][0]["n"]) == (["0001-01-01T00:00:00Z", minute(3)], 30)
    with pytest.raises(CubeError, match="begins before the year 1"):
        keeper.questions.query(LATE, {"last_s": most_s + 60})


def test_last_s_of_a_live_question_ends_with_the_newest_open_pane(keeper: Keeper) -> None:
    def answer_of(**body: Any) -> tuple[Any, int]:
        found = keeper.questions.query(LATE, {"live": True, **body})
        return found["interval"], sum(row["n"] for row in found["rows"])

    assert answer_of(last_s=60) == ([minute(3), minute(4)], 10)
    assert answer_of(last_s=120) == ([minute(2), minute(4)], 20)
    assert answer_of(last_s=120, grain_s=120) == ([minute(2), minute(4)], 20)
    # Each of the two intervals has the panes that are there.
    Topic(partitions={0: [("B6", "JFK", 1, 4 * MINUTE_US)] * 41}).commit(keeper, batch(40, 41), {LATE: OWN})
    assert answer_of(last_s=120, grain_s=120) == ([minute(4), minute(6)], 1)
    assert answer_of(last_s=60) == ([minute(4), minute(5)], 1)


def test_without_open_panes_the_last_whole_interval_of_a_grain_is_the_last(keeper: Keeper) -> None:
    def answer_of(**body: Any) -> tuple[Any, list[tuple[int, int]]]:
        found = keeper.questions.query(LATE, {"grain_s": 120, **body})
        at = {minute(number): number for number in range(0, 10, 2)}
        return found["interval"], [(at[row["pane"]], row["n"]) for row in found["rows"]]

    # Three panes are closed, and with them one interval.
    assert answer_of() == ([minute(0), minute(2)], [(0, 20)])
    assert answer_of(live=True) == ([minute(0), minute(4)], [(0, 20), (2, 20)])
    assert answer_of(**{"from": minute(2)}) == ([minute(2), minute(2)], [])
    assert answer_of(to=minute(4)) == ([minute(0), minute(2)], [(0, 20)])
    assert answer_of(last_s=120) == ([minute(0), minute(2)], [(0, 20)])
    assert answer_of(last_s=240)[0] == [minute(-2), minute(2)]
    found = keeper.questions.query(LATE, {"by": ["carrier"], "grain_s": 120, "live": True, "last_s": 120})
    kept = {"grain_s": 120, "live": True, "from": minute(2), "to": minute(4)}
    assert found["roll_up"] == [{"by": [], **kept}]
    assert keeper.questions.query(LATE, found["roll_up"][0])["rows"][0]["n"] == 20


def test_a_cursor_goes_on_through_the_rows_of_intervals(keeper: Keeper) -> None:
    body: dict[str, Any] = {"by": [["carrier"], []], "grain_s": 60, "limit": 4, "order": ["pane DESC"]}
    pages, cursor = [], None
    while True:
        found = keeper.questions.query(LATE, {**body, "cursor": cursor})
        pages.append([(row["pane"], row["group"].get("carrier"), row["n"]) for row in found["rows"]])
        cursor = found["cursor"]
        if cursor is None:
            break
    assert [len(page) for page in pages] == [4, 4, 1]
    carriers = [(minute(own), carrier, 5) for own in (2, 1, 0) for carrier in ("B6", "UA")]
    assert [row for page in pages for row in page] == [*carriers, *((minute(own), None, 10) for own in (2, 1, 0))]


@pytest.mark.parametrize(
    "change",
    [
        {"by": ["carrier"]},
        {"live": False},
        {"late": True},
        {"order": ["n"]},
        {"measures": ["n"]},
        {"where": "carrier = 'B6'"},
    ],
)
def test_a_cursor_is_of_one_question(keeper: Keeper, change: dict[str, Any]) -> None:
    body: dict[str, Any] = {"by": [["carrier"], []], "live": True, "limit": 1}
    cursor = keeper.questions.query(LATE, body)["cursor"]
    assert keeper.questions.query(LATE, {**body, "cursor": cursor, "limit": 2})["rows"]
    with pytest.raises(CubeError, match="is of another question: give the body"):
        keeper.questions.query(LATE, {**body, "cursor": cursor, **change})
    with pytest.raises(CubeError, match="is of another question"):
        keeper.questions.query(LATE, {**body, "cursor": "-".join(cursor.split("-")[:2])})


def test_a_cursor_goes_on_and_is_of_one_commit(keeper: Keeper, tmp_path: Path) -> None:
    body: dict[str, Any] = {"by": [["carrier"], []], "limit": 2}
    first = keeper.questions.query(LATE, body)
    assert first["cursor"].startswith("9-2-")
    assert [row["n"] for row in first["rows"]] == [15, 15]
    second = keeper.questions.query(LATE, {**body, "cursor": first["cursor"]})
    assert (second["cursor"], second["rows"]) == (None, [{"group": {}, "n": 30, "d": sum(range(30))}])
    Topic(partitions={0: [("B6", "JFK", 1, 9 * MINUTE_US)] * 41}).commit(keeper, batch(40, 41), {LATE: OWN})
    detail = r"is of another commit, and the cube is at 10: ask without it again, with a limit of up to 100,000 for one"
    with pytest.raises(CubeError, match=rf"cursor '9-2-[0-9a-f]{{8}}': {detail} page"):
        keeper.questions.query(LATE, {**body, "cursor": first["cursor"]})
    # The registration of another cube is a commit as well.
    following = keeper.questions.query(LATE, body)
    keeper.define(cube_id("other", OWN), OWN)
    with pytest.raises(CubeError, match="is of another commit, and the cube is at 11"):
        keeper.questions.query(LATE, {**body, "cursor": following["cursor"]})


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"live": "yes"}, "live 'yes': give true"),
        ({"cursor": "9"}, "cursor '9': is no cursor: give the text cursor of the last answer"),
        ({"last_s": 0}, "last_s 0: is no length of time: give a multiple of"),
        ({"cursor": 9}, "cursor 9: is no cursor: give the text cursor of the last answer"),
        ({"last_s": 90}, "last_s 90: is off the grain of 1min"),
        ({"last_s": True}, "last_s True: is no length of time"),
        ({"last_s": 180, "grain_s": 120}, "last_s 180: is off the grain of 2min"),
        ({"grain_s": 420}, "grain_s 420: give seconds that divide an hour"),
        ({"grain_s": 30}, "grain_s 30: is no multiple of the cube's grain of 1min"),
        ({"last_s": 60, "from": minute(1)}, "last_s 60: is an interval already"),
        ({"last_s": 60 * 10**17}, "last_s 6000000000000000000: begins before the year 1: give fewer seconds, or leave"),
        ({"last_s": 102 * 10**9}, "last_s 102000000000: begins before the year 1: give fewer seconds, or leave"),
        ({"bye": 1}, "field 'bye': is not known"),
        ({"from": "2013-07-10T00:00:01Z"}, "is off the grain"),
        ({"where": "delay > 0"}, "is no dimension"),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(keeper: Keeper, body: dict[str, Any], detail: str) -> None:
    with pytest.raises(CubeError, match=detail) as refused:
        keeper.questions.query(LATE, body)
    assert "\n" not in str(refused.value)


def test_before_its_first_batch_a_cube_answers_that_it_has_nothing(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    found = keeper.questions.query(LATE, {"by": [["carrier"], []]})
    assert (found["rows"], found["watermark"], found["whole"]) == ([{"group": {}, "n": 0, "d": None}], None, False)
    assert found["gaps"] == [{"from": None, "to": None, "reason": "before its first batch"}]
    # No pane is closed, and cells have no bounds here.
    nothing = [minute(1), minute(1)]
    asked = ({}, {"to": minute(1)}, {"from": minute(1)}, {"from": minute(1), "to": minute(2)})
    assert [keeper.questions.query(LATE, own)["interval"] for own in asked] == [None, None, nothing, nothing]
    with pytest.raises(CubeError, match="last_s 60: no pane is closed yet: ask with live"):
        keeper.questions.query(LATE, {"last_s": 60})
    with pytest.raises(CubeError, match="last_s 60: no pane has records yet: ask without it"):
        keeper.questions.query(LATE, {"last_s": 60, "live": True})
    with pytest.raises(UnknownQueryError, match="cube 'other': is not kept"):
        keeper.questions.query(cube_id("other", OWN), {})
    keeper.close()


def test_without_a_closed_pane_an_answer_includes_none_unless_it_is_live(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    records: list[Record] = [("B6", "JFK", 1, each * MINUTE_US) for each in range(3)]
    source, places = Topic(partitions={0: records, 1: []}), BatchInterval("T", {0: 0, 1: 0}, {0: 3, 1: 0})
    # The first record of the other partition came after the batch was planned: there is no mark.
    keeper.commit(places, {LATE: partial(OWN, [records])}, source.newest(places), {1})
    assert dict(keeper.snapshot.marks) == {}

    def answer_of(**body: Any) -> tuple[Any, int, int]:
        found = keeper.questions.query(LATE, body)
        return found["interval"], found["rows"][0]["n"], found["open_panes"]

    between = {"from": minute(0), "to": minute(3)}
    assert answer_of(**between) == ([minute(0), minute(0)], 0, 3)
    assert answer_of(**between, live=True) == ([minute(0), minute(3)], 3, 3)
    assert answer_of(**{"from": minute(1)}) == ([minute(1), minute(1)], 0, 2)
    assert answer_of(to=minute(2)) == (None, 0, 2)
    assert answer_of(last_s=120, live=True) == ([minute(1), minute(3)], 2, 2)
    assert answer_of(last_s=120, grain_s=120, live=True) == ([minute(2), minute(4)], 1, 1)
    with pytest.raises(CubeError, match="last_s 60: no pane is closed yet: ask with live"):
        answer_of(last_s=60)
    keeper.close()


def test_an_older_snapshot_answers_as_before_when_its_pieces_are_merged(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper._reader._kept_bytes = 0
    keeper.define(LATE, OWN)
    records: list[Record] = [("B6", "JFK", each, each * MINUTE_US // 4) for each in range(40)]
    source = Topic(partitions={0: records})
    older = []
    for each in range(40):
        source.commit(keeper, batch(each, each + 1), {LATE: OWN})
        older.append((keeper.snapshot, keeper.questions.query(LATE, {"by": ["carrier"], "live": True})))
    for snapshot, answer in older:
        assert snapshot.query(LATE, {"by": ["carrier"], "live": True}) == answer
    snapshot = keeper.snapshot
    keeper.remove("late")
    with pytest.raises(UnknownQueryError, match="was removed while the question was answered"):
        snapshot.query(LATE, {})
    keeper.close()


@pytest.mark.parametrize(
    ("minutes", "kept_bytes"),
    [pytest.param(8, 2_000, id="few panes"), pytest.param(1_000, 20_000, marks=pytest.mark.nightly, id="many panes")],
)
def test_the_parts_of_a_thousand_answers_add_up_while_batches_are_committed(
    tmp_path: Path, minutes: int, kept_bytes: int
) -> None:
    keeper = opened(tmp_path)
    # Less than the cells take: what merges away meanwhile is read from the file, and from later snapshots.
    keeper._reader._kept_bytes = kept_bytes
    keeper.define(LATE, OWN)
    count = 20_000
    records: list[Record] = [
        (f"carrier {n % 7}", "JFK", n, (n * minutes // count - n % 2) * MINUTE_US + n) for n in range(count)
    ]
    source = Topic(partitions={0: records})
    stop, failures = threading.Event(), list[BaseException]()

    def commit() -> None:
        try:
            for first in range(0, count, 5):
                if stop.is_set():
                    return
                source.commit(keeper, batch(first, first + 5), {LATE: OWN})
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=commit)
    thread.start()
    commits = set()
    try:
        asked = 0
        while asked < 1_000 or (len(commits) < 20 and thread.is_alive()):
            asked += 1
            found = keeper.questions.query(LATE, {"by": [["carrier"], ["dest"], []], "live": True, "limit": 100})
            by_size: dict[tuple[str, ...], list[dict[str, Any]]] = {}
            for row in found["rows"]:
                by_size.setdefault(tuple(row["group"]), []).append(row)
            # The cube began with the first commit; each one after it has five records more.
            counted = 5 * (found["commit"] - 1)
            for own in by_size.values():
                assert sum(row["n"] for row in own) == counted
                assert sum(row["d"] or 0 for row in own) == sum(range(counted))
            commits.add(found["commit"])
    finally:
        stop.set()
        thread.join()
    assert failures == []
    assert len(commits) >= 20
    keeper.close()


def test_a_reader_of_before_a_damaged_piece_was_deleted_asks_again(tmp_path: Path) -> None:
    own = opened(tmp_path)
    own.define(LATE, OWN)
    topic = Topic(partitions={0: [("B6", "JFK", 1, each * MINUTE_US) for each in range(3)]})
    for first in range(2):
        topic.commit(own, batch(first, first + 1), {LATE: OWN})
    own.close()
    number = damage(tmp_path / "cubes.sqlite", 0)
    own = opened(tmp_path)
    before, asked = own.snapshot, threading.Event()

    def slow(_size_bytes: int) -> None:
        """Have another question find the piece, and the cube resumed, while this one is answered."""
        if not asked.is_set():
            asked.set()
            own.park_damaged(LATE, number)
            own.resume(LATE)

    # It is damaged to this reader as well, and no cube was removed.
    with pytest.raises(DamagedPieceError) as refused:
        before.query(LATE, {"live": True}, slow)
    assert refused.value.number == number
    found = own.questions.query(LATE, {"live": True})
    assert (found["rows"][0]["n"], found["whole"]) == (1, False)
    own.close()
