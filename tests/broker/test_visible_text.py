"""What others wrote is shown, and obeyed by nothing that shows it."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from broker.visible_text import spelled, visible
from tests.call_counts import counted_calls


@given(st.text(), st.sampled_from(["", "\n\t"]))
def test_each_character_stays_or_is_a_dot_and_nothing_that_is_obeyed_stays(text: str, kept: str) -> None:
    shown = visible(text, kept)
    assert len(shown) == len(text)
    assert all(there in (char, "·") for there, char in zip(shown, text, strict=True))
    assert all(
        char.isprintable() or char in f"{kept}\u200c\u200d" or unicodedata.category(char) in ("Cn", "Zs")
        for char in shown
    )
    assert visible(shown, kept) == shown


def test_what_would_be_obeyed_or_hidden_is_a_dot() -> None:
    assert visible("a\x00\x1b[31m\u202e\u2066\ud800\r") == "a··[31m····"
    assert visible("می\u200cخواهم 👩\u200d🚀 é\n") == "می\u200cخواهم 👩\u200d🚀 é·"
    assert visible("می\u200cخواهم 👩\u200d🚀 é\n", "\n\t") == "می\u200cخواهم 👩\u200d🚀 é\n"


def test_a_joiner_stays_where_something_is_joined() -> None:
    assert visible("ad\u200dmin \u200c") == "ad·min ·"
    assert spelled("ad\u200dmin\u202e\x07\U000e0001é") == r"ad\u200dmin\u202e\x07\U000e0001é"
    assert spelled("می\u200cخواهم 👩\u200d🚀") == "می\u200cخواهم 👩\u200d🚀"


def test_the_work_is_for_each_distinct_character_and_not_for_each_character() -> None:
    text = "é\x1b[31m\u202e\n" * 300_000
    with counted_calls(50):
        shown = visible(text, "\n")
    assert shown == "é·[31m·\n" * 300_000
    many = "".join(map(chr, range(0xE000, 0xF8FF)))
    with counted_calls(4 * len(many)) as calls:
        shown = visible(f"{many}é" * 100)
    assert shown == f"{'·' * len(many)}é" * 100
    # Each replacement is a pass over the whole text.
    assert calls["replace"] <= 32
