"""The options of operators that follow objects."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from cli.operators.object_options import events_option


@pytest.mark.parametrize(
    ("given", "types"),
    [((), None), (("--events", "enter, exit"), ["enter", "exit"]), (("--events", ""), [""])],
    ids=["none", "two", "empty"],
)
def test_the_types_of_outputs_are_a_list(given: tuple[str, ...], types: list[str] | None) -> None:
    seen = []

    @click.command()
    @events_option("Types.")
    def command(events: list[str] | None) -> None:
        seen.append(events)

    assert CliRunner().invoke(command, list(given)).exit_code == 0
    assert seen == [types]
