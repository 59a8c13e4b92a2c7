"""The rules for destinations, and loops of topics against a search of every way."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.config.config import Config, parse_config
from broker.errors import QueryError
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.rules import TopicLoops, check_destination

STREAMS = ["a", "b", "c", "d"]
CONFIG = parse_config(
    {
        "kafka": {"registry_topic": "registry"},
        "layers": {"zones": {"topic": "zones.shapes"}},
        "streams": {name: {"topic": f"source-{name}", "format": "json", "schema": "n INT"} for name in STREAMS},
    }
)


@pytest.mark.parametrize("topic", ["out", "x" * 249, "source-b", "_out", "a.dead-letters", "Registry"])
def test_a_query_may_deliver_to_any_other_topic(topic: str) -> None:
    check_destination(topic, "a", CONFIG)


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("", "use 1 to 249 of"),
        ("a/b", "use 1 to 249 of"),
        (".", "use 1 to 249 of"),
        ("..", "use 1 to 249 of"),
        ("x" * 250, "use 1 to 249 of"),
        ("out\n", "use 1 to 249 of"),
        ("__consumer_offsets", "is internal to Kafka"),
        ("registry", "is the registry of queries"),
        ("source-a", "is the source topic of 'a' itself"),
        ("a.dead-letter", "takes undecodable records"),
        ("d.dead-letter", "takes undecodable records"),
        ("d_dead-letter", "takes undecodable records"),
        ("asc.feed.a", "is the feed of a stream"),
        ("asc_feed_a", "is the feed of a stream"),
        ("asc.feed_a", "is the feed of a stream"),
        ("zones.shapes", "holds the shapes of layer 'zones'"),
        ("zones_shapes", "holds the shapes of layer 'zones'"),
        ("asc_feed.d", "is the feed of a stream"),
    ],
)
def test_a_destination_that_would_break_something_is_refused(topic: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        check_destination(topic, "a", CONFIG)


def has_loop(queries: list[RegisteredQuery]) -> bool:
    """Whether records of some stream can come round again: every way through streams without a repetition is tried."""
    feeds = {(query.stream, stream) for query in queries for stream in STREAMS if query.topic == f"source-{stream}"}
    return any(
        all(step in feeds for step in pairwise((*cycle, cycle[0])))
        for length in range(1, len(STREAMS) + 1)
        for cycle in permutations(STREAMS, length)
    )


def queries(prefix: str) -> st.SearchStrategy[list[RegisteredQuery]]:
    places = st.tuples(
        st.sampled_from(STREAMS), st.sampled_from([*(f"source-{name}" for name in STREAMS), "out"]), st.booleans()
    )
    return st.lists(places, max_size=10).map(
        lambda found: [
            RegisteredQuery(f"{prefix}{i}", stream, "n > 1", topic, paused=paused)
            for i, (stream, topic, paused) in enumerate(found)
        ]
    )


def feeds(standing: list[RegisteredQuery]) -> set[tuple[str, str]]:
    return QuerySet({query.id: query for query in standing}, watched=CONFIG.source_topics).feeds()


def without_a_loop(drawn: list[RegisteredQuery]) -> list[RegisteredQuery]:
    kept: list[RegisteredQuery] = []
    for query in drawn:
        if not has_loop([*kept, query]):
            kept.append(query)
    return kept


@given(queries("s").map(without_a_loop), queries("q"), st.data())
def test_a_query_is_refused_where_it_would_close_a_loop_and_nowhere_else(
    standing: list[RegisteredQuery], arriving: list[RegisteredQuery], data: st.DataObject
) -> None:
    replaced = {query.id for query in standing if data.draw(st.booleans())}
    accepted = [query for query in standing if query.id not in replaced]
    loops = TopicLoops(CONFIG, feeds(accepted))
    for query in arriving:
        refusal = loops.refusal(query)
        assert (refusal is not None) == has_loop([*accepted, query])
        if refusal is None:
            accepted.append(query)
        else:
            assert refusal.value == query.topic
            assert f"leads back to the source 'source-{query.stream}'" in refusal.remedy


def test_a_standing_query_of_a_stream_that_is_gone_closes_nothing() -> None:
    gone = RegisteredQuery("gone", "no-more", "n > 1", "source-a")
    assert TopicLoops(CONFIG, feeds([gone])).refusal(RegisteredQuery("q", "a", "n > 1", "source-b")) is None


def test_two_streams_of_one_source_are_one_place() -> None:
    described = {"topic": "shared", "format": "json", "schema": "n INT"}
    other = {**described, "topic": "other"}
    config: Config = parse_config({"streams": {"one": described, "two": described, "other": other}})
    loops = TopicLoops(config, [("one", "other")])
    assert loops.refusal(RegisteredQuery("back", "other", "n > 1", "shared")) is not None
    # A record of the shared topic is one of both streams.
    assert loops.refusal(RegisteredQuery("round", "two", "n > 1", "shared")) is not None
