"""Marks of clusters: the same for an id in every window, different within one, and seen by everybody."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import broker.http.console
from broker.http.console.operators.dbscan_marks import COLOURS, MARKS, ClusterMark

STYLE = (Path(broker.http.console.__file__).parent / "static" / "style.css").read_text("utf-8")
THEMES = [
    dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", rules)) for rules in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
]
NAMES = [*(f"m{colour}" for colour in range(COLOURS)), "noise"]

VISION: Mapping[str, Sequence[Sequence[float]]] = {
    # Machado, Oliveira, Fernandes: "A physiologically-based model for simulation of color vision deficiency", 2009.
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no middle": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no short": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def xyz(colour: Sequence[float]) -> list[float]:
    weights = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    return [sum(map(math.prod, zip(row, colour, strict=True))) for row in weights]


def lab(colour: str, sight: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Return a colour as somebody sees it, in CIELAB."""
    seen = [min(1.0, max(0.0, sum(map(math.prod, zip(row, linear(colour), strict=True))))) for row in sight]
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        ratio ** (1 / 3) if ratio > 0.008856 else 7.787 * ratio + 16 / 116
        for ratio in (value / of for value, of in zip(xyz(seen), white, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_an_id_has_one_mark_and_those_of_one_window_differ() -> None:
    marks = [ClusterMark.of(f"1533100800000-{label}") for label in range(MARKS)]
    assert len(set(marks)) == MARKS
    assert marks == [ClusterMark.of(f"1533100800000-{label}") for label in range(MARKS)]
    for one, other in pairwise(marks):
        assert one.colour != other.colour
        assert one.shape != other.shape


def test_ids_of_different_windows_are_spread_over_all_marks() -> None:
    of_first = {ClusterMark.of(f"{1_533_100_800_000 + 60_000 * number}-0") for number in range(500)}
    assert len(of_first) == MARKS


@pytest.mark.parametrize("odd", ["", "-", "x", "5-", "5-x", "5-" + "9" * 5_000, "é-²", '"><b>-1', "\ud800-1"])
def test_any_text_has_a_mark(odd: str) -> None:
    mark = ClusterMark.of(odd)
    assert 0 <= mark.colour < COLOURS
    assert "<b>" not in mark.swatch()


@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark"])
def test_every_colour_is_seen_on_the_panel(theme: Mapping[str, str]) -> None:
    panel = xyz(linear(theme["panel"]))[1] + 0.05
    for name in NAMES:
        own = xyz(linear(theme[name]))[1] + 0.05
        assert max(own, panel) / min(own, panel) >= 3, name


@pytest.mark.parametrize("sight", VISION)
@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark"])
def test_colours_differ_for_everybody(theme: Mapping[str, str], sight: str) -> None:
    for one, other in combinations(NAMES, 2):
        assert math.dist(lab(theme[one], VISION[sight]), lab(theme[other], VISION[sight])) > 25, (one, other)


def test_every_colour_has_its_class() -> None:
    assert re.findall(r"\.mark-(\d+) \{ --mark: var\(--m(\d+)\)", STYLE) == [(f"{n}", f"{n}") for n in range(COLOURS)]
