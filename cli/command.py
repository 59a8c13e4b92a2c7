"""The base classes of commands and groups: their help ends with examples."""

from __future__ import annotations

from typing import Any

import click


class _WithExamples(click.Command):
    """A command whose help prints its epilog unwrapped under the heading Examples. -h is an alias of --help."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        # Click caches the help option that it creates first. If a command inherited the names of this option from its
        # group, the names would depend on whether the command was first invoked within the group. So each command sets
        # the names.
        settings["context_settings"] = {
            "help_option_names": ["-h", "--help"],
            **(settings.get("context_settings") or {}),
        }
        super().__init__(*arguments, **settings)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one per line, without wrapping them."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Command(_WithExamples):
    """A command whose ``epilog`` contains examples."""


class Group(_WithExamples, click.Group):
    """A group of commands whose ``epilog`` contains examples."""

    command_class = Command


def examples(*lines: str) -> str:
    """Return the text of an ``epilog``, with each example on a line."""
    return "\n".join(lines)
