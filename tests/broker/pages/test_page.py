"""A page that stands alone."""

from __future__ import annotations

import re

from broker.pages.bars import region_bar
from broker.pages.page import STYLE, page


def luminance(colour: str) -> float:
    """As WCAG 2 has it."""
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_it_needs_nothing_and_runs_nothing() -> None:
    made = page("A <title>", "text & more")
    assert made.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>A &lt;title&gt;</title>" in made
    assert "text &amp; more" in made
    assert not re.search(r"src=|href=|url\(|@import|<script|http:|https:", made)
    assert "default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;" in made


def test_every_text_has_contrast_in_light_and_dark() -> None:
    light, dark = (dict(re.findall(r"--(\w+):#([0-9a-f]+)", part)) for part in STYLE.split("@media", 1))
    for colours in (light, dark):
        for name in ("ink", "soft", "good", "bad"):
            for ground in ("ground", "band"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for drawn in ("mark", "strong"):
            assert contrast(colours[drawn], colours["ground"]) >= 3, drawn
        assert contrast(colours["mark"], colours["bar"]) >= 3
        # NULL's name where its region is the marked one.
        assert contrast(colours["mark"], colours["ground"]) >= 4.5


def test_the_name_of_null_is_read_where_it_is_marked() -> None:
    assert 'class="small on-mark"' in region_bar(3, 3, label="x")
    assert 'class="on-mark"' not in region_bar(3, 2, label="x")
