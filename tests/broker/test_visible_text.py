"""What others wrote is shown, and obeyed by nothing that shows it."""

from __future__ import annotations

import time
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from broker.visible_text import spelled, visible


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


def test_what_is_long_takes_no_longer_than_to_read_it() -> None:
    text = "é\x1b[31m\u202e\n" * 300_000
    start_s = time.thread_time()
    shown = visible(text, "\n")
    assert time.thread_time() - start_s < 1
    assert shown == "é·[31m·\n" * 300_000
    many = "".join(map(chr, range(0xE000, 0xF8FF)))
    start_s = time.thread_time()
    assert visible(f"{many}é" * 100) == f"{'·' * len(many)}é" * 100
    assert time.thread_time() - start_s < 2
