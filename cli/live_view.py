"""A view that is drawn again and again: in place on a terminal, one below the other elsewhere."""

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
    """Draw what ``lines`` gives for a width, every so many seconds, until Ctrl-C, which is no failure.

    On a terminal it first scrolls the earlier output away, then fills the screen from its top, by the terminal's
    present size. Nothing has to be put back, however it ends. Elsewhere, or where it is not to be drawn ``in_place``,
    the lines are printed one below the other, whatever their width. Exceptions of ``lines`` go through.
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
    r"""Return the text that draws the lines over the screen, cut to its height and width, the last line free.

    >>> screen(["ready", "flights"], os.terminal_size((6, 24)))
    '\x1b[Hready\x1b[K\nfligh…\x1b[K\n\x1b[J'
    """
    fitting = [cut(line, size.columns) for line in lines[: max(1, size.lines - 1)]]
    return _HOME + "".join(f"{line}{_END_OF_LINE}\n" for line in fitting) + _END_OF_SCREEN


def _terminal_size() -> os.terminal_size | None:
    """Return the present size of the terminal which output goes to; None where it goes elsewhere.

    Not by the variable COLUMNS, which a shell may have exported before the terminal had another size.
    """
    try:
        is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        size = os.get_terminal_size(sys.stdout.fileno()) if is_screen else None
    except (OSError, ValueError):
        return None
    # Some terminals do not say.
    return size if size is None or (size.columns and size.lines) else os.terminal_size((80, 24))
