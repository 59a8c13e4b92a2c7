"""A notice for users who wait for records that do not arrive."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

_SILENT_S = 5.0
"""The seconds without a record after which the notice is printed."""


class IdleNotice:
    """The printer of one notice on stderr, with the number of records that have arrived, for a user whose command waits
    for more.

    With ``--max``, the notice is printed while fewer records than this number have arrived. Without ``--max``, it is
    printed only if no record has arrived. Create one object for each run of a command.
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
        """Note that a record has arrived."""
        self._count += 1
        self._since_s = self._clock_s()

    def idle(self) -> None:
        """Note that no record is available now. Print the notice once after a long silence."""
        if self._said or self._clock_s() - self._since_s < _SILENT_S:
            return
        if self._limit is None and self._count:
            return
        self._said = True
        so_far = "no record so far" if self._limit is None else f"{self._count:,} of {self._limit:,} records so far"
        older = "" if self._from_beginning or self._count else "; --from-beginning reads those that are there"
        click.echo(f"{so_far}: waiting for more until Ctrl-C{older}; --exit stops where the topic ends", err=True)
