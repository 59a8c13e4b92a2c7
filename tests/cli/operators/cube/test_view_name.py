"""The names of views on the command line."""

from __future__ import annotations

import click
import pytest

from cli.client import Json
from cli.operators.cube.view_name import ViewName, pinned


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("carrier", {"by": ["carrier"]}),
        ("origin, carrier at 1d", {"by": ["origin", "carrier"], "grain_s": 86_400}),
        ("concat(a, ' at '), b at 1h", {"by": ["concat(a, ' at ')", "b"], "grain_s": 3_600}),
        ("concat(a, ' at ')", {"by": ["concat(a, ' at ')"]}),
        ("`a at b`", {"by": ["`a at b`"]}),
        ("()", {"by": []}),
        ("() at 15min", {"by": [], "grain_s": 900}),
        # The daemon says that a band is read in any case.
        ("carrier at 7d", {"by": ["carrier"], "grain_s": 604_800}),
    ],
)
def test_a_view_is_named_as_among_pins(text: str, view: Json) -> None:
    assert ViewName().convert(text, None, None) == view


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "names no view: write its dimensions, or \\(\\)"), (" ", "names no view"), ("a at 5h", "'5h' is no grain")],
)
def test_what_names_no_view_is_refused(text: str, said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        ViewName().convert(text, None, None)


def test_a_pinned_view_of_several_days_is_refused_with_the_rule() -> None:
    said = "'7d' is no grain of a stored view: only bands of --keep have panes of several days: write"
    with pytest.raises(click.BadParameter, match=said):
        pinned("carrier at 7d")
