"""Durations on the command line."""

from __future__ import annotations

import click
import pytest

from cli.duration import Duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5min", 300), ("1.5 h", 5400), ("250ms", 0.25), ("2d", 172_800), ("0s", 0)]
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["30", "s", "-5s", "5 m", "5 minutes", "1e3s", "٣s"])
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write a number and ms, s, min, h or d"):
        Duration().convert(text, None, None)
