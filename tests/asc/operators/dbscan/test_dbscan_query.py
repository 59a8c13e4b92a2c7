"""DBSCAN queries, as a feed has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from asc.operators.dbscan.dbscan_query import ATTRIBUTES_MAX, SAMPLE_MAX, SLIDES_MAX, DbscanQuery
from asc.operators.dbscan.sphere import HALF_EARTH_M
from asc.operators.times import SPAN_US

CROWDS = DbscanQuery("crowds", "asc.crowds", "t", "e", ("s",), 2, False, 0.05, 5, True, 600, 60)
DENSE = replace(CROWDS, id="dense", is_position=True, eps=2_000.0, is_timed=False, members="changes", sample=3)


@pytest.mark.parametrize(
    "query",
    [
        CROWDS,
        DENSE,
        replace(CROWDS, attributes=ATTRIBUTES_MAX, since=7, sample=SAMPLE_MAX),
        replace(CROWDS, window=60 * SLIDES_MAX),
        replace(CROWDS, window=SPAN_US, slide=SPAN_US),
        replace(DENSE, eps=HALF_EARTH_M, window=(1 << 63) - 1, slide=(1 << 63) - 1, min_samples=(1 << 63) - 1),
    ],
)
def test_settings_say_all_of_a_query(query: DbscanQuery) -> None:
    assert DbscanQuery.of(query.settings()) == query


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("attributes", 0),
        ("attributes", ATTRIBUTES_MAX + 1),
        ("attributes", 2.0),
        ("position", 1),
        ("eps", 0),
        ("eps", -1.0),
        ("eps", float("nan")),
        ("eps", 1e-170),
        ("eps", 1e170),
        ("eps", 10**400),
        ("eps", "1"),
        ("eps", True),
        ("min_samples", 0),
        ("min_samples", 2.5),
        ("window_us", 0),
        ("window_us", 60 * SLIDES_MAX + 1),
        ("window_us", 1 << 63),
        ("slide_us", 0),
        ("slide_us", 601),
        ("members", "some"),
        ("sample", -1),
        ("sample", SAMPLE_MAX + 1),
        ("lateness_us", -1),
        ("lateness_us", SPAN_US + 1),
        ("since", "7"),
        ("since", -2),
    ],
)
def test_what_is_no_query_is_refused(field: str, value: Any) -> None:
    settings = CROWDS.settings()
    with pytest.raises((ValueError, KeyError, TypeError)):
        DbscanQuery.of(replace(settings, definition={**settings.definition, field: value}))
    if field in ("lateness_us", "since"):
        return
    missing = {name: own for name, own in settings.definition.items() if name != field}
    with pytest.raises((ValueError, KeyError, TypeError)):
        DbscanQuery.of(replace(settings, definition=missing))


def test_a_radius_and_a_window_are_no_longer_than_the_earth_and_the_years() -> None:
    for wrong in (replace(DENSE, eps=HALF_EARTH_M * 1.001), replace(CROWDS, window=SPAN_US + 1, slide=SPAN_US)):
        with pytest.raises(ValueError, match="is no"):
            DbscanQuery.of(wrong.settings())


def test_a_query_continues_one_of_equal_points_and_windows() -> None:
    assert replace(CROWDS, eps=1.0, min_samples=9, sample=1, members="all", topic="other").continues(CROWDS)
    for other in (
        replace(CROWDS, track="other"),
        replace(CROWDS, selections=("r",)),
        replace(CROWDS, window=700),
        replace(CROWDS, slide=50),
        replace(CROWDS, is_timed=False),
        replace(CROWDS, since=7),
    ):
        assert not other.continues(CROWDS)


def test_another_lateness_makes_no_other_query() -> None:
    assert replace(CROWDS, lateness_us=9).is_same(CROWDS)
    assert not replace(CROWDS, eps=0.06).is_same(CROWDS)
