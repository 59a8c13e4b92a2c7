"""The options for events, as the operator of a body."""

from __future__ import annotations

import click
import pytest

from cli.operators.events import Duration, events_operator


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5min", 300), ("1.5 h", 5400), ("250ms", 0.25), ("2d", 172_800), ("0s", 0)]
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["30", "s", "-5s", "5 m", "5 minutes", "1e3s", "٣s"])
def test_what_is_no_duration_says_how_to_write_one(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write a number and ms, s, min, h or d"):
        Duration().convert(text, None, None)


def test_options_that_need_others() -> None:
    assert events_operator(None, None, None, None, None) is None
    assert events_operator("exit, lost", "k", "ts", 0, 9) == {
        "name": "events",
        "events": ["exit", "lost"],
        "key": "k",
        "time": "ts",
        "dwell_s": 0,
        "lost_after_s": 9,
    }
    with pytest.raises(click.UsageError, match="go with --events"):
        events_operator(None, "k", None, None, None)
    with pytest.raises(click.UsageError, match="goes with --key"):
        events_operator("exit", None, None, None, None)
