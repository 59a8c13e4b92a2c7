"""Durations on the command line."""

from __future__ import annotations

import click
import pytest

from cli.duration import Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5min", 300),
        ("1.5 h", 5400),
        ("250ms", 0.25),
        ("2d", 172_800),
        ("0s", 0),
        ("0.000001s", 1e-6),
        ("0.012ms", 12e-6),
        ("0.1s", 0.1),
        ("1.10000000s", 1.1),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["30", "s", "-5s", "5 m", "5 minutes", "1e3s", "٣s", "9" * 19 + "s"])
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write a number and ms, s, min, h or d"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize("text", ["0.0010005s", "0.0005ms", "1.00000000000000001s", "0.0000000001d"])
def test_what_is_finer_than_a_microsecond_is_not_rounded(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no whole number of microseconds: write at most six decimals"):
        Duration().convert(text, None, None)
