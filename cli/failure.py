"""The edge where errors become one line on stderr and an exit code."""

from __future__ import annotations

from typing import Any

import click

from asc.errors import AscError, PredicateError
from cli.command import Group


class CommandError(AscError):
    """A command cannot do what it was asked for: subject, value and remedy in one line."""


class FailureGroup(Group):
    """A group that ends with 0, with 1 for a failure, with 2 for wrong use (Click's own usage errors).

    A failure is one line on stderr, after it the caret lines where the trouble is in a predicate. With ``--debug``
    the exception goes through, with its stack trace.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn an exception into its line."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            click.echo(failure_text(error), err=True)
            ctx.exit(1)


def failure_text(error: Exception) -> str:
    """What is printed for an exception: one line, and the caret lines of a predicate.

    >>> error = PredicateError("unknown column", "dely", "did you mean 'delay'?", text="dely > 3", start=0, end=4)
    >>> print(failure_text(error))
    error: unknown column 'dely': did you mean 'delay'?
      dely > 3
      ^^^^
    """
    if isinstance(error, AscError):
        lines = [f"error: {one_line(str(error))}"]
        caret = error.caret() if isinstance(error, PredicateError) else getattr(error, "caret_text", "")
        return "\n".join([*lines, *(f"  {line}" for line in caret.splitlines())])
    if isinstance(error, OSError) and error.strerror:
        where = f" {str(error.filename)!r}" if error.filename else ""
        return f"error: {error.strerror}{where}"
    return f"error: unexpected {type(error).__name__}: {one_line(str(error))} (asc --debug shows where)"


def one_line(text: str) -> str:
    """The first line of a text that is not empty, without control characters."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return "".join(char if char.isprintable() else " " for char in first).strip()
