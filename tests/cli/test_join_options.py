"""The field ``join`` that options define."""

from __future__ import annotations

import click
import pytest

from cli.join_options import join_of


def test_an_option_of_shapes_needs_a_layer() -> None:
    assert join_of("zones") == {"layer": "zones", "per_shape": False}
    assert join_of("zones", per_shape=True) == {"layer": "zones", "per_shape": True}
    assert join_of(None) is None
    with pytest.raises(click.UsageError, match="--per-shape goes with --layer"):
        join_of(None, per_shape=True)
