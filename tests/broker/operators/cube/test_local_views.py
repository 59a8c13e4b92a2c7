"""Days, months and hours of a time zone are read from stored views only where these lie within them."""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from asc.operators.cube.optimiser import Budget
from asc.operators.cube.view import View
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import BASE_US, SCHEMA, Record, Topic, batch, cube_id, definition

OWN = definition(900)
CUBE = cube_id("q", OWN)
QUARTER_US = 900_000_000
VIEWS = (View((1, 0), 4), View((0, 0), 4), View((1, 0), 8), View((0, 0), 48), View((1, 1), 96), View((0, 0), 96))
DAYS = 12
FIRSTS = {
    "America/New_York": datetime(2026, 3, 5, tzinfo=timezone.utc),
    "Europe/Berlin": datetime(2026, 10, 20, tzinfo=timezone.utc),
    "Asia/Kolkata": datetime(2026, 5, 28, tzinfo=timezone.utc),
    "UTC": datetime(2026, 5, 28, tzinfo=timezone.utc),
}
"""The begin of the records of each zone. The clock changes, or a month begins, during them."""


def kept(folder: Path, time_zone: str, *pins: View, bands: tuple[str, ...] = ()) -> Keeper:
    """Return a keeper with two records in each quarter of an hour of twelve days, aged into the bands."""
    first_us = round(FIRSTS[time_zone].timestamp() * 1_000_000) - BASE_US
    records: list[Record] = [
        (carrier, dest, each, first_us + each * QUARTER_US)
        for each in range(DAYS * 96 + 1)
        for carrier, dest in (("B6", "JFK"), ("UA" if each % 3 else None, "LAX" if each % 7 else None))
    ]
    folder.mkdir()
    found = Keeper.open(folder / "cubes.sqlite", SCHEMA, CubeLimits(), lateness_s=0, time_zone=time_zone)
    found.define(CUBE, OWN, pins=pins)
    found.bands.define(CUBE, bands_of(bands, OWN))
    Topic(partitions={0: records}).commit(found, batch(0, len(records)), {CUBE: OWN})
    found.bands.age(10)
    return found


def read_cells(found: dict[str, Any]) -> int:
    return sum(own["cells"] for own in found["answered_by"])


@pytest.mark.parametrize(
    ("time_zone", "bands"),
    [
        *((zone, ()) for zone in FIRSTS),
        ("America/New_York", ("15min:3d", "1h:1y")),
        ("Asia/Kolkata", ("15min:4d", "30min:1y")),
    ],
)
def test_views_and_bands_answer_as_the_base_pieces_do(tmp_path: Path, time_zone: str, bands: tuple[str, ...]) -> None:
    plain, viewed = kept(tmp_path / "plain", time_zone), kept(tmp_path / "viewed", time_zone, *VIEWS, bands=bands)
    read = [0, 0]
    grains: list[dict[str, Any]] = [{}, {"grain": "1d"}, {"grain": "1M"}, {"grain_s": 3_600}, {"grain_s": 86_400}]
    for by, grain, hours in product(([[]], [["carrier"]]), grains, (None, "14-16", "22-2,8-9")):
        body = {"by": by, **grain, "hours": hours, "live": hours is None, "limit": 100_000}
        expected, found = plain.questions.query(CUBE, body), viewed.questions.query(CUBE, body)
        assert found["rows"] == expected["rows"], body
        assert found["interval"] == expected["interval"], body
        read[0] += read_cells(expected)
        read[1] += read_cells(found)
    # Views and bands are read, not the base pieces alone.
    assert read[1] < 0.6 * read[0]
    plain.close()
    viewed.close()


def test_each_view_is_read_for_the_days_that_it_divides(tmp_path: Path) -> None:
    keeper = kept(tmp_path / "kept", "America/New_York", *VIEWS)
    body = {"grain": "1d", "from": "2026-03-06T05:00:00Z", "to": "2026-03-15T04:00:00Z"}
    found = keeper.questions.query(CUBE, body)["answered_by"]
    # Days in UTC do not lie in days of New York.
    assert [(own["cuboid"], own["grain_s"]) for own in found] == [([], 3_600), ([], 43_200)]
    assert sum(own["cells"] for own in found) < 9 * 24
    hours = keeper.questions.query(CUBE, {**body, "hours": "14-16"})["answered_by"]
    assert [(own["grain_s"], own["cells"]) for own in hours] == [(3_600, 18)]
    keeper.close()


