"""Examples at the end of a command's help: a line each, however long."""

from __future__ import annotations

import click
from click.testing import CliRunner

from cli.command import Group, examples


def test_examples_stand_as_they_were_written() -> None:
    long = "tool add --where '" + "delay > 60 AND " * 20 + "delay < 90'"

    @click.group(cls=Group, epilog=examples("tool add", long))
    def tool() -> None:
        """A tool."""

    @tool.command(epilog=examples(long))
    def add() -> None:
        """Add."""

    @tool.command()
    def bare() -> None:
        """Without an example."""

    for arguments, lines in (([], ["  tool add", f"  {long}"]), (["add"], [f"  {long}"])):
        shown = CliRunner().invoke(tool, [*arguments, "--help"]).output.splitlines()
        assert shown[shown.index("Examples:") + 1 :] == lines
    assert "Examples" not in CliRunner().invoke(tool, ["bare", "--help"]).output
