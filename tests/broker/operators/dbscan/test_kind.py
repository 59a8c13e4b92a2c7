"""The kind dbscan: its destination in plans, its limits, and the size of what goes to the feed."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import ATTRIBUTES_MAX, SAMPLE_MAX, DbscanQuery
from asc.operators.feed import Observation, QuerySettings, Settings, Watermarks
from asc.predicate import normalise
from asc.schema import PLANAR, Schema
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.dbscan.kind import DBSCAN
from broker.operators.feed_destination import NO_KEY, FeedDestination, selection_of
from broker.operators.feed_part import part_of
from broker.operators.plan_expressions import expressions_of_destination
from broker.operators.schema_analyser import SchemaAnalyser

SCHEMA = Schema.from_ddl("x INT, y DECIMAL(9,2), z DOUBLE, s STRING, t TIMESTAMP, u TIMESTAMP, lon DOUBLE, lat DOUBLE")
OWN = {"attributes": ["x", "y * 2"], "eps": 0.5, "min_samples": 5, "time": "t", "window_s": 60, "slide_s": 10}


def destination(query_id: str = "q", where: str = "z > 3", **more: Any) -> FeedDestination:
    definition = StandingDbscan.parse({**OWN, **more})
    predicate = normalise(where, SCHEMA)
    asked = QuerySettings(query_id, f"asc.{query_id}", "", "", (selection_of(predicate),), {"since": 7})
    return DBSCAN.destination(definition, asked, predicate, DBSCAN.read(definition, SchemaAnalyser(SCHEMA)))


def test_its_destination_has_all_that_windows_need() -> None:
    found = destination(key="s")
    track = found.track
    assert (track.op, track.key, track.time_us) == ("dbscan", "CAST(s AS STRING)", "unix_micros(t)")
    assert track.position == ("CAST((x) AS DOUBLE)", "CAST((y * 2) AS DOUBLE)")
    assert (track.carried, track.observes_all, track.by_key) == (None, False, False)
    asked = DbscanQuery.of(found.query)
    assert (asked.attributes, asked.window, asked.slide) == (2, 60_000_000, 10_000_000)
    # That of the stream, which the settings of the feed have.
    assert asked.lateness_us is None
    assert asked.since == 7
    assert FeedDestination.of(found.in_plan()) == found


def test_queries_of_equal_expressions_share_a_track_and_those_of_one_where_a_selection() -> None:
    one = destination("one")
    same = destination("same", "3 < z", eps=9, window_s=30, members="all")
    assert (same.track, same.selection) == (one.track, one.selection)
    assert destination(where="z > 4").track == one.track
    assert destination(where="z > 4").selection != one.selection
    others = [destination(attributes=["x", "z"]), destination(key="s"), destination(time="u")]
    others.append(destination(attributes=None, position="ST_Point(lon, lat)"))
    others.append(destination(attributes=["lon", "lat"]))
    assert len({each.track.name for each in [one, *others]}) == 6
    assert 0 <= part_of(one.track.name) < 16


def test_without_a_key_nothing_is_computed_for_it() -> None:
    assert destination().track.key == NO_KEY
    assert NO_KEY not in {own.sql for own in expressions_of_destination(destination())}
    assert len(expressions_of_destination(destination(key="s"))) == len(expressions_of_destination(destination())) + 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"attributes": ["s"]}, "operator.attributes 's': is STRING, no number"),
        ({"attributes": ["t"]}, "operator.attributes 't': is TIMESTAMP, no number"),
        ({"attributes": ["x > 3"]}, "operator.attributes 'x > 3': is BOOLEAN, no number"),
        ({"attributes": ["1"]}, "operator.attributes '1': is the same for every record"),
        ({"attributes": ["rand() + x"]}, "operator.attributes"),
        ({"attributes": ["x +"]}, "operator.attributes 'x +': "),
        ({"attributes": ["nope"]}, "operator.attributes 'nope': "),
        ({"attributes": None, "position": "x"}, "operator.position 'x': "),
        ({"time": "x"}, "operator.time 'x': is no TIMESTAMP"),
    ],
)
def test_an_expression_of_another_type_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        destination(**changed)
    assert str(refused.value).startswith(said)


def test_a_window_of_more_points_than_one_may_have_is_refused_with_the_limit() -> None:
    limits = LimitsConfig(stream_dbscan_points=100)
    timed = StandingDbscan.parse({**OWN, "window_s": 6_000, "slide_s": 10})
    fits, wide = (
        StandingDbscan.parse({**OWN, "window_s": None, "slide_s": None, "window_points": points, "slide_points": 10})
        for points in (100, 101)
    )
    assert DBSCAN.excess(timed, limits) is DBSCAN.excess(fits, limits) is None
    assert str(DBSCAN.excess(wide, limits)) == (
        "operator.window_points 101: is more than the 100 points of a window: shorten it, or raise "
        "limits.stream_dbscan_points"
    )


def test_a_position_in_a_plane_is_refused() -> None:
    definition = StandingDbscan.parse({**OWN, "attributes": None, "position": "ST_Point(lon, lat)"})
    with pytest.raises(QueryError, match="the stream is planar: name x and y as attributes"):
        DBSCAN.read(definition, SchemaAnalyser(SCHEMA.with_crs(PLANAR)))


def test_consecutive_windows_without_a_common_point_are_warned_of() -> None:
    definition = StandingDbscan.parse({**OWN, "slide_s": 60})
    (warning,) = DBSCAN.read(definition, SchemaAnalyser(SCHEMA)).warnings
    assert warning == "slide = window: consecutive windows share no point, so no id lasts"


def test_a_message_of_a_thousand_queries_with_one_where_is_small() -> None:
    own = [destination(f"q{number}", eps=1 + number / 7) for number in range(1_000)]
    selections = tuple(sorted({each.selection for each in own}))
    (track,) = {each.track for each in own}
    seen = Observation("dbscan", track.name, None, 1_527_866_408_000_000, (8.2131, 47.0312), 12, 1_742_000, selections)
    assert len(seen.text("0123456789ab").encode()) <= 200


def test_a_window_record_takes_no_more_than_a_registration_is_told() -> None:
    more = {"attributes": ["x"] * ATTRIBUTES_MAX, "sample": SAMPLE_MAX}
    own, most = destination(**more), DBSCAN.record_bytes(StandingDbscan.parse({**OWN, **more}))
    track, time = own.track.name, own.track.time_name
    picks = random.Random(3)
    seen = []
    for number in range(SAMPLE_MAX):
        values = tuple(-picks.random() * 1e-300 for _ in range(ATTRIBUTES_MAX))
        seen.append(Observation("dbscan", track, None, number * 1_000, values, 0, number, own.query.selections))
    settings = Settings("dbscan", "flights", False, SAMPLE_MAX, (own.query,))
    messages = [settings, *seen, Watermarks({time: 10_000_000})]
    (*_, window) = Clusters().read([message.text() for message in messages])
    assert window.kind == "window"
    assert most * 0.9 < len(window.value) <= most - 1_000
    assert DBSCAN.record_bytes(StandingDbscan.parse({**OWN, "sample": 0})) < 5_000


def outputs_of(points: int) -> list[Any]:
    """The records of the window before 60 s that has so many points."""
    limit = DBSCAN.held_limit(LimitsConfig(stream_dbscan_points=100), queries=1)
    own = destination(attributes=["x"])
    settings = Settings("dbscan", "flights", False, limit, (replace(own.query, id="q"),))
    track, time = own.track.name, own.track.time_name
    seen = [
        Observation("dbscan", track, None, number * 1_000, (0.0,), 0, number, own.query.selections)
        for number in range(points)
    ]
    messages = [settings, *seen, Watermarks({time: 10_000_000})]
    return [json.loads(output.value) for output in Clusters().read([message.text() for message in messages])]


def test_a_window_of_one_point_more_than_the_limit_is_skipped() -> None:
    # limits.stream_dbscan_points: 200_000 by default, 100 here.
    assert DBSCAN.held_limit(LimitsConfig(), queries=7) == 200_000
    assert [own["record"] for own in outputs_of(100)] == ["cluster", "window"]
    (window,) = outputs_of(101)
    assert (window["skipped"], "clusters" in window) == ("capacity", False)
