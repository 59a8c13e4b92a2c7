"""Sketches of a standing cube through batches, late records, views, bands, a backfill and restarts."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from asc.operators.cube.cube import Cube
from asc.operators.cube.keep import bands_of
from asc.operators.cube.kinds import table
from asc.operators.cube.view import View
from broker.errors import QueryError
from broker.operators.cube.backfilling import Seam
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    SCHEMA,
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    minute,
    opened,
    table_of,
    topic_of,
)
from tests.broker.operators.cube.view_rig import cells

OWN = definition(measures=("count(*) AS n", "quantiles(delay) AS q", "distinct(delay) AS s", "distinct(dest) AS d"))
CUBE = cube_id("q", OWN)
PINS = [View((1, 0), 10), View((0, 0), 60)]
ASKED = ["n", "q", "s", "d", "quantile(delay, 0.9) AS p90", "rank(delay, 0) AS late"]


def records_of(seed: int, count: int, minutes: int) -> list[Record]:
    """Return records in order of their times."""
    draw = random.Random(seed)
    times = sorted(draw.randrange(minutes * MINUTE_US) for _ in range(count))
    return [(draw.choice(["B6", "UA"]), f"D{draw.randrange(700)}", draw.randrange(-900, 4_000), time) for time in times]


def answer(keeper: Keeper, **body: Any) -> dict[str, Any]:
    return keeper.questions.query(CUBE, {"by": ["carrier"], "measures": ASKED, "live": True, **body})


def check(keeper: Keeper, records: Sequence[Record], **body: Any) -> None:
    """Check answers against the records: exact numbers, the one answer of distinct counts, and bounds of ranks."""
    whole = Cube(OWN, SCHEMA.ddl())
    whole.fold(table_of(records))
    expected = whole.query({"by": ["carrier"], "measures": ["n", "s", "d"]})["rows"]
    rows = answer(keeper, **body)["rows"]
    assert [{name: row[name] for name in ("group", "n", "s", "d")} for row in rows] == expected
    for row in rows:
        delays = sorted(own[2] for own in records if own[0] == row["group"]["carrier"] and own[2] is not None)
        assert (row["q"]["count"], row["q"]["min"], row["q"]["max"]) == (len(delays), delays[0], delays[-1])
        assert row["p90"]["low"] <= delays[math.ceil(0.9 * len(delays)) - 1] <= row["p90"]["high"]
        assert row["late"]["low"] <= sum(delay <= 0 for delay in delays) / len(delays) <= row["late"]["high"]
        assert row["s"]["low"] <= len(set(delays)) <= row["s"]["high"]


def test_answers_hold_through_batches_views_bands_and_restarts(tmp_path: Path) -> None:
    records = records_of(1, 6_000, 241)
    late = records_of(2, 300, 240)
    topic = topic_of(*records, *late)
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, pins=PINS)
    for start in range(0, 6_000, 1_500):
        topic.commit(keeper, batch(start, start + 1_500), {CUBE: OWN})
        keeper.views.fill(10)
    check(keeper, records)
    topic.commit(keeper, batch(6_000, 6_300), {CUBE: OWN})
    keeper.views.fill(10)
    for view in ({"by": ["carrier", "dest"], "grain_s": 60}, {"by": ["carrier"], "grain_s": 600}):
        closed = [own for own in (*records, *late) if own[3] is not None and own[3] < 240 * MINUTE_US]
        check(keeper, closed, answer_from=view, live=False)
    fewer = cells(answer(keeper, live=False))
    keeper.close()
    keeper = opened(tmp_path)
    check(keeper, [*records, *late])
    assert cells(answer(keeper, live=False)) == fewer
    keeper.bands.define(CUBE, bands_of(["1min:30min", "10min:60min", "60min:240min dest:0"], OWN))
    keeper.bands.age(10)
    check(keeper, [*records, *late])
    assert len(answer(keeper)["answered_by"]) == 3
    keeper.close()


def test_a_backfill_adds_past_values_to_the_sketches(tmp_path: Path) -> None:
    records = records_of(3, 2_000, 120)
    topic, keeper = topic_of(*records), opened(tmp_path)
    keeper.define(CUBE, OWN, pins=PINS)
    topic.commit(keeper, batch(1_500, 2_000), {CUBE: OWN})
    check(keeper, records[1_500:])
    past = batch(0, 1_500)
    topic.backfill(keeper, past, {CUBE: OWN}, Seam("T", {0: 1_500}, {0: 0}))
    check(keeper, records)
    keeper.close()


def test_a_cube_outlives_a_time_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = records_of(4, 500, 30)
    topic, keeper = Topic(partitions={0: records}), opened(tmp_path)
    keeper.define(CUBE, OWN)
    topic.commit(keeper, batch(0, 500), {CUBE: OWN})
    keeper.close()
    with monkeypatch.context() as missing:
        missing.setattr(table, "find_spec", lambda name: None)
        keeper = opened(tmp_path)
        reason = r"is parked, measure 'quantiles\(delay\)': needs Apache DataSketches: pip install 'asc-broker"
        with pytest.raises(QueryError, match=reason):
            answer(keeper)
        keeper.close()
    keeper = opened(tmp_path)
    check(keeper, records)
    assert answer(keeper, **{"from": minute(0), "to": minute(30)})["whole"]
    keeper.close()
