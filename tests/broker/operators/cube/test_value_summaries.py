"""Frequent items and sets of values in a kept cube: through views, restarts, bands and a backfill."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.backfilling import Seam
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    Record,
    batch,
    cube_id,
    definition,
    minute,
    opened,
    topic_of,
)

OWN = definition(measures=("count(*) AS n", "frequent(delay, 3) AS top", "seen(delay, 20) AS delays"))
CUBE = cube_id("values", OWN)
VIEWS = (View((1, 0), 10), View((0, 0), 60))
MINUTES, BATCH = 240, 150
VALUES = [*range(-3, 40), None]
CALLS = [*(f"frequency(delay, {value})" for value in range(-3, 12)), "contains(delay, 1)", "contains(delay, 999)"]


def records() -> list[Record]:
    """Return records in the order of time, with a few frequent delays and many different ones."""
    draw = random.Random(7)
    times = sorted(draw.randrange(MINUTES * MINUTE_US) for _ in range(1_500))
    carriers, delays = ["B6", "UA", None], [1, 1, 1, 2, 2, *VALUES]
    # One record at the end closes all panes before it.
    last: Record = ("B6", "JFK", None, MINUTES * MINUTE_US)
    return [*((draw.choice(carriers), "JFK", draw.choice(delays), time) for time in times), last]


def fed(folder: Path, several: Sequence[Record], *, views: Sequence[View] = VIEWS, restarts: bool = True) -> Keeper:
    """Return a keeper with all records, which was closed and opened between batches."""
    topic = topic_of(*several)
    keeper = opened(folder)
    keeper.define(CUBE, OWN, pins=views)
    for start in range(0, len(several), BATCH):
        topic.commit(keeper, batch(start, min(start + BATCH, len(several))), {CUBE: OWN})
        keeper.views.fill(10)
        if restarts and start % (3 * BATCH) == 0:
            keeper.close()
            keeper = opened(folder)
    return keeper


def rows(keeper: Keeper, **body: Any) -> dict[Any, dict[str, Any]]:
    """Return the rows of an answer by carrier, with all questions about values."""
    measures = ["n", "top", "delays", *CALLS]
    asked = {"by": ["carrier"], "measures": measures, "from": minute(0), "to": minute(MINUTES), **body}
    found = keeper.questions.query(CUBE, {"limit": 1_000, **asked})["rows"]
    return {row["group"].get("carrier", "all"): row for row in found}


def check(found: dict[Any, dict[str, Any]], several: Sequence[Record]) -> None:
    """Check the answers of each carrier, or of all, against the records."""
    for carrier, row in found.items():
        delays = [own[2] for own in several if carrier in (own[0], "all") and own[2] is not None]
        truth = Counter(delays)
        assert row["delays"]["values"] == row["top"]["values"] == len(delays)
        for value in range(-3, 12):
            answer = row[f"frequency(delay, {value})"]
            assert truth[value] <= answer["estimate"] == answer["high"]
        assert row["contains(delay, 1)"]["estimate"] is True
        assert row["contains(delay, 999)"]["confidence"] >= 0.9
        items = {own["item"]: own for own in row["top"]["items"]}
        assert all(own["low"] <= truth[item] <= own["high"] for item, own in items.items())
        assert {item for item, count in truth.items() if count > row["top"]["bound"]} <= set(items)


def exact_part(found: dict[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Return the answers that do not depend on the division of records."""
    return {carrier: {name: row[name] for name in row if name != "top"} for carrier, row in found.items()}


@pytest.mark.parametrize("by", [["carrier"], []])
def test_views_and_restarts_give_the_answers_of_one_batch(tmp_path: Path, by: list[str]) -> None:
    several = records()
    whole = opened(tmp_path / "whole")
    whole.define(CUBE, OWN)
    topic_of(*several).commit(whole, batch(0, len(several)), {CUBE: OWN})
    wanted = rows(whole, by=by)
    check(wanted, several)
    keeper = fed(tmp_path / "fed", several)
    answer = keeper.questions.query(CUBE, {"by": by, "from": minute(0), "to": minute(MINUTES)})
    assert answer["answered_by"][0]["grain_s"] > 60
    for view in ({}, {"answer_from": {"by": ["carrier", "dest"], "grain_s": 60}}):
        found = rows(keeper, by=by, **view)
        check(found, several)
        assert exact_part(found) == exact_part(wanted)
    keeper.close()
    whole.close()


def test_panes_that_age_keep_the_answers(tmp_path: Path) -> None:
    several = records()
    keeper = fed(tmp_path, several, views=())
    wanted = rows(keeper, by=[])
    keeper.bands.define(CUBE, bands_of(["1min:20min", "20min:300min dest:0"], OWN))
    keeper.bands.age(10)
    found = rows(keeper, by=[])
    check(found, several)
    assert exact_part(found) == exact_part(wanted)
    assert len(list(keeper.snapshot.cube(CUBE).pieces())) < MINUTES
    keeper.close()


def test_a_backfill_gives_the_answers_of_live_records(tmp_path: Path) -> None:
    several = records()
    topic = topic_of(*several)
    live = opened(tmp_path / "live")
    live.define(CUBE, OWN)
    topic.commit(live, batch(0, len(several)), {CUBE: OWN})
    keeper = opened(tmp_path / "late")
    keeper.define(CUBE, OWN)
    middle = len(several) // 2
    topic.commit(keeper, batch(middle, len(several)), {CUBE: OWN})
    for start in range(0, middle, BATCH):
        part = batch(start, min(start + BATCH, middle))
        topic.backfill(keeper, part, {CUBE: OWN}, Seam("T", {0: len(several)}, {0: 0}))
    found = rows(keeper)
    check(found, several)
    assert exact_part(found) == exact_part(rows(live))
    live.close()
    keeper.close()
