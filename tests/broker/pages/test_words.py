"""Long words on pages: cut or scrolled, never broken."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from broker.pages.words import folded, whole, words
from broker.visible_text import spelled

LONG = "a" * 194


@given(st.text() | st.text("ab-/, \n", max_size=60))
def test_the_text_stays_as_it_is(text: str) -> None:
    for shown in (words(text), whole(text), folded(text)):
        assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == spelled(text, "\n\t")


def test_a_long_word_is_one_element_with_all_of_it() -> None:
    assert words(f"x {LONG}, y") == f'x <span class="cut" title="{LONG},">{LONG},</span> y'
    assert whole(LONG) == f'<span class="scroll" tabindex="0" title="{LONG}">{LONG}</span>'


def test_a_short_word_that_a_browser_would_break_is_held_together() -> None:
    assert words("a-b c") == '<span class="cut" title="a-b">a-b</span> c'
    assert whole("a/b c") == '<span class="unbroken">a/b</span> c'


def test_lines_of_json_without_spaces_are_broken_behind_commas_alone() -> None:
    assert folded("a,b, c,") == "a,<wbr/>b, c,"


def test_what_is_no_markup_is_text() -> None:
    assert "<b>" not in words("<b>x</b> <script>alert(1)</script>")
    assert "<script>" not in whole("<script>alert(1)</script>")
