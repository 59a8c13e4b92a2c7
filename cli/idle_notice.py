"""Notices to somebody who waits for records that do not come."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

_SILENT_S = 5.0
"""Without a record, until it is said."""


class IdleNotice:
    """Says once on stderr what is waited for, where it may not be what was meant.

    That is fewer records than ``--max`` wants, or none at all. One of these serves one run of a command.
    """

    def __init__(
        self, limit: int | None, *, from_beginning: bool, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = limit
        self._from_beginning = from_beginning
        self._clock_s = clock_s
        self._count = 0
        self._since_s = clock_s()
        self._said = False

    def came(self) -> None:
        """Note that a record is there."""
        self._count += 1
        self._since_s = self._clock_s()

    def idle(self) -> None:
        """Note that no record is there at the moment, and print a notice once after long silence."""
        if self._said or self._clock_s() - self._since_s < _SILENT_S:
            return
        if self._limit is None and self._count:
            return
        self._said = True
        so_far = "no record so far" if self._limit is None else f"{self._count:,} of {self._limit:,} records so far"
        older = "" if self._from_beginning or self._count else "; --from-beginning reads those that are there"
        click.echo(f"{so_far}: waiting for more until Ctrl-C{older}; --exit stops where the topic ends", err=True)
