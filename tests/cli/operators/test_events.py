"""The options for events, as the operator of a body."""

from __future__ import annotations

import click
import pytest

from cli.operators.events import events_operator


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
