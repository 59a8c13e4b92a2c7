"""Bars in SVG: the regions of a construct, and the conjuncts that remain in a GRB."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from broker.pages.markup import element

_WIDTH, _HEIGHT = 320, 22
_NULL_WIDTH, _GAP = 26, 6
_DRAWN = 80
"""The largest number of regions that are drawn individually. If there are more, this number of strips is drawn."""

_MARK_LEAST = 3.0


def region_bar(regions: int, marked: int | None, *, label: str, shares: Sequence[float] | None = None) -> Markup:
    """Return the regions of a construct in the order of their values, and the region of NULL apart at the end.

    ``marked``: the number of the region to mark, counted from 0; ``regions`` marks the region of NULL, None marks none.
    ``shares``: for each region, the NULL region last, the share (0 to 1) of the conjuncts that it does not rule out,
    drawn as its height. There may be shares for fewer regions, evenly spread. ``label``: the same information in words.
    """
    width = _WIDTH - _NULL_WIDTH - _GAP
    strips = max(1, min(regions, _DRAWN) if shares is None else len(shares) - 1)
    heights = [1.0] * (strips + 1) if shares is None else shares
    each = width / strips
    drawn = [_strip(place * each, each, height, "region") for place, height in enumerate(heights[:-1])]
    drawn.append(_strip(width + _GAP, _NULL_WIDTH, 1.0, "null"))
    if shares is not None:
        drawn.append(_strip(width + _GAP, _NULL_WIDTH, heights[-1], "region"))
    if marked is not None and marked >= regions:
        drawn.append(_strip(width + _GAP, _NULL_WIDTH, 1.0, "marked"))
    elif marked is not None:
        own = max(_MARK_LEAST, width / max(1, regions))
        start = min(width - own, marked * width / max(1, regions))
        drawn.append(_strip(start, own, 1.0, "marked"))
    is_null = marked is not None and marked >= regions
    text: dict[str, object] = {
        "class": "small on-mark" if is_null else "small",
        "x": width + _GAP + _NULL_WIDTH / 2,
        "y": _HEIGHT - 7,
        "text-anchor": "middle",
    }
    drawn.append(element("text", text, "NULL"))
    return _image(_WIDTH, _HEIGHT, label, *drawn)


def grb_bar(before: int, after: int, most: int, *, label: str) -> Markup:
    """Return the conjuncts in a GRB before and after a step, out of ``most``.

    Lengths are logarithmic, so that small numbers are visible.
    """
    width, height = 150, 14
    lengths = (_length(number, most) * width for number in (before, after))
    was, still = lengths
    return _image(
        width,
        height,
        label,
        element("rect", {"class": "ground", "width": width, "height": height}),
        element("rect", {"class": "before", "width": f"{was:.1f}", "height": height}),
        element("rect", {"class": "after", "width": f"{still:.1f}", "height": height}),
    )


def _length(number: int, most: int) -> float:
    return 0.0 if number <= 0 or most <= 0 else math.log1p(number) / math.log1p(max(number, most))


def _strip(start: float, width: float, share: float, kind: str) -> Markup:
    height = max(1.0, min(1.0, max(0.0, share)) * _HEIGHT)
    place = {"x": f"{start:.2f}", "y": f"{_HEIGHT - height:.2f}", "width": f"{width:.2f}", "height": f"{height:.2f}"}
    return element("rect", {"class": kind, **place})


def _image(width: int, height: int, label: str, *drawn: Markup) -> Markup:
    shape = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element("svg", {"role": "img", "aria-label": label, **shape}, *drawn)
