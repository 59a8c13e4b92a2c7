"""Messages of a feed count from the claim of their writer on, until another one claims it."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from asc.errors import FeedFormError
from asc.operators.exclusions import FeedCounts
from asc.operators.feed import Message, Watermarks, parse
from asc.operators.feed_claim import ClaimedFeed, claim_of


def mark(time_us: int, writer: str | None = None) -> str:
    return Watermarks({"t": time_us}).text(writer)


def read(feed: ClaimedFeed, texts: Iterable[str]) -> tuple[list[Message], dict[str, int]]:
    counts = FeedCounts()
    return [*feed.messages(texts, counts)], dict(counts.excluded)


def test_all_messages_count_until_the_first_claim_and_then_those_of_its_writer() -> None:
    texts = [mark(1), claim_of("a"), mark(2, "a"), mark(3), mark(4, "b"), claim_of("b"), mark(5, "a"), mark(6, "b")]
    found, excluded = read(ClaimedFeed("events", id), texts)
    assert found == [Watermarks({"t": time_us}) for time_us in (1, 2, 6)]
    assert excluded == {"replaced_writer": 3}
    # Wherever it is cut.
    for place in range(len(texts)):
        first = ClaimedFeed("events", id)
        earlier, _ = read(first, texts[:place])
        second = ClaimedFeed("events", id, first.writer)
        later, _ = read(second, texts[place:])
        assert ([*earlier, *later], second.writer) == (found, "b")


def test_fields_are_read_wherever_they_stand() -> None:
    claim = json.dumps({"time": {}, "claim": True, "w": "a", "v": 2}, indent=1)
    own = json.dumps({"time": {"t": 7}, "w": "a", "v": 2}, indent=1)
    assert read(ClaimedFeed("events", id), [claim, own, mark(8, "b")]) == (
        [Watermarks({"t": 7})],
        {"replaced_writer": 1},
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", '{"v":2,"w":"b', '{"v":2,"w":"b","claim":true}', '{"v":2,"w":"b","op":"cube","claim":true}'),
        *('{"v":2,"w":"b","claim":1,"time":{}}', '{"v":2,"w":5,"claim":true,"time":{}}'),
    ],
)
def test_what_is_no_claim_takes_nobody_s_place_and_is_counted(text: str) -> None:
    feed = ClaimedFeed("events", id, "a")
    found, excluded = read(feed, [text, mark(1, "a")])
    assert (found, feed.writer, sum(excluded.values())) == ([Watermarks({"t": 1})], "a", 1)


def test_a_later_form_is_named_whoever_wrote_it() -> None:
    later = json.dumps({"v": 3, "w": "b", "time": {}})
    with pytest.raises(FeedFormError, match="a later version wrote it"):
        read(ClaimedFeed("events", id, "a"), [later])


def test_readers_that_know_no_claims_see_watermarks_of_nothing_and_messages_themselves() -> None:
    assert parse(claim_of("a"), "events", id) == (Watermarks({}),)
    assert parse(mark(7, "a"), "events", id) == (Watermarks({"t": 7}),)
