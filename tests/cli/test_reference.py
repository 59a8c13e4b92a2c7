"""docs/cli.md is what the commands say, and every command line on the pages can be parsed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

import cli.reference
from broker.operators.kinds import OPERATORS
from cli.main import main

ROOT = Path(cli.reference.__file__).parent.parent


def test_the_reference_of_the_commands_is_up_to_date() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == cli.reference.reference(), "make it again: python -m cli.reference"


def test_the_table_of_the_metrics_is_up_to_date() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page == cli.reference.with_metrics(page), "make it again: python -m cli.reference"
    assert "| `asc_latency_seconds` | histogram | `stream` |" in page


def test_the_page_of_limits_is_up_to_date() -> None:
    page = (ROOT / "docs" / "operate" / "limits.md").read_text(encoding="utf-8")
    assert page == cli.reference.limits(), "make it again: python -m cli.reference"


def test_the_table_of_the_keys_of_operators_is_up_to_date() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == cli.reference.with_operator_keys(page), "make it again: python -m cli.reference"
    for kind in OPERATORS.values():
        assert all(f"| `{key}` | `" in page for key in kind.limits)


def test_the_alerts_on_the_page_are_those_of_the_rules() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rules = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(Asc\w+)`", page, re.MULTILINE) == re.findall(r"- alert: (\w+)", rules)


def shown_commands() -> list[str]:
    """Every ``asc ...`` line of the README and of the pages, the examples of the commands' own help among them."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    lines = [line.strip() for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return sorted({line for line in lines if re.match(r"asc (--debug )?[a-z]", line)})


@pytest.mark.parametrize("line", shown_commands())
def test_every_command_that_is_shown_can_be_parsed(line: str) -> None:
    words = shlex.split(re.sub(r""" < [^"']+$""", "", line))[1:]
    command: click.Command = main
    # The first context of a command decides for good how its help spells the option of help.
    context = click.Context(main, **main.context_settings)
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
        context = click.Context(command, parent=context, **command.context_settings)
    command.make_parser(context).parse_args(words)
