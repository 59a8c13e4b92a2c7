"""Where the matches of queries with an operator go in a plan, as a text in place of a topic."""

from __future__ import annotations

import pytest

from asc.operators.feed import NEAR_TRACK, EventQuery, NearQuery
from broker.operators.fed_destination import FedDestination, Track, is_operated, target_of

EVENTS = Track("CAST(k AS STRING)", "unix_micros(t)", ("x", "y"))
NEAR = Track("CAST(k AS STRING)", "unix_micros(t)", ("x", "y"), (("alt", "alt"), ("t", "unix_micros(t)")))


@pytest.mark.parametrize(
    "destination",
    [
        FedDestination("asc.feed.s", EVENTS, EventQuery("é", "out", EVENTS.name, ("enter", "exit"), 30, 1)),
        FedDestination("asc.feed.s", NEAR, NearQuery("é", "out", NEAR.name, ("pair",), 5.5, 30, 10, "a.alt < b.alt")),
    ],
    ids=["events", "near"],
)
def test_a_destination_holds_all_that_its_operator_needs_of_a_query(destination: FedDestination) -> None:
    text = destination.text()
    assert FedDestination.of_text(text) == destination
    assert text.startswith(target_of("asc.feed.s", destination.track.name))
    assert is_operated(text)
    assert not is_operated("out")


def test_other_expressions_make_another_track_whatever_they_are_cut_into() -> None:
    tracks = (EVENTS, Track(EVENTS.key, EVENTS.time_us), Track("a", "b", ("c",)), Track("a", "b,c"), NEAR)
    more = (Track("a", "b", ("c",), ()), Track("a", "b", ("c",), (("d", "d"),)))
    assert len({each.name for each in (*tracks, *more)}) == 7
    assert [each.name.startswith(NEAR_TRACK) for each in (*tracks, *more)] == [False] * 4 + [True] * 3
