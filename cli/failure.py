"""Conversion of errors into one line on stderr and an exit code, for all commands."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import IO, Any

import click

from asc.errors import AscError, PredicateError
from cli.command import Group

_REMEDIES: Mapping[int, str] = MappingProxyType(
    {
        errno.ENOENT: "check the path",
        errno.EACCES: "name another, or get the right to it",
        errno.ENOSPC: "free space on the disk, then try again",
        errno.EISDIR: "name a file",
        errno.ENOTDIR: "check the path",
        errno.EROFS: "name a place that can be written",
    }
)

_FAULTS_SHOWN = 20


class CommandError(AscError):
    """A failure of a command, as one line of subject, value and remedy."""


class FailureGroup(Group):
    """A command group with the exit codes 0 for success, 1 for a failure and 2 for wrong usage (Click's own errors).

    A failure or wrong usage prints one line on stderr, followed by caret lines if the error is in a predicate. With
    ``--debug`` the exception of a failure is raised with its stack trace.
    """

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the arguments before the subcommand. Convert an error of usage into one line."""
        with _wrong_use_in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand. If it raises an exception, print the text of the failure, and exit with 1."""
        try:
            with _wrong_use_in_one_line():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(130)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            click.echo(failure_text(error), err=True)
            ctx.exit(1)


class _WrongUseError(click.ClickException):
    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.format_message()}", file=file, err=file is None)


@contextmanager
def _wrong_use_in_one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        text = _file_text(error)
        if text is None:
            command = error.ctx.command_path if error.ctx else "asc"
            text = f"{_wrong_use_text(error)}: '{command} --help' shows how"
        raise _WrongUseError(text) from error


_OF_FILES: Mapping[str, str] = MappingProxyType(
    {
        "does not exist": _REMEDIES[errno.ENOENT],
        "is a directory": _REMEDIES[errno.EISDIR],
        "is a file": "name a folder",
        "is not readable": _REMEDIES[errno.EACCES],
        "is not writable": _REMEDIES[errno.EACCES],
    }
)
"""The remedy for each fault of a file or folder, by the words with which Click describes the fault."""


def _file_text(error: click.UsageError) -> str | None:
    """Return the message for an error about a file or folder: option, path, fault and remedy. Return None for other
    errors.
    """
    if not isinstance(error, click.BadParameter) or error.param is None or not isinstance(error.param.type, click.Path):
        return None
    said = one_line(error.message).rstrip(".")
    for what, remedy in _OF_FILES.items():
        if said.endswith(f" {what}"):
            name = _name_of(error.param)
            value = said.removesuffix(f" {what}").partition(" ")[2]
            return f"{name} {value} {what}: {remedy}"
    return None


def _name_of(parameter: click.Parameter) -> str:
    """Return a parameter's name for messages: the longest spelling of an option, or the readable name of an
    argument.
    """
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.human_readable_name.removesuffix("...")


def _wrong_use_text(error: click.UsageError) -> str:
    """Return Click's message about wrong usage.

    For a missing choice or a number out of range, the message gets the form of the other errors of the command line. A
    remedy replaces Click's list of choices or Click's inequality.
    """
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is not None:
        kind = parameter.type
        name = _name_of(parameter)
        if isinstance(error, click.MissingParameter) and isinstance(kind, click.Choice):
            *others, last = map(str, kind.choices)
            return f"missing {parameter.param_type_name} {name!r}: give {', '.join(others)} or {last}"
        value, separator, _ = error.message.rpartition(" is not ")
        if separator and isinstance(kind, (click.IntRange, click.FloatRange)) and kind.min is not None:
            value = value.removeprefix("'").removesuffix("'")
            noun = "an integer" if isinstance(kind, click.IntRange) else "a number"
            least = f"above {kind.min:,}" if kind.min_open else f"from {kind.min:,}"
            return f"{name} {value!r}: give {noun} {least} {'on' if kind.max is None else f'to {kind.max:,}'}"
    said = one_line(error.format_message()).rstrip(".")
    return f"{said[:1].lower()}{said[1:]}"


def failure_text(error: Exception) -> str:
    """Return the text that is printed for an exception: one line, and the caret lines of a predicate.

    If there are several faults, each has a line.

    >>> error = PredicateError("unknown column", "dely", "did you mean 'delay'?", text="dely > 3", start=0, end=4)
    >>> print(failure_text(error))
    error: unknown column 'dely': did you mean 'delay'?
      dely > 3
      ^^^^
    """
    faults = getattr(error, "faults", ())
    if faults:
        more = len(faults) - _FAULTS_SHOWN
        lines = [failure_text(fault) for fault in faults[:_FAULTS_SHOWN]]
        return "\n".join([*lines, *([f"error: and {more:,} more of these"] if more > 0 else [])])
    if isinstance(error, AscError):
        lines = [f"error: {one_line(str(error))}"]
        caret = error.caret() if isinstance(error, PredicateError) else getattr(error, "caret_text", "")
        return "\n".join([*lines, *(f"  {line}" for line in caret.splitlines())])
    if isinstance(error, OSError) and error.strerror:
        where = f" {str(error.filename)!r}" if error.filename else ""
        return f"error: {error.strerror}{where}: {_REMEDIES.get(error.errno or 0, 'mend that, then try again')}"
    return f"error: unexpected {type(error).__name__}: {one_line(str(error))} (asc --debug shows where)"


def one_line(text: str) -> str:
    """Return the first line of a text that is not blank. Replace control characters in the line by blanks."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return "".join(char if char.isprintable() else " " for char in first).strip()
