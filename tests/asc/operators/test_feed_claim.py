"""Messages of a feed count from the claim of their writer on, until another one claims it."""

from __future__ import annotations

from asc.operators.feed import Watermarks, parse
from asc.operators.feed_claim import claim_of, counted, signed, with_writer, without_writer


def mark(time_us: int, writer: str | None = None) -> bytes:
    text = Watermarks({"t": time_us}).text()
    return (text if writer is None else signed(text, writer)).encode()


def test_all_messages_count_until_the_first_claim_and_then_those_of_its_writer() -> None:
    before = [mark(1), mark(2, "a")]
    assert counted(before, None) == (before, None)
    claim, other = claim_of("a").encode(), claim_of("b").encode()
    texts = [mark(1), claim, mark(2, "a"), mark(3), mark(4, "b"), other, mark(5, "a"), mark(6, "b")]
    assert counted(texts, None) == ([mark(1), mark(2, "a"), mark(6, "b")], "b")
    # Wherever it is cut.
    for place in range(len(texts)):
        first, writer = counted(texts[:place], None)
        second, writer = counted(texts[place:], writer)
        assert ([*first, *second], writer) == counted(texts, None)


def test_what_is_no_claim_takes_nobody_s_place() -> None:
    wrong = [b"", b"{", b'{"v":2,"w":"b', b'{"v":2,"w":"b","claim":true}', b'{"v":2,"w":"b","claim":true,"time":{}} ']
    assert counted([*wrong, mark(1, "a")], "a") == ([mark(1, "a")], "a")


def test_readers_see_in_a_claim_watermarks_of_nothing_and_in_a_signed_message_itself() -> None:
    assert parse(claim_of("a"), "events", id) == (Watermarks({}),)
    assert parse(mark(7, "a"), "events", id) == (Watermarks({"t": 7}),)


def test_a_state_keeps_the_writer_and_older_ones_have_none() -> None:
    for state in (b"", b"{}\n", b"\xff\xff\xff\xffARROW\n"):
        assert without_writer(with_writer(state, "a7")) == (state, "a7")
        assert with_writer(state, None) == state
        assert without_writer(state) == (state, None)
