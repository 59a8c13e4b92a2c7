"""The class of all commands: examples at the end of their help."""

from __future__ import annotations

from typing import Any

import click


class _WithExamples(click.Command):
    """A command that prints its epilog as it is, under the heading Examples; -h is --help, whoever invokes it."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        # Click keeps the option that it makes first: were the names those of the group around it, they would depend on
        # whether a command is first invoked within it.
        settings["context_settings"] = {
            "help_option_names": ["-h", "--help"],
            **(settings.get("context_settings") or {}),
        }
        super().__init__(*arguments, **settings)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, a line each, unwrapped."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Command(_WithExamples):
    """A command; its ``epilog`` are the examples."""


class Group(_WithExamples, click.Group):
    """A group of commands; its ``epilog`` are the examples."""

    command_class = Command


def examples(*lines: str) -> str:
    """Join examples to an ``epilog``."""
    return "\n".join(lines)
