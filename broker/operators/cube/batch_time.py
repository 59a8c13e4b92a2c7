"""Batches in event time, for the cubes of one time expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchTime:
    """The event time of a batch.

    ``commit``: its number. ``before_us`` and ``mark_us``: the marks before and after it; None where no record had a
    time yet. ``newest_us``: the newest time of all partitions; None where the batch has no usable one.
    """

    commit: int
    lateness_us: int
    before_us: int | None
    mark_us: int | None
    newest_us: int | None

    @staticmethod
    def of(commit: int, lateness_us: int, before_us: int | None, newest: Mapping[int, int]) -> BatchTime:
        """Return the event time of a batch with the newest time of each of its partitions.

        The mark is the least of them, unless it was later before. Source: spec of operators, section 8.

        >>> BatchTime.of(7, 10, 100, {0: 130, 1: 120}).mark_us, BatchTime.of(8, 10, 120, {0: 90}).mark_us
        (120, 120)
        """
        if not newest:
            return BatchTime(commit, lateness_us, before_us, before_us, None)
        least = min(newest.values())
        mark_us = least if before_us is None else max(before_us, least)
        return BatchTime(commit, lateness_us, before_us, mark_us, max(newest.values()))

    @property
    def end_of_gap_us(self) -> int | None:
        """Return the time from which on no record is missing that came before the batch; None where it is not known."""
        if self.newest_us is None or self.mark_us is None:
            return None
        return max(self.newest_us, self.mark_us) + self.lateness_us

    def open_before(self, grain_us: int) -> int | None:
        """Return the first pane that is open when the batch begins; None where none is closed."""
        return first_open(self.before_us, self.lateness_us, grain_us)

    def open_after(self, grain_us: int) -> int | None:
        """Return the first pane that is open after the batch; None where none is closed."""
        return first_open(self.mark_us, self.lateness_us, grain_us)


def first_open(mark_us: int | None, lateness_us: int, grain_us: int) -> int | None:
    """Return the number of the first pane that is not final: its exclusive end is after the watermark.

    >>> first_open(70, 10, 60), first_open(69, 10, 60), first_open(None, 10, 60)
    (1, 0, None)
    """
    return None if mark_us is None else (mark_us - lateness_us) // grain_us
