"""What all commands share: examples at the end of their help."""

from __future__ import annotations

import click


class _WithExamples(click.Command):
    """Prints its epilog as it stands, under the heading Examples."""

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
    """Examples as an ``epilog``."""
    return "\n".join(lines)
