"""The kind near: its destination in plans, and its limits."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.attribute import PAttribute, position
from asc.operators.feed import QuerySettings
from asc.operators.near.near_query import NearQuery
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.config.sections import LimitsConfig
from broker.operators.expression import OperatorExpressions
from broker.operators.feed_destination import FeedDestination
from broker.operators.near.definition import NearDefinition
from broker.operators.near.kind import NEAR

ASKED = QuerySettings("q", "out", "", "", ("a41c",), {"since": 8})
NUMBER = PAttribute("n", pa.float64(), ("n",))
KEY, TIME = PAttribute("CAST(k AS STRING)", pa.string()), PAttribute("unix_micros(t)", pa.int64())


def read(*attributes: PAttribute) -> Predicate:
    return Predicate("", (tuple((attribute, None) for attribute in attributes),))  # type: ignore[misc]


def destination(on: str | None, *carried: tuple[str, str]) -> FeedDestination:
    definition = NearDefinition("k", 9_260, 30, 10, on=on)
    place = position((NUMBER, NUMBER), is_planar=False)
    expressions = OperatorExpressions((read(KEY), read(TIME), read(place)), carried)
    return NEAR.destination(definition, ASKED, read(NUMBER), expressions)


def test_its_destination_has_all_that_ticks_need() -> None:
    found = destination("a.t < b.t", ("`t`", "unix_micros(`t`)"))
    track = found.track
    assert (track.op, track.key, track.time_us) == ("near", "CAST(k AS STRING)", "unix_micros(t)")
    assert track.position == ("CAST((n) AS DOUBLE)",) * 2
    assert (track.carried, track.observes_all, track.by_key) == ((("`t`", "unix_micros(`t`)"),), False, False)
    assert NearQuery.of(found.query) == NearQuery(
        *("q", "out", track.name, track.time_name, ("a41c",), ("pair",)),
        *(9_260, 30_000_000, 10_000_000, "a.t < b.t", 8),
    )


def test_its_condition_is_judged_by_its_reader() -> None:
    assert destination("a.t < b.t").conditions == ("a.t < b.t",)
    assert destination(None).conditions == ()


def test_tracks_have_the_names_that_states_of_form_1_have() -> None:
    # Written by the version before for these expressions: another name would begin all windows anew.
    assert destination("a.t < b.t", ("`t`", "unix_micros(`t`)")).track.name == "ncd052c2166a2"
    assert destination(None).track.name == "nbea739d379b6"


def test_queries_share_half_of_the_objects() -> None:
    limits = LimitsConfig(stream_objects=1_600)
    assert [NEAR.held_limit(limits, queries) for queries in (0, 1, 2, 801)] == [800, 800, 400, 1]
