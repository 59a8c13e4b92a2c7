"""A view that is printed periodically: on a terminal it is redrawn in place, otherwise each view follows the last
one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import click

from cli.output import cut

_HOME = "\x1b[H"
_END_OF_LINE = "\x1b[K"
_END_OF_SCREEN = "\x1b[J"


def watch(lines: Callable[[int | None], list[str]], every_s: float, *, in_place: bool = True) -> None:
    """Print the result of ``lines`` every ``every_s`` seconds, and return after a Ctrl-C. ``lines`` receives the
    terminal's width, or None if the view is not drawn in place.
    """
    is_drawn = False
    try:
        while True:
            size = _terminal_size() if in_place else None
            if size is None:
                click.echo("\n".join(lines(None)))
            else:
                shown = lines(size.columns)
                click.echo(("" if is_drawn else "\n" * size.lines) + screen(shown, size), nl=False)
                is_drawn = True
            sys.stdout.flush()
            time.sleep(every_s)
    except KeyboardInterrupt:
        if is_drawn:
            click.echo()


def screen(lines: list[str], size: os.terminal_size) -> str:
    r"""Return the text that draws lines over the whole screen, cut to the screen's height and width. The last line of
    the screen remains empty.

    >>> screen(["ready", "flights"], os.terminal_size((6, 24)))
    '\x1b[Hready\x1b[K\nfligh…\x1b[K\n\x1b[J'
    """
    fitting = [cut(line, size.columns) for line in lines[: max(1, size.lines - 1)]]
    return _HOME + "".join(f"{line}{_END_OF_LINE}\n" for line in fitting) + _END_OF_SCREEN


def _terminal_size() -> os.terminal_size | None:
    """Return the present size of the output's terminal. Return None if the output is not a terminal."""
    try:
        is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        size = os.get_terminal_size(sys.stdout.fileno()) if is_screen else None
    except (OSError, ValueError):
        return None
    # Some terminals do not report their size.
    return size if size is None or (size.columns and size.lines) else os.terminal_size((80, 24))
