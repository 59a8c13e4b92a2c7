"""The lengths of panes and rows on the command line."""

from __future__ import annotations

import click
import pytest

from cli.client import Json
from cli.operators.cube.grain import RowGrain


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("1d", {"grain": "1d"}),
        ("1M", {"grain": "1M"}),
        ("24h", {"grain_s": 86_400}),
        ("1h", {"grain_s": 3_600}),
        ("15min", {"grain_s": 900}),
        # A band of older panes may have it.
        ("7d", {"grain_s": 604_800}),
        ("90min", {"grain_s": 5_400}),
    ],
)
def test_a_grain_of_rows_is_a_length_or_days_and_months_of_the_zone(text: str, field: Json) -> None:
    assert RowGrain().convert(text, None, None) == field


@pytest.mark.parametrize("text", ["2M", "1w", "1", "5h", "0.5s", "0s", "36h", ""])
def test_what_is_no_grain_of_rows_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no grain of rows: write a time that divides a day"):
        RowGrain().convert(text, None, None)