def test_a_question_of_too_many_days_is_answered_by_the_base_pieces(tmp_path: Path) -> None:
    keeper = kept(tmp_path / "kept", "Europe/Berlin", *VIEWS)
    far = Topic("U", {0: [("B6", "JFK", 1, -BASE_US - 62_135_596_800_000_000)]})
    far.commit(keeper, batch(0, 1, topic_id="U"), {CUBE: OWN})
    found = keeper.questions.query(CUBE, {"grain": "1d"})
    assert [own["grain_s"] for own in found["answered_by"]] == [900]
    assert found["rows"][0]["window"][0] == found["interval"][0] == "0001-01-01T00:00:00Z"
    assert len(found["rows"]) == DAYS + 1
    keeper.close()


@pytest.mark.parametrize(
    ("time_zone", "body", "said"),
    [
        (
            "America/New_York",
            {"grain": "1d"},
            "grain '1d': days of America/New_York are not whole panes of 24h in UTC, as they are kept",
        ),
        (
            "America/New_York",
            {"grain": "1M", "live": True},
            "grain '1M': months of America/New_York are not whole panes of 24h in UTC, as they are kept",
        ),
        ("UTC", {"hours": "1-3"}, "hours '1-3': are shorter than the panes of 1d that are kept before 2026-06-07T"),
    ],
)
def test_where_only_days_are_kept_days_of_another_zone_and_hours_are_refused(
    tmp_path: Path, time_zone: str, body: dict[str, Any], said: str
) -> None:
    keeper = kept(tmp_path / "kept", time_zone, bands=("15min:2d", "1d:1y"))
    with pytest.raises(CubeError, match=said) as refused:
        keeper.questions.query(CUBE, body)
    assert "\n" not in str(refused.value)
    later = "2026-04-01T04:00:00Z" if time_zone != "UTC" else "2026-06-08T00:00:00Z"
    assert keeper.questions.query(CUBE, {**body, "from": later})["groups"] >= 0
    keeper.close()


def test_days_that_are_not_whole_panes_are_refused_with_the_grain_in_utc(tmp_path: Path) -> None:
    keeper = kept(tmp_path / "kept", "America/New_York", bands=("15min:2d", "1d:1y"))
    said = r"days of America/New_York are not whole panes of 24h in UTC, .*: give grain_s 86400, or ask from "
    with pytest.raises(CubeError, match=said):
        keeper.questions.query(CUBE, {"grain": "1d"})
    assert keeper.questions.query(CUBE, {"grain_s": 86_400})["groups"] >= 1
    # Hours are no whole days either.
    with pytest.raises(CubeError, match=r"are not whole panes of 24h in UTC, .*: ask from "):
        keeper.questions.query(CUBE, {"grain": "1d", "hours": "14-16"})
    keeper.close()


def test_days_in_utc_are_read_from_a_band_of_days(tmp_path: Path) -> None:
    keeper = kept(tmp_path / "kept", "UTC", bands=("15min:2d", "1d:1y"))
    assert [row["n"] for row in keeper.questions.query(CUBE, {"grain": "1d"})["rows"]] == [192] * DAYS
    assert [row["n"] for row in keeper.questions.query(CUBE, {"grain": "1M", "live": True})["rows"]] == [
        4 * 192,
        8 * 192 + 2,
    ]
    keeper.close()


@pytest.mark.parametrize(
    ("time_zone", "body", "view"),
    [
        # In UTC, two hours begin at 14:00.
        ("UTC", {"hours": "14-16"}, ("carrier at 2h", 7_200)),
        ("UTC", {"hours": "14-16", "grain": "1d"}, ("carrier at 2h", 7_200)),
        ("UTC", {"grain": "1d"}, ("carrier at 1d", 86_400)),
        ("America/New_York", {"hours": "15-16"}, ("carrier at 1h", 3_600)),
        ("America/New_York", {"grain": "1d"}, ("carrier at 1h", 3_600)),
        ("Asia/Kolkata", {"grain": "1d"}, ("carrier at 30min", 1_800)),
    ],
)
def test_the_view_that_is_proposed_for_days_and_hours_answers_them(
    tmp_path: Path, time_zone: str, body: dict[str, Any], view: tuple[str, int]
) -> None:
    keeper = kept(tmp_path / "kept", time_zone)
    for _ in range(100):
        before = keeper.questions.query(CUBE, {"by": ["carrier"], **body})
    proposal = keeper.choice.propose(CUBE, Budget(1, 1_000_000))
    assert [own.name for own in proposal.additions] == [view[0]]
    keeper.choice.apply(CUBE, proposal)
    keeper.views.fill(10)
    after = keeper.questions.query(CUBE, {"by": ["carrier"], **body})
    assert view[1] in [own["grain_s"] for own in after["answered_by"]]
    assert after["rows"] == before["rows"]
    assert read_cells(after) < 0.7 * read_cells(before)
    keeper.close()
