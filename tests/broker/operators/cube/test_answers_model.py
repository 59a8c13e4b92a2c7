"""Answers of a cube whose panes age, are backfilled, and are stored in views: each equals a count over the records."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from broker.operators.cube.backfilling import Seam
from broker.operators.cube.band_fit import check_fit
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, Record, Topic, batch, minute, opened
from tests.broker.operators.cube.view_rig import CUBE, OWN, VIEWS, answer, state_of

FIRST = BASE_US // MINUTE_US
"""The number of the first pane, which has a minute."""
KEEPS = (
    (),
    ("1min:15min",),
    ("1min:30min", "60min:400min"),
    ("1min:10min", "5min:40min", "20min:80min carrier:0"),
    ("1min:20min", "10min:60min dest:0"),
    ("1min:10min", "1min:30min carrier:0", "15min:120min carrier:0 dest:0"),
    ("1min:5min", "2min:10min", "10min:30min", "60min:300min"),
)
OPERATIONS = ("live", "live", "live", "backfill", "age", "fill", "purge", "restart", "keep", "pin", "choose")
Rows = Counter[tuple[str | None, tuple[Any, ...]]]


def records_of(random: Random) -> list[Record]:
    """Return records of some hours, of which some are late."""
    records: list[Record] = []
    clock_us = 0.0
    for _ in range(random.randrange(20, 160)):
        clock_us += random.choice([0, 1, 2, 5, 20]) * MINUTE_US * random.random()
        time_us = max(0, int(clock_us - random.choice([0, 0, 0, 3, 30, 100]) * MINUTE_US * random.random()))
        records.append((random.choice(["B6", "UA", None]), random.choice(["JFK", "LAX", None]), 1, time_us))
    return records


def pane_of(record: Record) -> int:
    _, _, _, time_us = record
    assert time_us is not None
    return FIRST + time_us // MINUTE_US


class Kept:
    """A cube under random changes, and the records that it has counted and not deleted for their age."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.random, self.folder = random, folder
        self.records = records_of(random)
        self.topic = Topic(partitions={0: self.records})
        self.begin = self.live = random.choice([0, random.randrange(len(self.records) // 2)])
        self.counted: list[Record] = []
        self.keep: tuple[str, ...] = ()
        self.keeper = opened(folder, lateness_s=self._lateness_s())
        self.keeper.define(CUBE, OWN, pins=self._views())

    def change(self) -> None:
        """Make one random change."""
        keeper = self.keeper
        match self.random.choice(OPERATIONS):
            case "live" if self.live < len(self.records):
                end = min(len(self.records), self.live + self.random.randrange(1, 15))
                self._count(self.live, end)
                self.topic.commit(keeper, batch(self.live, end), {CUBE: OWN})
                self.live = end
            case "backfill" if self.begin and state_of(keeper).batch:
                first = max(0, self.begin - self.random.randrange(1, 20))
                self._count(first, self.begin)
                self.topic.backfill(keeper, batch(first, self.begin), {CUBE: OWN}, Seam("T", {0: self.live}, {}))
                self.begin = first
            case "age":
                keeper.bands.age(self.random.choice([0, 5]))
            case "fill":
                keeper.views.fill(self.random.choice([0, 5]))
            case "purge":
                keeper.purge(5)
            case "restart":
                keeper.close()
                self.keeper = opened(self.folder, lateness_s=self._lateness_s())
                self.keeper.bands.define(CUBE, bands_of(self.keep, OWN))
            case "keep":
                self._keep(self.random.choice(KEEPS))
            case "pin":
                keeper.views.pin(CUBE, self._views())
            case "choose":
                keeper.views.choose(CUBE, self._views())

    def check(self) -> None:
        """Compare the answer to a random question with a count over the records."""
        keeper, body, step = self.keeper, *self._question()
        try:
            answered = answer(keeper, **body)
        except CubeError:
            # A band does not have the levels or the panes that the question asks for.
            return
        kept_from, first, end = self.kept_from, *(self._bound(body, name) for name in ("from", "to"))
        if not body["live"]:
            closed = keeper.snapshot._open_from(state_of(keeper))
            closed = 0 if closed is None else closed // step * step
            end = closed if end is None else min(end, closed)
        if first is None and kept_from is not None and "grain_s" in body:
            # A part of the interval before this pane is deleted.
            first = -(-kept_from // step) * step
        expected: Rows = Counter()
        for record in self._kept():
            if (first is None or first <= pane_of(record)) and (end is None or pane_of(record) < end):
                begin = minute(pane_of(record) // step * step - FIRST) if "grain_s" in body else None
                values = {"carrier": record[0], "dest": record[1]}
                expected[begin, tuple(values[name] for name in body["by"])] += 1
        rows = {(row.get("pane"), tuple(row["group"].values())): row["n"] for row in answered["rows"] if row["n"]}
        assert rows == expected, (body, answered["answered_by"])

    @property
    def kept_from(self) -> int | None:
        return state_of(self.keeper).kept_from

    def _kept(self) -> list[Record]:
        kept_from = self.kept_from
        return [record for record in self.counted if kept_from is None or pane_of(record) >= kept_from]

    def _count(self, first: int, end: int) -> None:
        self.counted = self._kept()
        kept_from = self.kept_from
        self.counted += (own for own in self.records[first:end] if kept_from is None or pane_of(own) >= kept_from)

    def _keep(self, keep: tuple[str, ...]) -> None:
        bands = bands_of(keep, OWN)
        try:
            check_fit(state_of(self.keeper), bands)
        except CubeError:
            return
        self.keep = keep
        self.keeper.bands.define(CUBE, bands)

    def _question(self) -> tuple[dict[str, Any], int]:
        """Return a question, and the length of its intervals in panes."""
        random = self.random
        step = random.choice([1, 1, 2, 5, 10, 15, 20, 60])
        body: dict[str, Any] = {"by": random.choice([[], ["carrier"], ["dest"], ["carrier", "dest"]])}
        body["live"] = random.random() < 0.7
        if step > 1:
            body["grain_s"] = 60 * step
        first = random.randrange(300) // step * step
        if random.random() < 0.5:
            body["from"] = minute(first)
        if random.random() < 0.4:
            body["to"] = minute(first + step * random.randrange(1, 300 // step))
        views = state_of(self.keeper).views
        if views and random.random() < 0.3:
            view = random.choice(views).view
            names = [OWN.dimensions.names[place] for place in OWN.dimensions.columns(view.cuboid)]
            body["answer_from"] = {"by": names, "grain_s": 60 * view.panes}
        return body, step

    def _bound(self, body: dict[str, Any], name: str) -> int | None:
        texts = {minute(each): FIRST + each for each in range(700)}
        return texts[body[name]] if name in body else None

    def _views(self) -> list[Any]:
        return self.random.sample(VIEWS, self.random.randrange(4))

    def _lateness_s(self) -> int:
        return self.random.choice([0, 0, 60, 300])


def test_each_answer_is_a_count_over_the_records(full_size: bool) -> None:
    @settings(max_examples=300 if full_size else 8, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def check(seed: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            kept = Kept(Path(folder), Random(seed))
            for _ in range(40):
                kept.change()
                for _ in range(3):
                    kept.check()
            assert state_of(kept.keeper).parked is None
            kept.keeper.close()

    check()
