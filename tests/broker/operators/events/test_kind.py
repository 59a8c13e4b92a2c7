"""The kind events: its destination in plans, and its limits."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.attribute import PAttribute, position
from asc.operators.events.event_query import EventQuery
from asc.operators.feed import QuerySettings
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.config.sections import LimitsConfig
from broker.operators.events.definition import EventsDefinition
from broker.operators.events.kind import EVENTS
from broker.operators.expression import OperatorExpressions
from broker.operators.feed_destination import FeedDestination

DEFINITION = EventsDefinition("k", "t", ("enter", "exit"), 30, 1.5)
ASKED = QuerySettings("q", "out", "", "", ("a41c",), {"since": 8})


def read(*attributes: PAttribute) -> Predicate:
    return Predicate("", (tuple((attribute, None) for attribute in attributes),))  # type: ignore[misc]


NUMBER = PAttribute("n", pa.float64(), ("n",))
KEY, TIME = PAttribute("CAST(k AS STRING)", pa.string()), PAttribute("unix_micros(t)", pa.int64())


def destination(*attributes: PAttribute) -> FeedDestination:
    expressions = OperatorExpressions((read(KEY), read(TIME)))
    return EVENTS.destination(DEFINITION, ASKED, read(*attributes), expressions)


def test_the_first_position_of_the_predicate_is_that_of_events() -> None:
    place, box = (position((NUMBER,) * count, is_planar=False) for count in (2, 4))
    found = destination(NUMBER, place, box)
    track = found.track
    assert (track.op, track.key, track.time_us) == ("events", "CAST(k AS STRING)", "unix_micros(t)")
    assert track.position == ("CAST((n) AS DOUBLE)",) * 2
    assert (track.carried, track.observes_all, track.by_key) == (None, True, True)
    assert EventQuery.of(found.query) == EventQuery(
        *("q", "out", track.name, track.time_name, ("a41c",), ("enter", "exit")),
        *(30_000_000, 1_500_000, 8),
    )
    assert destination(NUMBER).track.position == ()


def test_tracks_have_the_names_that_states_of_form_1_have() -> None:
    # Written by the version before for these expressions: another name would begin all objects anew.
    assert destination(NUMBER).track.name == "e99fd3c2991d"


def test_objects_are_shared_by_the_parts_of_the_feed() -> None:
    assert EVENTS.held_limit(LimitsConfig(stream_objects=1_600), 7) == 100
    assert EVENTS.held_limit(LimitsConfig(stream_objects=1), 7) == 1
