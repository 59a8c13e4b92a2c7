"""Where a bar's marks lie."""

from __future__ import annotations

import re

import pytest

from broker.pages.bars import grb_bar, region_bar


def rects(markup: str, kind: str) -> list[tuple[float, float]]:
    found = re.findall(rf'<rect class="{kind}" x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"', markup)
    return [(float(start), float(width)) for start, width in found]


@pytest.mark.parametrize(
    ("regions", "marked", "start", "width"),
    [(3, 0, 0, 96), (3, 2, 192, 96), (3, 3, 294, 26), (10_000, 9_999, 285, 3), (10_000, 5_000, 144, 3), (1, 0, 0, 288)],
    ids=["first", "last", "null", "last of many", "middle of many", "the only one"],
)
def test_the_marked_region(regions: int, marked: int, start: float, width: float) -> None:
    bar = region_bar(regions, marked, label="x")
    assert rects(bar, "marked") == [(pytest.approx(start, abs=0.1), pytest.approx(width, abs=0.1))]
    assert len(rects(bar, "region")) == min(regions, 80)


def test_heights_are_shares_and_nothing_is_marked() -> None:
    bar = region_bar(500, None, label="delay: <all>", shares=[1.0, 0.5, 0.0, 0.25])
    heights = [float(height) for height in re.findall(r'class="region"[^>]* height="([0-9.]+)"', bar)]
    assert heights == [22, 11, 1, 5.5]
    assert rects(bar, "marked") == []
    assert 'aria-label="delay: &lt;all&gt;"' in bar


def test_what_is_left_is_drawn_by_its_logarithm() -> None:
    bar = grb_bar(16_384, 3, 16_384, label="x")
    widths = [float(width) for width in re.findall(r' width="([0-9.]+)" height="14"/>', bar)]
    assert widths == [150, 150, pytest.approx(21.4, abs=0.1)]
    assert re.findall(r' width="([0-9.]+)" height="14"/>', grb_bar(5, 0, 5, label="x"))[-1] == "0.0"
    assert "150" in grb_bar(0, 0, 0, label="x")
